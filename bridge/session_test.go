package bridge_test

import (
	"errors"
	"testing"

	"github.com/a2astdio/a2astdio/bridge"
)

// A session has one turn at a time, until that has been given up.
func TestBusy(t *testing.T) {
	a := bridge.NewAgent(&bridge.Options{})
	defer a.Close()
	s := a.NewSession("/")
	first, err := s.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Begin(); !errors.Is(err, bridge.ErrBusy) {
		t.Errorf("a second turn: %v, want ErrBusy", err)
	}
	first.Discard()
	if _, err := s.Begin(); err != nil {
		t.Errorf("a turn after that: %v", err)
	}
}
