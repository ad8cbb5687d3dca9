package soak

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/internal/cli"
)

var (
	soak  = flag.Duration("soak", 2*time.Second, "how long TestSoak soaks")
	kills = flag.Int("kills", 10, "how often TestKill kills")
	seed  = flag.Uint64("seed", 1, "what the faults begin with; 0: something else each time")
)

const (
	// markName is the variable that marks the processes of a test, and makes the test
	// binary be a2astdio.
	markName = "SOAK_MARK"
	// shimWord begins the command line of an editor that can be killed.
	shimWord = "soak-editor"
	// patience bounds the wait for what must come. It only ends if something is wrong.
	patience = 90 * time.Second
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(markName) == "":
	case len(os.Args) > 1 && os.Args[1] == shimWord:
		os.Exit(shim(os.Args[2:]))
	default:
		os.Exit(program())
	}
	flag.Parse()
	if *seed == 0 {
		*seed = rand.Uint64N(1_000_000)
	}
	// The go command gives every test ten minutes and kills it after eleven.
	if limit, ok := flag.Lookup("test.timeout").Value.(flag.Getter).Get().(time.Duration); ok && limit == 10*time.Minute && *soak <= limit {
		_ = flag.Set("test.timeout", (limit + 45*time.Second).String())
	}
	os.Exit(m.Run())
}

// program is a2astdio, as main.go has it.
func program() int {
	showInside()
	return cli.Main(cli.UntilSignal(), os.Args, os.Stdin, os.Stdout, os.Stderr, "v0.0.0-soak")
}

// shim is an editor that can be killed alone: it starts the program and copies its
// lines, so that the program's pipes have no other ends.
func shim(args []string) int {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return 1
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return 1
	}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	go func() { // ends with the process
		_, _ = io.Copy(stdin, os.Stdin)
		stdin.Close()
	}()
	_, _ = io.Copy(os.Stdout, stdout)
	if err := cmd.Wait(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// repeat tells, if the test fails, how to repeat it.
func repeat(t *testing.T, seed uint64, flags string) {
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("again: go test ./internal/test/soak -seed=%d %s", seed, flags)
		}
	})
}
