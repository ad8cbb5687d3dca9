package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// FuzzHotPath compares the shortcuts with the long way: events that match a template
// (in the framing, the decoder, the fold, the editor's lines) make the same lines as
// when each is decoded and folded alone.
//
// Each byte of the script is an event: its kind, and its difference from the last of
// that kind. cut is how many bytes arrive at once.
func FuzzHotPath(f *testing.F) {
	f.Add([]byte("aaaaaabbbbbbccccccddddddeeeeee"), 100, false)
	f.Add([]byte("aiqyaiqyaiqybjrzbjrzckszckszdltdltemuemufnvfnvgowgowhpxhpx"), 700, true)
	f.Add([]byte("\x01\x09\x01\x89\x01\x01\x81\x0a\x02\x8a\x02\x02\x06\x02\x02\x07\x02\x02"), 4000, false)
	f.Add([]byte("\x02\x02\x0a\x42\x4a\x02\x0a\x02\x00\x00\x08\x00\x97\x00\x08\x97\x02\x0a"), 4000, true)
	f.Add([]byte("\x04\x04\x04\xbc\x04\x04\x04\x0c"), 4000, true)
	f.Add([]byte("\x49\x79\x49\x79\x49"), 4000, true)
	f.Fuzz(func(t *testing.T, script []byte, cut int, v1 bool) {
		if len(script) > 300 || cut < 1 {
			return
		}
		var wire bytes.Buffer
		for i, b := range script {
			wire.WriteString("data: " + fuzzEvent(i, int(b)))
			wire.WriteString([]string{"\n\n", "\r\n\r\n", "\n\n: beat\n\ndata:\n\ndata: \n\n", "\nid: 7\n\n"}[b>>2&3&^(b>>7)])
		}
		version := "0.3"
		if v1 {
			version = "1.0"
		}
		w := newFakeWire(version, nil, 1)
		client := must.Get(transport.NewClient("http://agent.invalid/", &transport.ClientOptions{RoundTripper: &endingWire{w, &wire, cut}}))(t)
		defer client.Close()
		stream := must.Get(client.Send(context.Background(), &a2a.Outgoing{ID: "m", Parts: []a2a.OutPart{{Text: "go"}}}))(t)
		defer stream.Close()
		short, long := newBoth(), newBoth()
		joined, apart := newBoth(), newBoth() // those of one read make the same steps
		joined.fold.Joins = true
		for {
			events, err := stream.Read()
			for i := range events {
				short.event(&events[i])
				long.event(events[i].Clone())
				short.compare(t, long, &events[i])
			}
			var one, each []mapping.Step
			for i := range events {
				one = joined.fold.Event(shown.Live, &events[i], one)
				each = apart.fold.Event(shown.Live, events[i].Clone(), each)
			}
			joined.out, apart.out = joined.acp.Append(joined.out[:0], one), apart.acp.Append(apart.out[:0], each)
			if len(events) > 0 {
				joined.compare(t, apart, &events[0])
			}
			if errors.Is(err, io.EOF) {
				return
			}
			must.Do(t, err)
		}
	})
}

// fuzzEvent is an event of one of eight shapes; the higher bits are its difference.
func fuzzEvent(i, b int) string {
	texts := []string{"one", "a longer text, with nothing special in it at all, that goes on for a while", "tab\t \"quoted\" \\ \n\u2028", "h\u00e9llo \U0001f600", "", "x", "~", "two"}
	said := quoted(texts[b>>3&7])
	id := []string{"m", "message-2", "m", "m"}[b>>6]
	trace := []string{"r", "r12", "", "a longer one"}[b>>6]
	switch b & 7 {
	case 1:
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"text":%s}]},"append":true,"lastChunk":%t,"metadata":{"timestamp":"%d"}}}}`, said, b>>6 == 1, i)
	case 2:
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"working","message":{"kind":"message","role":"agent",`+
			`"parts":[{"kind":"text","text":%s}],"messageId":%q},"timestamp":"%d"},"final":false,"metadata":{"coderAgent":{"kind":"text-content"},"model":"g","traceId":%q}}}`, said, id, i, trace)
	case 3:
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"working","message":{"kind":"message","role":"agent",`+
			`"parts":[{"kind":"text","text":%s}],"messageId":%q}},"final":false,"metadata":{"coderAgent":{"kind":"text-content"},"model":%q}}}`, said, id, trace)
	case 4:
		if b>>7 == 1 { // another text in its place; of two parts no template is made
			said += `},{"text":"more"`
		}
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"a%d","parts":[{"text":%s}]},"append":%t,"lastChunk":false}}}`, b>>6&1, said, b>>7 == 0)
	case 5:
		// The tool is long enough to be compared with those before; two differ at their ends.
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"working","message":{"kind":"message","role":"agent","messageId":"k%d",`+
			`"parts":[{"kind":"data","data":{"request":{"callId":"call","name":"shell","args":{"command":"ls"}},"tool":{"kind":"execute","schema":%q,"displayName":%s},"status":%q}}]}},"final":false,"metadata":{"coderAgent":{"kind":"tool-call-update"}}}}`,
			i, strings.Repeat("schema ", 40), said, []string{"scheduled", "executing", "executing", "success"}[b>>6])
	case 6:
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"kind":"artifact-update","taskId":"t","contextId":"c","artifact":{"artifactId":"tool-call-output","parts":[{"kind":"text","text":%s}]},"append":true,"lastChunk":false}}`, quoted(strings.Repeat(texts[b>>3&7], 1+i%4)))
	case 7:
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":%q,"contextId":"c","status":{"state":"TASK_STATE_%s"},"metadata":{"coderAgent":{"kind":"state-change"},"error":%q}}}}`,
			[]string{"t", "other"}[b>>5&1], []string{"WORKING", "SUBMITTED"}[b>>4&1], trace)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING","message":{"messageId":%q,"role":"%s","parts":[{"text":%s}]}}}}}`,
		id, []string{"ROLE_AGENT", "ROLE_USER"}[b>>6&1], said)
}

// An endingWire is a fakeWire whose stream is rest, cut bytes at a time, and then
// ends.
type endingWire struct {
	*fakeWire
	rest *bytes.Buffer
	cut  int
}

func (w *endingWire) RoundTrip(req *http.Request) (*http.Response, error) {
	return w.answer(req, readerFunc(func(b []byte) (int, error) { return w.rest.Read(b[:min(len(b), w.cut)]) }))
}

// both is a fold with both spellings.
type both struct {
	fold  *mapping.Fold
	acp   spell.ACP
	lines spell.Lines
	out   []byte
}

func newBoth() *both {
	return &both{fold: mapping.NewFold(), acp: spell.ACP{Session: "s", Cwd: "/"}, lines: spell.Lines{Request: []byte("1"), Raw: true}}
}

func (b *both) event(ev *a2a.Event) {
	steps := b.fold.Event(shown.Live, ev, nil)
	b.out = b.lines.Append(b.acp.Append(b.out[:0], steps), steps)
}

func (b *both) compare(t *testing.T, other *both, ev *a2a.Event) {
	if !bytes.Equal(b.out, other.out) {
		t.Fatalf("%s\nmade %s\nnot  %s", ev.Raw, b.out, other.out)
	}
}
