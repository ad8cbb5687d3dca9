package bridge

import (
	"testing"
	"testing/synctest"
)

// A session rests when its last turn is over, also where a form has put another turn in
// the place of the one that was waited for.
func TestRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewAgent(&Options{}).NewSession("/")
		turn, err := s.Begin()
		if err != nil {
			t.Fatal(err)
		}
		rested := make(chan struct{})
		go func() {
			s.rest()
			close(rested)
		}()
		synctest.Wait()
		turn = turn.next()
		synctest.Wait()
		select {
		case <-rested:
			t.Error("it rests while the next turn runs")
		default:
		}
		turn.Discard()
		<-rested
	})
}
