package cli

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"
)

// A recording is what an agent said, and what the user did.
type recording struct {
	card    string
	prompts []string
	answers []string
	says    []string
	send    string     // all that send shows, which has no further prompts
	data    bool       // the agent answers with data, which ACP shows as JSON
	turns   [][]string // the lines of the answer to each request
}

// readRecording reads a recording: the lines of testdata/recordings/dialects/README.md.
func readRecording(t *testing.T, file string) *recording {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := &recording{}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case word == "card":
			r.card = rest
		case word == "prompt":
			r.prompts = append(r.prompts, strings.ReplaceAll(rest, `\n`, "\n"))
		case word == "answer":
			r.answers = append(r.answers, rest)
		case word == "says":
			r.says = append(r.says, rest)
		case word == "send":
			r.send = rest
		case line == "data":
			r.data = true
		case word == "request":
			r.turns = append(r.turns, nil)
		case len(r.turns) == 0:
			t.Fatalf("%s: what is %q?", file, line)
		default:
			last := len(r.turns) - 1
			r.turns[last] = append(r.turns[last], line)
		}
	}
	return r
}

// A recordedAgent answers as recorded: the first message with the first answer, and so
// on.
type recordedAgent struct {
	*recording
	mu   sync.Mutex
	turn int
}

func (a *recordedAgent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, strings.ReplaceAll(a.card, "AGENT", "http://"+r.Host))
		return
	}
	body, _ := io.ReadAll(r.Body)
	m := gjson.ParseBytes(body)
	method := m.Get("method").Str
	a.mu.Lock()
	turn := a.turn
	isMessage := strings.HasPrefix(method, "message/") || strings.HasPrefix(method, "Send")
	// A task is followed from where its stream has ended.
	isMessage = isMessage || turn < len(a.turns) && (strings.HasSuffix(method, "resubscribe") || method == "SubscribeToTask")
	if isMessage {
		a.turn++
	}
	a.mu.Unlock()
	switch {
	case isMessage && turn < len(a.turns):
		a.answer(w, m.Get("id").Raw, a.turns[turn])
	case strings.Contains(method, "ancel"):
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32002,"message":"Task cannot be canceled"}}`, m.Get("id").Raw)
	default:
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.Get("id").Raw)
	}
}

// answer writes the lines of an answer: results, each an event. "json RESULT" is an answer
// without a stream.
func (a *recordedAgent) answer(w http.ResponseWriter, id string, lines []string) {
	if result, ok := strings.CutPrefix(lines[0], "json "); ok {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, line := range lines {
		switch {
		case strings.HasPrefix(line, "rs "):
			fmt.Fprintf(w, "data: \x1e{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", id, line[3:])
		default:
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", id, line)
		}
	}
}
