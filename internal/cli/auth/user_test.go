package auth

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/credentials/oauth"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

// typist is a terminal whose user types while something is shown.
type typist struct {
	*io.PipeReader
	types func(shown string)
}

func (t typist) Write(b []byte) (int, error) {
	t.types(string(b))
	return len(b), nil
}

// TestTypedMeanwhile: what was typed before all of a question is shown does not answer it.
func TestTypedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, user := io.Pipe()
		defer user.Close()
		k := &frame.Keyboard{Open: func() (io.ReadWriteCloser, error) {
			return typist{r, func(shown string) {
				line := "y\n"
				if strings.Contains(shown, "Go there?") {
					line = "n\n"
				}
				go io.WriteString(user, line) // ends when it is read, or with the test
				synctest.Wait()
			}}, nil
		}}
		before, _ := k.Terminal()
		go before.Read(make([]byte, 9)) // ends when the question before is withdrawn; the keyboard goes on reading
		synctest.Wait()
		before.Close()
		yes, err := (&TerminalUser{P: &frame.Program{Terminal: k.Terminal}}).Confirm(t.Context(), &oauth.Question{})
		must.True(t, !yes && err == nil, "the answer is", yes, err)
	})
}
