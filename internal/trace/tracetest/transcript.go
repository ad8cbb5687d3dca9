// Package tracetest makes traces of the conversations in testdata/transcript for tests,
// as the bridge would have recorded them.
package tracetest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/trace"
)

// AgentURL is the agent's URL in transcripts.
const AgentURL = "http://agent.invalid/"

// DefaultCard is the card where a transcript has none.
const DefaultCard = `{"name":"fake","url":"http://agent.invalid/","protocolVersion":"0.3.0","capabilities":{"streaming":true,"extensions":[{"uri":"https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md"}]},"defaultInputModes":["text"]}`

// Record plays a transcript in virtual time, and returns its trace. opts may be nil.
func Record(t *testing.T, path string, opts *trace.Options) []byte {
	t.Helper()
	script, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	synctest.Test(t, func(t *testing.T) { Play(t, string(script), &out, opts) })
	return out.Bytes()
}

// Play is Record for a transcript's text; call it in a bubble of testing/synctest.
func Play(t *testing.T, script string, out io.Writer, opts *trace.Options) {
	if opts == nil {
		opts = &trace.Options{Version: "test", Mode: "bridge"}
	}
	p := &player{t: t, r: trace.New(out, opts)}
	card := DefaultCard
	for l := range strings.Lines(script) {
		if rest, ok := strings.CutPrefix(l, "card "); ok {
			card = strings.TrimSpace(rest)
		}
	}
	p.get(card)
	for l := range strings.Lines(script) {
		word, rest, _ := strings.Cut(strings.TrimSpace(l), " ")
		p.line(word, rest)
		synctest.Wait()
	}
	for _, x := range p.requests {
		x.cut(errors.New("the test is over"))
	}
	synctest.Wait()
	if err := p.r.Close(); err != nil {
		t.Fatal(err)
	}
}

type player struct {
	t        *testing.T
	r        *trace.Recorder
	requests []*request
}

// A request waits for the transcript's answer.
type request struct {
	id       string
	response chan *http.Response
	body     *io.PipeWriter
	cancel   context.CancelFunc
	over     bool
}

func (p *player) line(word, rest string) {
	switch word {
	case "E>":
		if rest != "EOF" && rest != "KILL" {
			p.r.Tap(false, []byte(rest))
		}
	case "E<":
		p.r.Tap(true, []byte(rest))
	case "T+":
		d, err := time.ParseDuration(rest)
		if err != nil {
			p.t.Fatal(err)
		}
		<-time.After(d)
	case "A>":
		number, rest, _ := strings.Cut(rest, " ")
		if rest == "closed" {
			var n int
			fmt.Sscanf(number, "#%d", &n)
			p.requests[n-1].cancel()
			return
		}
		method, params, _ := strings.Cut(rest, " ")
		p.request(method, params)
	case "A<":
		x := p.requests
		if strings.HasPrefix(rest, "died") || len(x) == 0 {
			return
		}
		n := len(x)
		if strings.HasPrefix(rest, "#") {
			fmt.Sscanf(rest, "#%d", &n)
			_, rest, _ = strings.Cut(rest, " ")
		}
		p.answer(x[n-1], rest)
	}
}

// roundTrip stands for the transcript's agent.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func respond(status int, contentType string, body io.ReadCloser) *http.Response {
	return &http.Response{StatusCode: status, Proto: "HTTP/1.1", Header: http.Header{"Content-Type": {contentType}}, Body: body}
}

// get fetches the card.
func (p *player) get(card string) {
	next := roundTrip(func(r *http.Request) (*http.Response, error) {
		return respond(200, "application/json", io.NopCloser(strings.NewReader(card))), nil
	})
	req, err := http.NewRequest("GET", AgentURL+".well-known/agent-card.json", nil)
	if err != nil {
		p.t.Fatal(err)
	}
	resp, err := p.r.Wrap(next).RoundTrip(req)
	if err != nil {
		p.t.Fatal(err)
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
}

// request sends a request. Its goroutine ends when the transcript has answered, or with
// the test.
func (p *player) request(method, params string) {
	x := &request{id: fmt.Sprint(len(p.requests) + 1), response: make(chan *http.Response, 1)}
	p.requests = append(p.requests, x)
	ctx, cancel := context.WithCancel(context.Background())
	x.cancel = cancel
	params = cmp.Or(params, "null")
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"%s","params":%s}`, x.id, method, params)
	req, err := http.NewRequestWithContext(ctx, "POST", AgentURL, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	next := roundTrip(func(r *http.Request) (*http.Response, error) {
		io.Copy(io.Discard, r.Body)
		select {
		case resp := <-x.response:
			if resp == nil {
				return nil, errors.New("connection reset by peer")
			}
			if pipe, ok := resp.Body.(*io.PipeReader); ok {
				context.AfterFunc(ctx, func() { pipe.CloseWithError(ctx.Err()) })
			}
			return resp, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	go func() {
		resp, err := p.r.Wrap(next).RoundTrip(req)
		if err == nil {
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}()
}

// answer plays an A< line.
func (p *player) answer(x *request, what string) {
	verb, rest, _ := strings.Cut(what, " ")
	switch verb {
	case "json":
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s`, x.id, strings.TrimPrefix(rest, "{"))
		x.say(respond(200, "application/json", io.NopCloser(strings.NewReader(body))))
		return
	case "status":
		var status int
		f := strings.SplitN(rest, " ", 3)
		fmt.Sscan(f[0], &status)
		x.say(respond(status, f[1], io.NopCloser(strings.NewReader(f[2]))))
		return
	case "cut":
		x.cut(io.ErrUnexpectedEOF)
		return
	}
	if x.body == nil {
		r, w := io.Pipe()
		x.body = w
		x.say(respond(200, "text/event-stream", r))
	}
	switch {
	case verb == "end":
		x.body.Close()
		x.over = true
	case verb == "raw":
		io.WriteString(x.body, rest+"\n\n")
	case gjson.Valid(what):
		fmt.Fprintf(x.body, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", x.id, what)
	default:
		p.t.Fatalf("transcript: what is %q?", what)
	}
}

func (x *request) say(r *http.Response) {
	select {
	case x.response <- r:
	default: // it has had its answer
	}
}

func (x *request) cut(err error) {
	if x.over {
		return
	}
	x.over = true
	if x.body != nil {
		x.body.CloseWithError(err)
		return
	}
	x.say(nil)
}

// Lines are the records of a trace.
func Lines(t testing.TB, b []byte) []trace.Record {
	t.Helper()
	var all []trace.Record
	for line := range bytes.Lines(b) {
		var r trace.Record
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		all = append(all, r)
	}
	return all
}
