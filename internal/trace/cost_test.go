package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"testing"
	"time"
)

// spokenEvent is an A2A 1.x event of 517 bytes with 200 of text, which begins with a
// blank as often as words do.
func spokenEvent(i int) (event, said string) {
	const words = "the agent reads every file of the project and writes what it has found into a list that the user may look at later while it works on "
	var text []byte
	for k := range 200 {
		text = append(text, words[(i*7+k)%len(words)])
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1001,"result":{"artifactUpdate":{"taskId":"5f1c9a52-61a4-4f0e-9d8a-0d4f7f6f2b11","contextId":"c8a7e0c4-2a55-4f53-8b7e-3d5b1c1f9a02",`+
		`"artifact":{"artifactId":"0b9d2f7e-7c1a-4a53-b6a0-2f9c1d3e5a77","parts":[{"text":"%s"}]},"append":true,"metadata":{"timestamp":"2026-11-20T12:00:%02d.%03dZ"}}}}`,
		text, i/1000%60, i%1000), string(text)
}

// BenchmarkRecord: what the goroutine that writes does with events of an agent's and
// the lines that they become. An operation is an event.
func BenchmarkRecord(b *testing.B) {
	const n = 1024
	type write struct{ events, line []byte }
	var texts []write
	for i := range n {
		event, said := spokenEvent(i)
		texts = append(texts, write{[]byte("data: " + event + "\n\n"),
			[]byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"6ba7b810-9dad-11d1-80b4-00c04fd430c8","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + said + `"}}}}`)})
	}
	var many []write
	for i := 0; i < n; i += 64 {
		var w write
		said := ""
		for k := range 64 {
			event, text := spokenEvent(i + k)
			w.events = append(w.events, "data: "+event+"\n\n"...)
			said += text
		}
		w.line = []byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"6ba7b810-9dad-11d1-80b4-00c04fd430c8","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + said + `"}}}}`)
		many = append(many, w)
	}
	var tools []write
	recording, err := os.ReadFile("../../testdata/recordings/gemini/0.61/full-flow.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	for line := range bytes.Lines(recording) {
		var data struct{ Data json.RawMessage }
		if json.Unmarshal(line, &data) == nil && data.Data != nil {
			tools = append(tools, write{[]byte("data: " + string(data.Data) + "\n\n"), nil})
		}
	}
	for _, c := range []struct {
		name   string
		writes []write
		each   int
	}{{"one", texts, 1}, {"64", many, 64}, {"tools", tools, 1}} {
		b.Run(c.name, func(b *testing.B) {
			now := time.Now()
			w := newWorker(plainFile{io.Discard}, &Options{Mode: "bridge"}, now)
			u, _ := url.Parse("http://localhost:4000/")
			add := func(it item, b []byte) {
				now = now.Add(3 * time.Microsecond)
				it.at = now
				w.item(&it, b)
			}
			add(item{kind: itemRequest, x: 1, more: &requestHead{"POST", u, http.Header{}}}, nil)
			add(item{kind: itemSent, x: 1}, nil)
			add(item{kind: itemResponse, x: 1, more: &responseHead{200, "HTTP/1.1", http.Header{"Content-Type": {"text/event-stream"}}}}, nil)
			b.ReportAllocs()
			i := 0
			for done := 0; done < b.N; done += c.each {
				wr := &c.writes[i]
				add(item{kind: itemBody, x: 1}, wr.events)
				if wr.line != nil {
					add(item{kind: itemLine, toEditor: true}, wr.line)
				}
				if i++; i == len(c.writes) {
					i = 0
				}
				if len(w.buf) >= flushSize {
					w.flush()
				}
			}
		})
	}
}
