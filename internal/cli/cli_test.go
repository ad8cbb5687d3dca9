package cli

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func runMain(stdin string, args ...string) (status int, stdout, stderr string) {
	var out, errOut bytes.Buffer
	status = Main(context.Background(), append([]string{"a2astdio"}, args...), strings.NewReader(stdin), &out, &errOut, "v0.0.0-test")
	return status, out.String(), errOut.String()
}

// ownHome is a home of the test's own, and nothing is said by variables.
func ownHome(t *testing.T) string {
	home := t.TempDir()
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "AppData"} {
		t.Setenv(name, home)
	}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "A2ASTDIO_") {
			t.Setenv(name, "")
		}
	}
	return home
}

// ownPlaces are that, and a place for sign-ins.
func ownPlaces(t *testing.T) {
	ownHome(t)
	for _, name := range []string{"XDG_STATE_HOME", "LocalAppData"} {
		t.Setenv(name, t.TempDir())
	}
}

// TestInterruptedInput: a command that reads stdin ends soon after its context, and says nothing.
func TestInterruptedInput(t *testing.T) {
	ownPlaces(t)
	for _, command := range []string{"trace check -", "trace show -", "trace export --har -", "card verify -", "send -", "call x -"} {
		ctx, stop := context.WithCancel(context.Background())
		in, hand := io.Pipe() // nothing comes
		time.AfterFunc(20*time.Millisecond, stop)
		var out bytes.Buffer
		status := Main(ctx, append([]string{"a2astdio", "--agent", "demo"}, strings.Fields(command)...), in, &out, &out, "v0")
		hand.Close()
		if status != frame.ExitInterrupted || out.Len() > 0 {
			t.Errorf("%s ends with %d: %s", command, status, out.String())
		}
	}
}
