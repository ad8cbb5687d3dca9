package bench

import (
	"bytes"
	"context"
	"fmt"
)

// A kind is a kind of event: event makes the i-th, with an ID that is not the one before's.
type kind struct {
	name, version string
	event         func(i int, text string) []byte
}

func kinds() []kind {
	named := func(event func(int, string) []byte, id string) func(int, string) []byte {
		return func(i int, text string) []byte {
			return bytes.Replace(event(i, text), []byte(id), fmt.Appendf(nil, "%04d%s", i, place), 1)
		}
	}
	thought := func(i int, text string) []byte {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":45,"result":{"kind":"status-update","taskId":"%s","contextId":"%s","status":{"state":"working",`+
			`"message":{"kind":"message","role":"agent","parts":[{"kind":"data","data":{"subject":"Step","description":%s}}],"messageId":"%s"}},`+
			`"final":false,"metadata":{"coderAgent":{"kind":"thought"},"model":"gemini-3.1-pro-preview"}}}`, taskID, contextID, quoted(text), messageID)
	}
	metadata := func(i int, text string) []byte {
		return bytes.Replace(artifactV1(i, text), []byte(`"metadata":{`), fmt.Appendf(nil, `"metadata":{"tokens":{"in":%d,"out":%d},"span":"s%d",`, i, 2*i, i), 1)
	}
	return []kind{
		{"one text", "1.0", artifactV1},
		{"a new message each", "0.3", named(statusV03, messageID)},
		{"a new artifact each", "1.0", named(artifactV1, artifactID)},
		{"two artifacts in turns", "1.0", interleaved},
		{"thoughts", "0.3", named(thought, messageID)},
		{"metadata that differs", "1.0", metadata},
	}
}

// interleaved are events of two artifacts, in turns.
func interleaved(i int, text string) []byte {
	b := artifactV1(i, text)
	if i%2 == 1 {
		b = bytes.Replace(b, []byte(artifactID), []byte("1"+artifactID[1:]), 1)
	}
	return b
}

// kinds measures what an event of each kind costs, 64 a write, beside one of a text that grows.
func (h *harness) kinds(ctx context.Context) error {
	h.printf("kinds: µs of CPU an event, 64 a write, and beside the first\n")
	const rounds = 100
	costs := map[string][]float64{}
	for range h.rounds {
		for _, k := range kinds() {
			var events [][]byte
			for i := range ringSize {
				events = append(events, k.event(i, text(i, textSize+len(place), false)[len(place):]))
			}
			s := newScript(k.version, events, 64, rounds)
			s.fresh = true
			m, err := h.play(ctx, modeBridge, &Scenario{Name: k.name, sessions: 1}, s)
			if err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
			costs[k.name] = append(costs[k.name], us(m.cpu)/float64(len(events)*rounds))
		}
	}
	for _, k := range kinds() {
		cost := median(costs[k.name])
		h.printf("  %-24s %8.2f %6.1f x\n", k.name, cost, cost/median(costs[kinds()[0].name]))
	}
	return nil
}
