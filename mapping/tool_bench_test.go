package mapping

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// benchEditors are the two spellings, as functions of steps.
func benchEditors() map[string]func([]byte, []Step) []byte {
	return map[string]func([]byte, []Step) []byte{
		"acp":   (&ACP{Session: "6ba7b810-9dad-11d1-80b4-00c04fd430c8", Cwd: "/home/dev/project"}).Append,
		"lines": (&Lines{Request: []byte("1")}).Append,
	}
}

// BenchmarkToolCalls is what an event of a tool call costs behind transport:
// the recorded ones, each with a name of its own for each round, since one that
// is known has ended.
func BenchmarkToolCalls(b *testing.B) {
	var events []*a2a.Event
	size := 0
	for _, raw := range recordedCalls(b) {
		size += len(raw)
		part := &a2a.Part{Kind: a2a.PartData, Data: a2a.JSON(raw), Raw: a2a.JSON(raw)}
		events = append(events, &a2a.Event{Kind: a2a.EventStatus, TaskID: "t", State: a2a.StateWorking, HasMessage: true,
			Message: a2a.Message{ID: "m", Role: a2a.RoleAgent, Parts: onePart(part)}})
	}
	for name, spell := range benchEditors() {
		b.Run(name, func(b *testing.B) {
			fold := speaking()
			var steps []Step
			var out []byte
			b.SetBytes(int64(size / len(events)))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if i%len(events) == 0 {
					fold = speaking() // it is a new conversation
				}
				steps = fold.Event(shown.Live, events[i%len(events)], steps[:0])
				out = spell(out[:0], steps)
			}
		})
	}
}

// BenchmarkLiveOutput is output that is sent whole each time: 1 MiB that grows in
// steps of 4 KiB, by the step, behind transport.
func BenchmarkLiveOutput(b *testing.B) {
	const step, size = 4 << 10, 1 << 20
	whole := strings.Repeat("the agent reads every file of the project and \"writes\" what it has found\n", size/70)
	message := func(call string) *a2a.Event {
		part := &a2a.Part{Kind: a2a.PartData, Data: a2a.JSON(call)}
		return &a2a.Event{Kind: a2a.EventMessage, HasMessage: true, Message: a2a.Message{ID: "m", Role: a2a.RoleAgent, Parts: onePart(part)}}
	}
	begin := message(`{"tool_call_id":"c","status":"EXECUTING","tool_name":"sh"}`)
	var artifacts, data []*a2a.Event
	for n := step; n <= size; n += step {
		text := whole[:n]
		raw := a2a.JSON(appendString(nil, text))
		artifacts = append(artifacts, &a2a.Event{Kind: a2a.EventArtifact, TaskID: "t", Append: true,
			Artifact: a2a.Artifact{ID: "tool-c-output", Parts: onePart(&a2a.Part{Kind: a2a.PartText, Text: text, TextJSON: raw})}})
		data = append(data, message(fmt.Sprintf(`{"tool_call_id":"c","status":"EXECUTING","tool_name":"sh","live_content":%s}`, raw)))
	}
	for dialect, events := range map[string][]*a2a.Event{"gemini": artifacts, "devtool": data} {
		for name, spell := range benchEditors() {
			b.Run(dialect+"/"+name, func(b *testing.B) {
				var fold *Fold
				var steps []Step
				var out []byte
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					if i%len(events) == 0 {
						fold = speaking()
						fold.Event(shown.Live, begin, nil)
					}
					steps = fold.Event(shown.Live, events[i%len(events)], steps[:0])
					out = spell(out[:0], steps)
				}
				if len(out) < step {
					b.Errorf("%d bytes were shown last", len(out))
				}
			})
		}
	}
}
