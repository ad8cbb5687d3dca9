package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// A turnTime has both delays of a turn, in microseconds.
type turnTime struct {
	request float64 // from the editor's line to the request at the agent
	shown   float64 // from the agent's first words to the line at the editor
}

// turns measures the two delays of a turn that a user may feel: until the agent gets
// the request, and until its first words appear. The baseline sends a request for each
// line, and copies the response.
func (h *harness) turns(ctx context.Context) error {
	n := 300
	if h.short {
		n = 10
	}
	of := map[string][2][]float64{}
	modes := []string{modeTurns, modeBridge}
	for round := range h.rounds {
		for i := range modes {
			mode := modes[(round+i)%len(modes)]
			times, err := h.runner.turns(ctx, mode, n)
			if err != nil {
				return err
			}
			var requests, shown []float64
			for _, t := range times {
				requests, shown = append(requests, t.request), append(shown, t.shown)
			}
			all := of[mode]
			of[mode] = [2][]float64{append(all[0], median(requests)), append(all[1], median(shown))}
		}
	}
	h.printf("turns: microseconds of %d turns, medians\n  %-8s %20s %28s\n", n, "", "prompt to request", "first words to the line")
	for _, mode := range modes {
		h.printf("  %-8s %20.0f %28.0f\n", mode, median(of[mode][0]), median(of[mode][1]))
	}
	over := func(i int) float64 {
		var values []float64
		for round := range of[modeBridge][i] {
			values = append(values, of[modeBridge][i][round]-of[modeTurns][i][round])
		}
		return median(values)
	}
	h.printf("  %-8s %+20.0f %+28.0f\n\n", "over", over(0), over(1))
	return nil
}

// turns runs turns with one process.
func (r *runner) turns(ctx context.Context, mode string, n int) (times []turnTime, err error) {
	s := newScript("1.0", small(artifactV1, 1, false), 1, 1)
	r.agent.play(s, 1)
	p, err := r.start(ctx, mode, 1)
	if err != nil {
		return nil, err
	}
	defer p.cancel()
	line, ended := "go", string(s.end)
	if mode == modeBridge {
		if err := p.initialize(); err != nil {
			return nil, err
		}
		id, err := p.session(2, r.dir)
		if err != nil {
			return nil, err
		}
		line = promptLine(3, id)
		ended = replied
	}
	for range n {
		r.agent.play(s, 1)
		began, shown := time.Now(), time.Time{}
		if err := p.say(line); err != nil {
			return nil, err
		}
		for {
			b, err := p.lines.ReadBytes('\n')
			if err != nil {
				return nil, fmt.Errorf("%s: %w: %s", mode, err, p.errors)
			}
			if shown.IsZero() && bytes.IndexByte(b, mark) >= 0 {
				shown = time.Now()
			}
			if bytes.Contains(b, []byte(ended)) {
				break
			}
		}
		asked, said := time.Unix(0, r.agent.asked.Load()), time.Unix(0, r.agent.start.Load())
		times = append(times, turnTime{float64(asked.Sub(began).Nanoseconds()) / 1e3, float64(shown.Sub(said).Nanoseconds()) / 1e3})
	}
	return times[min(n/10, 20):], p.stop() // the first ones open connections
}

// eachLine is the baseline: a request for each line.
func eachLine(url string, stdin io.Reader, stdout io.Writer) error {
	client := &http.Client{Transport: &http.Transport{ReadBufferSize: baselineBuffer, DisableCompression: true}}
	for in := bufio.NewScanner(stdin); in.Scan(); {
		resp, err := client.Post(url, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{}}`))
		if err != nil {
			return err
		}
		_, err = io.Copy(stdout, resp.Body)
		_ = resp.Body.Close() // it has been read
		if err != nil {
			return err
		}
	}
	return nil
}

// load measures session/load of a conversation of 100,000 events.
func (h *harness) load(ctx context.Context) error {
	rounds := 98
	if h.short {
		rounds = 1
	}
	s := newScript("1.0", small(artifactV1, ringSize, false), 64, rounds)
	h.runner.agent.play(s, 1)
	p, err := h.runner.start(ctx, modeBridge, 1)
	if err != nil {
		return err
	}
	defer p.cancel()
	if err := p.initialize(); err != nil {
		return err
	}
	id, err := p.session(2, h.runner.dir)
	if err != nil {
		return err
	}
	if _, err := p.ask(3, promptLine(3, id)); err != nil {
		return err
	}
	var took, cpu []float64
	size := 0
	for i := range h.rounds {
		before, _ := activity(p.cmd.Process.Pid)
		began := time.Now()
		if err := p.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/load","params":{"sessionId":%q,"cwd":%q,"mcpServers":[]}}`, 4+i, id, h.runner.dir)); err != nil {
			return err
		}
		for size = 0; ; {
			b, err := p.lines.ReadBytes('\n')
			if err != nil {
				return fmt.Errorf("%w: %s", err, p.errors)
			}
			if size += len(b); gjson.GetBytes(b, "id").Int() == int64(4+i) {
				break
			}
		}
		took = append(took, float64(time.Since(began).Nanoseconds())/1e6)
		after, _ := activity(p.cmd.Process.Pid)
		cpu = append(cpu, float64((after-before).Nanoseconds())/1e6)
	}
	h.printf("load: session/load of a conversation of %d events: %.1f ms, %.1f ms of CPU, %.1f MB to the editor; %.1f ms at least\n\n",
		s.events*s.rounds, median(took), median(cpu), float64(size)/1e6, slices.Min(took))
	return p.stop()
}
