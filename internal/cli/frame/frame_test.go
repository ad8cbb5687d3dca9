package frame

import (
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urfave/cli/v2"
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
		err := inContext(t, c.args, func(ctx *cli.Context) error {
			if got := ListOf(ctx, "header"); !slices.Equal(got, c.want) || !IsSet(ctx, "header") {
				t.Errorf("%q: %q, want %q", c.args, got, c.want)
			}
			if IsSet(ctx, "trust-origin") || ListOf(ctx, "trust-origin") != nil {
				t.Error("an option that was not given is set")
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestForms: an option counts under each of its names, and the last one holds.
func TestForms(t *testing.T) {
	err := inContext(t, []string{"--agent-card", "x", "-a", "y", "--agent=z", "--insecure=false"}, func(c *cli.Context) error {
		if c.String("agent") != "z" || !IsSet(c, "agent") || c.Bool("insecure") || !IsSet(c, "insecure") || IsSet(c, "card") {
			t.Errorf("%q %t", c.String("agent"), c.Bool("insecure"))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
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
		if status := p.Exit(t.Context(), test.err); status != ExitFailed || (stderr.Len() > 0) != test.said {
			t.Errorf("%v: %d, %q", test.err, status, stderr.String())
		}
	}
}

func TestEscaper(t *testing.T) {
	var b strings.Builder
	const in = "{\"a\":\"\u009b2J\u202e\u007f ü\"}\n"
	if n, err := (escaper{&b}).Write([]byte(in)); n != len(in) || err != nil || b.String() != `{"a":"\u009b2J\u202e\u007f ü"}`+"\n" {
		t.Errorf("%d %v %q", n, err, b.String())
	}
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
	if p.String() != want {
		t.Errorf("got\n%s\nwant\n%s", p.String(), want)
	}
}

// TestPlainWord: what a shell would not read as a word is not offered.
func TestPlainWord(t *testing.T) {
	for _, word := range []string{"", "a b", "$(x)", "`x`", "a;b", "a\n", "'", "\"", "~", "*", "é", "a\\"} {
		if PlainWord(word) {
			t.Errorf("%q would be offered", word)
		}
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
			if got.String() != want {
				t.Errorf("got  %q\nwant %q", got.String(), want)
			}
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
		release := s.Hold()
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
