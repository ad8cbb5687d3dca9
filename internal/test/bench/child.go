package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"

	"github.com/a2astdio/a2astdio/internal/cli"
)

// Modes in which the harness executes itself.
const (
	modeRaw    = "raw"    // io.Copy from the response to stdout
	modeFrames = "frames" // server-sent events split and joined, no JSON
	modeBridge = "bridge"
	modeTraced = "traced" // the bridge, with a trace
	modeEmpty  = "empty"  // answers one line: the start of a process with our imports
	modeTurns  = "turns"  // a request for each line, and its response to stdout
)

// baselineBuffer is the read buffer of the baselines' transport, as large as the
// bridge's. With net/http's 4 KiB the baselines would be slower, and the bridge would
// look better.
const baselineBuffer = 64 << 10

// Child is a measured process: it does what args say and returns the exit status. These are the
// mode and a file for a CPU profile, if there is to be one, and then a2astdio's own, or the
// agent's URL and how many messages a baseline sends at once. stdout belongs to the editor.
func Child(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (status int) {
	mode, profile, args := args[0], args[1], args[2:]
	fail := func(err error) int {
		if err == nil {
			return 0
		}
		fmt.Fprintln(stderr, "bench:", err)
		return 1
	}
	if profile != "" {
		f, err := os.Create(profile)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			return fail(err)
		}
		defer pprof.StopCPUProfile()
	}
	if mode == modeBridge {
		return cli.Main(ctx, append([]string{"a2astdio"}, args...), stdin, stdout, stderr, "bench")
	}
	url := args[0]
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return fail(err)
	}
	switch mode {
	case modeRaw:
		err = fetch(url, n, stdin, func(body io.Reader) error {
			_, err := io.Copy(stdout, body)
			return err
		})
	case modeFrames:
		out := &lockedWriter{w: stdout}
		err = fetch(url, n, stdin, func(body io.Reader) error { return scanFrames(out, body) })
	case modeTurns:
		err = eachLine(url, stdin, stdout)
	case modeEmpty:
		_, _ = stdin.Read(make([]byte, 4<<10))
		_, err = io.WriteString(stdout, "{}\n")
		_, _ = io.Copy(io.Discard, stdin)
	}
	return fail(err)
}

// baseline is how the baselines send a message, by n connections at most.
func baseline(n int) func(url string) (*http.Response, error) {
	client := &http.Client{Transport: &http.Transport{ReadBufferSize: baselineBuffer, DisableCompression: true, MaxIdleConnsPerHost: n}}
	return func(url string) (*http.Response, error) {
		return client.Post(url, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{}}`))
	}
}

// fetch sends n messages at once and passes each response to use. It returns at the end
// of stdin, so that the harness can still look at the process.
func fetch(url string, n int, stdin io.Reader, use func(io.Reader) error) error {
	client, errs := baseline(n), make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			resp, err := client(url)
			if err == nil {
				defer resp.Body.Close()
				err = use(resp.Body)
			}
			errs[i] = err
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, stdin)
	return err
}

// eachLine is the baseline: a request for each line.
func eachLine(url string, stdin io.Reader, stdout io.Writer) error {
	client := baseline(1)
	for in := bufio.NewScanner(stdin); in.Scan(); {
		resp, err := client(url)
		if err != nil {
			return err
		}
		_, err = io.Copy(stdout, resp.Body)
		_ = resp.Body.Close() // it has been read
		if err != nil {
			return err
		}
	}
	return nil
}

// scanFrames writes each event's data as a line, with one write for all that one read
// has brought.
func scanFrames(out io.Writer, body io.Reader) error {
	buf, lines := make([]byte, baselineBuffer), []byte(nil)
	used, scanned := 0, 0
	for {
		n, err := body.Read(buf[used:])
		used += n
		lines, scanned = lines[:0], max(0, scanned-1)
		from := 0
		for {
			at := bytes.Index(buf[max(from, scanned):used], []byte("\n\n"))
			if at < 0 {
				break
			}
			end := max(from, scanned) + at
			lines = append(append(lines, bytes.TrimPrefix(buf[from:end], []byte("data: "))...), '\n')
			from = end + 2
		}
		if len(lines) > 0 {
			if _, err := out.Write(lines); err != nil {
				return err
			}
		}
		if from > 0 {
			used = copy(buf, buf[from:used])
		}
		scanned = used
		if used == len(buf) {
			buf = append(buf, make([]byte, len(buf))...)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// A lockedWriter serialises writes.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}
