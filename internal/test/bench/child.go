package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime/pprof"
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
)

// baselineBuffer is the read buffer of the baselines' transport, with which they are fastest: with
// net/http's 4 KiB, or the bridge's 256, they would be slower, and the bridge would look better.
const baselineBuffer = 128 << 10

// Child is a measured process: it does what args say and returns the exit status. These are the
// mode, and then a2astdio's own, or the agent's URL. stdout belongs to the editor.
func Child(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	switch mode, args := args[0], args[1:]; mode {
	case modeBridge:
		stop, err := profile(os.Getenv(profileEnv))
		if err != nil {
			fmt.Fprintln(stderr, "bench:", err)
			return 1
		}
		defer stop()
		return cli.Main(ctx, append([]string{"a2astdio"}, args...), stdin, stdout, stderr, "bench")
	case modeRaw:
		fetch(args[0], stdin, func(body io.Reader) error {
			_, err := io.Copy(stdout, body)
			return err
		})
	case modeFrames:
		out := &lockedWriter{w: stdout}
		fetch(args[0], stdin, func(body io.Reader) error { return scanFrames(out, body) })
	case modeEmpty:
		_, _ = stdin.Read(make([]byte, 4<<10))
		_, _ = io.WriteString(stdout, "{}\n")
		_, _ = io.Copy(io.Discard, stdin)
	}
	return 0
}

// profile writes a CPU profile into a file, "" for none, until stop is called.
func profile(file string) (stop func(), err error) {
	if file == "" {
		return func() {}, nil
	}
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	return pprof.StopCPUProfile, pprof.StartCPUProfile(f)
}

// fetch is the baselines: it sends a message for each line of stdin, and passes the response to
// use. It returns at the end of stdin, so that the harness can still look at the process.
func fetch(url string, stdin io.Reader, use func(io.Reader) error) {
	client := &http.Client{Transport: &http.Transport{ReadBufferSize: baselineBuffer, DisableCompression: true, MaxIdleConnsPerHost: 100}}
	var all sync.WaitGroup
	for in := bufio.NewScanner(stdin); in.Scan(); {
		all.Go(func() { // ends with its response
			resp, err := client.Post(url, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{}}`))
			if err == nil {
				defer resp.Body.Close()
				err = use(resp.Body)
			}
			if err != nil {
				panic(err) // the harness tells of it
			}
		})
	}
	all.Wait()
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
