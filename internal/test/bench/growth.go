package bench

import (
	"bytes"
	"context"
	"fmt"
	"strings"
)

// A growth is a manner in which a turn grows.
type growth struct {
	name, version string
	events        [][]byte // of one write; their ID is another one in each
}

// fresh is an ID that each write has a new value of.
var fresh = string(stampMark) + strings.Repeat("0", stampDigits)

func growths() []growth {
	renamed := func(event []byte, id string) [][]byte {
		return [][]byte{bytes.Replace(event, []byte(id), []byte(fresh), 1)}
	}
	call := func(status string) []byte { return toolEvent(fresh, "m"+fresh, status, "") }
	return []growth{
		{"one text", "1.0", [][]byte{artifactV1(0, text(0, textSize, false))}},
		{"messages", "0.3", renamed(statusV03(0, text(0, textSize, false)), messageID)},
		{"artifacts", "1.0", renamed(artifactV1(0, text(0, textSize, false)), artifactID)},
		{"tool calls", "0.3", [][]byte{call("executing"), call("success")}},
	}
}

// growth measures turns of a thousand to a million events: what an event costs, and memory,
// should stay as they are.
func (h *harness) growth(ctx context.Context) error {
	sizes := pick(h, []int{1e3, 1e4, 1e5, 1e6}, []int{100, 1000})
	h.printf("growth: µs of CPU an event, and MiB at most, in a turn of so many events\n  %-10s", "")
	for _, n := range sizes {
		h.printf(" %18d", n)
	}
	h.printf("\n")
	for _, g := range growths() {
		start, err := h.turn(ctx, &g, 1)
		if err != nil {
			return err
		}
		h.printf("  %-10s", g.name)
		for _, n := range sizes {
			m, err := h.turn(ctx, &g, n/len(g.events))
			if err != nil {
				return fmt.Errorf("%s: %d events: %w", g.name, n, err)
			}
			h.printf(" %8.1f %6.1f MiB", max(0, us(m.cpu-start.cpu)/float64(n)), mib(m.peak))
		}
		h.printf("\n")
	}
	return nil
}

// turn runs a turn of so many writes.
func (h *harness) turn(ctx context.Context, g *growth, writes int) (*measurement, error) {
	s := newScript(g.version, g.events, len(g.events), writes)
	s.fresh = true
	m, _, err := h.play(ctx, modeBridge, &Scenario{Name: g.name, sessions: 1}, s, false)
	return m, err
}
