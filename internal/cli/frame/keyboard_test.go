package frame

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// pipedTerminal is a terminal whose user types into a pipe.
type pipedTerminal struct {
	*io.PipeReader
	io.Writer
}

// TestWithdrawnQuestion: a question that is withdrawn does not swallow the next line, and
// what was typed before a question is shown does not answer it.
func TestWithdrawnQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, user := io.Pipe()
		defer user.Close()
		k := &Keyboard{Open: func() (io.ReadWriteCloser, error) { return pipedTerminal{r, io.Discard}, nil }}
		read := func(typed string, flushed bool) {
			t.Helper()
			tty := must.Get(k.Terminal())(t)
			defer tty.Close()
			if flushed && !Flush(tty) {
				t.Fatal("what was typed is not dropped")
			}
			lines := make(chan string, 1)
			go func() { // ends with the line
				b := make([]byte, 100)
				n, err := tty.Read(b)
				must.Fail(t, err, "")
				lines <- string(b[:n])
			}()
			_, _ = io.WriteString(user, typed)
			must.Equal(t, <-lines, typed)
		}
		withdrawn := func() {
			tty, _ := k.Terminal()
			done := make(chan error, 1)
			go func() { // ends when the terminal is closed
				_, err := tty.Read(make([]byte, 100))
				done <- err
			}()
			synctest.Wait()
			tty.Close()
			err := <-done
			must.True(t, errors.Is(err, os.ErrClosed), "a question that was withdrawn has read", err)
		}
		read("y\n", false)
		withdrawn()
		read("n\n", true)
		withdrawn()
		_, _ = io.WriteString(user, "rm\n") // while nothing is asked
		synctest.Wait()
		read("n\n", true)
	})
}

// A question that was left by Ctrl-Z is asked again, and is no end of input.
func TestAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, user := io.Pipe()
		defer user.Close()
		var shown bytes.Buffer
		var resumed chan<- os.Signal
		p := &Program{Terminal: (&Keyboard{
			Open:   func() (io.ReadWriteCloser, error) { return pipedTerminal{r, &shown}, nil },
			Notify: func(c chan<- os.Signal) { resumed = c },
		}).Terminal}
		a, done := p.NewAsker(t.Context(), false)
		defer done()
		resumed <- os.Interrupt // before there is a question
		go func() {             // ends with the answer
			synctest.Wait()
			resumed <- os.Interrupt
			synctest.Wait()
			_, _ = io.WriteString(user, "blue\n")
		}()
		text, err := a.Ask("Which", "red")
		must.True(t, text == "blue" && err == nil && shown.String() == "Which [red]: Which [red]: ", text, err, &shown)

		shown.Reset()
		go func() { // ends with the answer
			synctest.Wait()
			resumed <- os.Interrupt
			synctest.Wait()
			_, _ = io.WriteString(user, "y\n")
		}()
		yes, err := a.Confirm("It is about this.", "Is it so?")
		must.True(t, yes && err == nil && strings.Count(shown.String(), "It is about this.\nIs it so? [y/N]: ") == 2, yes, err, &shown)
	})
}
