package mapping_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestRecordings folds what real agents said, and compares what editors of both
// protocols would be shown (testdata/recordings/*/*/*.golden). At the end each
// recording's snapshots of the task are folded too: the agent's own account of
// what it has said must add nothing.
func TestRecordings(t *testing.T) {
	files, err := filepath.Glob("../testdata/recordings/gemini/*/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(file, ".jsonl")
		t.Run(filepath.Base(filepath.Dir(name))+"/"+filepath.Base(name), func(t *testing.T) {
			got := foldRecording(t, file)
			must.Golden(t, *update, name+".golden", got)
		})
	}
}

func foldRecording(t *testing.T, file string) string {
	f := must.Get(os.Open(file))(t)
	defer f.Close()
	var out bytes.Buffer
	folds := map[string]*mapping.Fold{} // by task
	acp := spell.ACP{Session: "s", Cwd: "/home/dev/project"}
	lines := spell.Lines{}
	var newest, task = 0, ""
	fold := func(result string, verb shown.Verb) {
		ev := decode(t, result)
		if ev.TaskID != "" {
			task = ev.TaskID
		}
		if folds[task] == nil {
			folds[task] = mapping.NewFold()
		}
		steps := folds[task].Event(verb, ev, nil)
		acpOut := acp.Append(nil, steps)
		for _, l := range bytes.SplitAfter(append(acpOut, lines.Append(nil, steps)...), []byte("\n")) {
			if len(l) > 0 && !json.Valid(l) {
				t.Fatalf("not JSON: %s", l)
			}
			out.Write(l)
		}
		for _, call := range folds[task].Calls.Open() {
			fmt.Fprintf(&out, "open %s\n", acp.Permission(mapping.NewQuestion(call)))
		}
		if ev.EndsLeg {
			fmt.Fprintf(&out, "leg ends: %s %q\n", folds[task].State, folds[task].FailText)
		}
	}
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadString('\n')
		m := gjson.Parse(line)
		switch n := int(m.Get("req").Int()); {
		case m.Get("request").Exists():
			newest = max(newest, n)
			fmt.Fprintf(&out, "request %d: %s\n", n, m.Get("body.method"))
			for _, p := range m.Get("body.params.message.parts").Array() {
				if id := p.Get("data.callId"); id.Exists() && folds[task] != nil {
					folds[task].Calls.Answered(id.Str, true)
				}
			}
		case m.Get("data.result").Exists() && n == newest:
			fold(m.Get("data.result").Raw, shown.Live)
		case m.Get("data.error").Exists() && n == newest:
			fmt.Fprintf(&out, "error %s\n", m.Get("data.error"))
		case m.Get("body.result.kind").Str == "task":
			fmt.Fprintln(&out, "snapshot:")
			fold(m.Get("body.result").Raw, shown.Snapshot)
		}
		if errors.Is(err, io.EOF) {
			return out.String()
		}
	}
}

// decode reads an event the way that the bridge gets it: through a client.
func decode(t testing.TB, result string) *a2a.Event {
	var compact bytes.Buffer
	must.Do(t, json.Compact(&compact, []byte(result)))
	client := must.Get(transport.NewClient("http://agent.invalid/", &transport.ClientOptions{RoundTripper: says(compact.String())}))(t)
	defer client.Close()
	stream := must.Get(client.Send(context.Background(), &a2a.Outgoing{ID: "m", Parts: []a2a.OutPart{{Text: "x"}}}))(t)
	events, err := stream.Read()
	if err != nil || len(events) != 1 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	return events[0].Clone()
}

// says is an agent that says one thing.
type says string

func (s says) RoundTrip(r *http.Request) (*http.Response, error) {
	contentType, body := "text/event-stream", `data: {"jsonrpc":"2.0","id":1,"result":`+string(s)+"}\n\n"
	if r.Method == http.MethodGet {
		contentType, body = "application/json", `{"name":"fake","url":"http://agent.invalid/","protocolVersion":"0.3.0"}`
	}
	return &http.Response{StatusCode: 200, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(strings.NewReader(body)), ContentLength: -1}, nil
}
