package trace

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// tapped is what a tap has handed over.
type tapped struct {
	mu  sync.Mutex
	log []string
}

func (h *tapped) line(what string) func([]byte) {
	return func(line []byte) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.log = append(h.log, what+string(line))
	}
}

func (h *tapped) run(t *testing.T, ctx context.Context, stdin io.Reader, signal <-chan os.Signal, command ...string) (status int, stdout, stderr string, err error) {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh")
	}
	var out, errs bytes.Buffer
	in, from := h.line("> "), h.line("< ")
	status, err = (&tap{command: command, stdin: stdin, stdout: &out, stderr: &errs, signal: signal, onErr: h.line("! "),
		line: func(fromCommand bool, line []byte) {
			if fromCommand {
				from(line)
			} else {
				in(line)
			}
		}}).run(ctx)
	return status, out.String(), errs.String(), err
}

// TestTapRun: bytes pass as they are, lines are handed over, the exit status is the
// program's.
func TestTapRun(t *testing.T) {
	input := "one\r\n\n\x00\xfftwo\n" + strings.Repeat("x", 200<<10) + "\nno end"
	var h tapped
	status, out, errs, err := h.run(t, t.Context(), strings.NewReader(input), nil, "sh", "-c", "cat; printf 'a\nb' >&2; exit 7")
	if status != 7 || out != input || errs != "a\nb" || err != nil {
		t.Errorf("status %d, %d bytes of %d, %q, %v", status, len(out), len(input), errs, err)
	}
	for _, mark := range []string{"> ", "< "} {
		var got []string
		for _, l := range h.log {
			if rest, ok := strings.CutPrefix(l, mark); ok {
				got = append(got, rest)
			}
		}
		must.Equal(t, strings.Join(got, "\n"), input, mark)
	}
	_, _, _, err = h.run(t, t.Context(), strings.NewReader(""), nil, "/nowhere/at/all")
	must.True(t, err != nil, "what is not there was run")
}

// TestTapSignal: a signal is passed on, and the program decides what becomes of it.
func TestTapSignal(t *testing.T) {
	for command, want := range map[string]int{
		`trap 'exit 9' TERM; echo ready; while :; do sleep 0.01; done`: 9,
		`echo ready; exec sleep 60`:                                    128 + int(syscall.SIGTERM),
	} {
		var h tapped
		signal := make(chan os.Signal, 1)
		r, w := io.Pipe()
		ready := make(chan struct{})
		var once sync.Once
		status := make(chan int, 1)
		go func() { // ends with the program
			s, err := (&tap{command: []string{"sh", "-c", command}, stdin: r, stdout: io.Discard, stderr: io.Discard, signal: signal, onErr: h.line("! "),
				line: func(bool, []byte) { once.Do(func() { close(ready) }) }}).run(t.Context())
			must.Fail(t, err, "")
			status <- s
		}()
		<-ready
		signal <- syscall.SIGTERM
		must.Equal(t, <-status, want, command)
		w.Close()
	}
}

// TestTapEnds: at our end the program's input ends, by which an agent notices; and a
// program whose output nobody reads notices that.
func TestTapEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	defer w.Close()
	status, err := (&tap{command: []string{"sh", "-c", "echo ready; cat >/dev/null; exit 3"}, stdin: r, stdout: io.Discard, stderr: io.Discard,
		line: func(bool, []byte) { cancel() }, onErr: func([]byte) {}}).run(ctx)
	must.True(t, status == 3 && err == nil, status, err)
	status, err = (&tap{command: []string{"sh", "-c", "trap '' PIPE; while echo x 2>/dev/null; do :; done; exit 4"}, stdin: r, stdout: gone{}, stderr: io.Discard,
		line: func(bool, []byte) {}, onErr: func([]byte) {}}).run(t.Context())
	must.True(t, status == 4 && err == nil, strconv.Itoa(status), err)
}

type gone struct{}

func (gone) Write([]byte) (int, error) { return 0, syscall.EPIPE }
