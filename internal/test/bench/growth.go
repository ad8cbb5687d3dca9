package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
)

// A growth is a manner in which a turn grows.
type growth struct {
	name, version string
	events        [][]byte // of one write; their ID is another one in each
}

func growths() []growth {
	renamed := func(event []byte, id string) [][]byte {
		return [][]byte{bytes.Replace(event, []byte(id), []byte(place), 1)}
	}
	call := func(status string) []byte { return toolEvent(place, "m"+place, status) }
	return []growth{
		{"one text", "1.0", [][]byte{artifactV1(0, text(0, textSize, false))}},
		{"messages", "0.3", renamed(statusV03(0, text(0, textSize, false)), messageID)},
		{"artifacts", "1.0", renamed(artifactV1(0, text(0, textSize, false)), artifactID)},
		{"tool calls", "0.3", [][]byte{call("executing"), call("success")}},
	}
}

// grown is what an event costs in a turn of n, and the memory at most.
type grown struct {
	n       int
	us, mib float64
}

// growth measures turns of a thousand to a million events: what an event costs, and memory,
// should stay as they are.
func (h *harness) growth(ctx context.Context) error {
	sizes := []int{1e3, 1e4, 1e5, 1e6}
	h.printf("growth: µs of CPU an event, and MiB at most, in a turn of so many events\n  %-10s", "")
	for _, n := range sizes {
		h.printf(" %18d", n)
	}
	h.printf("\n")
	all := map[string][]grown{}
	var names []string
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
			p := grown{n, max(0, us(m.cpu-start.cpu)/float64(n)), mib(m.peak)}
			all[g.name] = append(all[g.name], p)
			h.printf(" %8.1f %6.1f MiB", p.us, p.mib)
		}
		names = append(names, g.name)
		h.printf("\n")
	}
	if err := h.together(ctx); err != nil || h.picture == "" {
		return err
	}
	return os.WriteFile(h.picture, drawGrowth(names, all), 0o644)
}

// together measures as many events in one session, and in many at once.
func (h *harness) together(ctx context.Context) error {
	const most = 256
	h.printf("  the same for %d events, one a write, in so many sessions at once\n", most*ringSize)
	for n := 1; n <= most; n *= 4 {
		s := newScript("1.0", small(artifactV1, ringSize, false), 1, most/n)
		m, err := h.play(ctx, modeBridge, &Scenario{Name: "sessions", sessions: n}, s)
		if err != nil {
			return fmt.Errorf("%d sessions: %w", n, err)
		}
		h.printf("  %-10d %8.1f %6.1f MiB\n", n, us(m.cpu)/float64(most*ringSize), mib(m.peak))
	}
	return nil
}

// turn runs a turn of so many writes.
func (h *harness) turn(ctx context.Context, g *growth, writes int) (*measurement, error) {
	s := newScript(g.version, g.events, len(g.events), writes)
	s.fresh = true
	return h.play(ctx, modeBridge, &Scenario{Name: g.name, sessions: 1}, s)
}

// drawGrowth draws the figures as SVG: a panel for the time, and one for memory.
func drawGrowth(names []string, all map[string][]grown) []byte {
	const width, height, left, top, plot = 380, 230, 46, 34, 220
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n", 2*width, height)
	b.WriteString(`<style>text{fill:#333}.axis{stroke:#999}path{fill:none;stroke-width:2}@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>` + "\n")
	colours := []string{"#2a78d6", "#d0642a", "#2f9e5b", "#9a4fc0"}
	for panel, about := range []string{"µs of CPU an event", "MiB at most"} {
		value := func(p grown) float64 { return []float64{p.us, p.mib}[panel] }
		most := 0.0
		for _, name := range names {
			for _, p := range all[name] {
				most = max(most, value(p))
			}
		}
		x0, y0 := panel*width+left, height-30
		at := func(i int, v float64) (int, int) {
			return x0 + i*plot/max(1, len(all[names[0]])-1), y0 - int(v/most*float64(y0-top))
		}
		fmt.Fprintf(&b, `<text x="%d" y="20">%s, in a turn of so many events</text><path class="axis" d="M%d %dV%dH%d"/>`+"\n", x0, about, x0, top, y0, x0+plot)
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%.0f</text><text x="%d" y="%d" text-anchor="end">0</text>`+"\n", x0-6, top+8, most, x0-6, y0)
		for i, p := range all[names[0]] {
			x, _ := at(i, 0)
			fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">%d</text>`+"\n", x, y0+18, p.n)
		}
		for k, name := range names {
			fmt.Fprintf(&b, `<path stroke="%s" d="`, colours[k%len(colours)])
			for i, p := range all[name] {
				x, y := at(i, value(p))
				fmt.Fprintf(&b, "%s%d %d", "ML"[min(i, 1):min(i, 1)+1], x, y)
			}
			fmt.Fprintf(&b, `"/><text x="%d" y="%d" style="fill:%s">%s</text>`+"\n", x0+plot+8, top+12+16*k, colours[k%len(colours)], name)
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}
