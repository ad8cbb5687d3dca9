package frame

import (
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// inContext runs f as the action of a2astdio with these arguments.
func inContext(t testing.TB, args []string, f func(c *cli.Context) error) error {
	t.Helper()
	p := &Program{Args: append([]string{"a2astdio"}, args...)}
	app := p.App()
	app.Action = f
	return p.RunCommand(t.Context(), app)
}

// TestLists: a comma is a part of a value; a variable has one a line, and an option
// replaces them all.
func TestLists(t *testing.T) {
	t.Setenv("A2ASTDIO_HEADER", "Accept: a, b\nX-One: 1")
	for _, c := range []struct{ args, want []string }{
		{nil, []string{"Accept: a, b", "X-One: 1"}},
		{[]string{"--header", "X-Two: 2,3", "--header=X-Four: 4"}, []string{"X-Two: 2,3", "X-Four: 4"}},
	} {
		must.Do(t, inContext(t, c.args, func(ctx *cli.Context) error {
			must.Equal(t, ListOf(ctx, "header"), c.want)
			must.Equal(t, []bool{IsSet(ctx, "header"), IsSet(ctx, "trust-origin")}, []bool{true, false}, c.args)
			must.Equal(t, ListOf(ctx, "trust-origin"), nil, "an option that was not given")
			return nil
		}))
	}
}

// TestForms: an option counts under each of its names, and the last one holds.
func TestForms(t *testing.T) {
	must.Do(t, inContext(t, []string{"--agent-card", "x", "-a", "y", "--agent=z", "--insecure=false"}, func(c *cli.Context) error {
		if c.String("agent") != "z" || !IsSet(c, "agent") || c.Bool("insecure") || !IsSet(c, "insecure") || IsSet(c, "card") {
			t.Errorf("%q %t", c.String("agent"), c.Bool("insecure"))
		}
		return nil
	}))
}

// TestBrokenPipes: that nobody reads our output is known to who has ended it; that the agent has
// closed its connection while it was written to is told.
func TestBrokenPipes(t *testing.T) {
	for _, test := range []struct {
		err  error
		said bool
	}{
		{&fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}, false},
		{fmt.Errorf("agent: %w", &net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", syscall.EPIPE)}), true},
	} {
		var stderr strings.Builder
		p := &Program{Stderr: &stderr}
		status := p.Exit(t.Context(), test.err)
		must.True(t, status == ExitFailed && (stderr.Len() > 0) == test.said, test.err, status, stderr.String())
	}
}

func TestEscaper(t *testing.T) {
	var b strings.Builder
	const in = "{\"a\":\"\u009b2J\u202e\u007f ü\"}\n"
	n, err := (escaper{&b}).Write([]byte(in))
	must.True(t, n == len(in) && err == nil && b.String() == `{"a":"\u009b2J\u202e\u007f ü"}`+"\n", n, err, b.String())
}

func TestPage(t *testing.T) {
	var p Page
	p.Field("name", "a value \x1b[31mthat is long enough to be broken between its words, as a terminal has eighty columns\nand more")
	p.Text(2, "  kept blanks")
	p.Hanging("  id ", 8, "what it does")
	p.Hanging("  longest-id ", 8, "what it does")
	want := "name          a value ␛[31mthat is long enough to be broken between its words,\n" +
		"              as a terminal has eighty columns\n              and more\n    kept blanks\n" +
		"  id what it does\n  longest-id\n        what it does\n"
	must.Equal(t, p.String(), want)
}

// TestPlainWord: what a shell would not read as a word is not offered.
func TestPlainWord(t *testing.T) {
	for _, word := range []string{"", "a b", "$(x)", "`x`", "a;b", "a\n", "'", "\"", "~", "*", "é", "a\\"} {
		must.Equal(t, PlainWord(word), false, word)
	}
}

// TestScreen: after a second of silence the screen shows who is waited for, within the
// terminal's width and without control characters. The line is wiped before anything
// else is written. There is none in the middle of a line of stdout, or while somebody
// else has the terminal.
func TestScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got strings.Builder
		s := &Screen{Err: &got, Columns: func() int { return 40 }}
		out, err := &screenWriter{s, &got, true, false}, &screenWriter{s, &got, true, true}
		wait := func(d time.Duration) { <-time.After(d) }
		expect := func(want string) {
			t.Helper()
			synctest.Wait()
			s.mu.Lock()
			defer s.mu.Unlock()
			must.Equal(t, got.String(), want)
			got.Reset()
		}
		s.WaitFor("an agent\x1b[2J\nof a name that is long")
		wait(2500 * time.Millisecond)
		expect("\r\x1b[K1s waiting for an agent␛[2J of a name …\r\x1b[K2s waiting for an agent␛[2J of a name …")
		io.WriteString(out, "words")
		expect("\r\x1b[Kwords")
		wait(3 * time.Second)
		expect("")
		io.WriteString(err, "note\n")
		expect("\nnote\n")
		s.Now("ls")
		wait(1600 * time.Millisecond)
		expect("\r\x1b[K1s waiting for ls (Ctrl-C cancels)")
		r, _ := io.Pipe()
		_, release := (&Program{Stderr: err, Terminal: func() (io.ReadWriteCloser, error) { return pipedTerminal{r, io.Discard}, nil }}).NewAsker(t.Context(), false)
		expect("\r\x1b[K")
		wait(3 * time.Second)
		expect("")
		release()
		wait(1900 * time.Millisecond)
		expect("\r\x1b[K1s waiting for ls (Ctrl-C cancels)")
		s.Line("failed", "", "a tool with a long name (and what it is about)", "exit code 2")
		expect("\r\x1b[Kfailed  a tool with a lon…: exit code 2\n")
		s.End()
		wait(3 * time.Second)
		expect("")
	})
}
