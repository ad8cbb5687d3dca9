package frame

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

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
