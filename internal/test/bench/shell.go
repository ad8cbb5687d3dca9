package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// Modes of a shell: one turn of send, in each format.
const (
	modeText   = "send"
	modeJSON   = "send -o json"
	modeEvents = "send -o events"
	modeStream = "send -o json --stream"
)

// shellScripts are the scripts for send.
func shellScripts() []Scenario {
	return []Scenario{
		{Name: "shell", About: "1.x artifact updates, 200 bytes of text in 517, 64 a write", sessions: 1, script: smallScript("1.0", artifactV1, 64, 200, false)},
		{Name: "shell-messages", About: "40,000 messages of 200 bytes", sessions: 1, script: manyScript("1.0", statusV1, messageID, 40_000)},
		{Name: "shell-artifacts", About: "40,000 artifacts of 200 bytes", sessions: 1, script: manyScript("1.0", artifactV1, artifactID, 40_000)},
		{Name: "shell-200MB", About: "200 events of 1 MiB of text", Big: true, sessions: 1, script: bigScript(1<<20, 4, 50)},
	}
}

// manyScript has events with an ID each.
func manyScript(version string, event func(int, string) []byte, id string, n int) func(bool) (*script, error) {
	return func(short bool) (*script, error) {
		if short {
			n = 200
		}
		payloads := small(event, n, false)
		for i, p := range payloads {
			payloads[i] = bytes.Replace(p, []byte(id), fmt.Appendf(nil, "%s%08d", id[:len(id)-8], i), 1)
		}
		return newScript(version, payloads, 64, 1), nil
	}
}

// shell compares the formats of send with a frame scan of the same events.
func (h *harness) shell(ctx context.Context) error {
	for _, sc := range shellScripts() {
		if !h.wants(sc.Name) {
			continue
		}
		s, err := sc.script(h.short)
		if err != nil {
			return err
		}
		modes := []string{modeFrames, modeText, modeJSON, modeStream, modeEvents}
		all := map[string][]*measurement{}
		for round := range h.rounds {
			for i := range modes {
				mode := modes[(round+i)%len(modes)]
				m, err := h.runner.shell(ctx, mode, &sc, s)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", sc.Name, mode, err)
				}
				all[mode] = append(all[mode], m)
			}
		}
		h.reportShell(&sc, s, modes, all)
	}
	return nil
}

func (h *harness) reportShell(sc *Scenario, s *script, modes []string, all map[string][]*measurement) {
	events := float64(s.events * s.rounds)
	h.printf("%s: %s\n  %-22s %12s %10s %8s %9s\n", sc.Name, sc.About, "", "µs CPU/event", "of frames", "of send", "peak MiB")
	for _, mode := range modes {
		var cpu, frames, text, peak []float64
		for i, m := range all[mode] {
			cpu = append(cpu, float64(m.cpu.Nanoseconds())/1e3/events)
			frames = append(frames, float64(m.cpu)/float64(all[modeFrames][i].cpu))
			text = append(text, float64(m.cpu)/float64(all[modeText][i].cpu))
			peak = append(peak, float64(m.peak)/(1<<20))
		}
		h.printf("  %-22s %12.2f %10.2f %8.2f %9.1f\n", mode, median(cpu), median(frames), median(text), median(peak))
	}
	h.printf("\n")
}

// shell gives a script to send once. Its marks are counted: a document repeats the last
// message, in the status.
func (r *runner) shell(ctx context.Context, mode string, sc *Scenario, s *script) (*measurement, error) {
	if mode == modeFrames {
		m, _, err := r.run(ctx, mode, sc, s, false)
		return m, err
	}
	r.agent.play(s, 1)
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	args := append(append([]string{"--agent", r.agent.URL}, strings.Fields(mode)...), "go")
	program := r.bridge
	if program == "" {
		program, args = r.self, append([]string{modeShell}, args...)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+r.state, "LocalAppData="+r.state, childEnv+"=1")
	errors := new(strings.Builder)
	cmd.Stderr = errors
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	m, buf := &measurement{}, make([]byte, sinkBuffer)
	for {
		n, err := out.Read(buf)
		m.marks += bytes.Count(buf[:n], []byte{mark})
		m.bytes += int64(n)
		if _, peak := memory(cmd.Process.Pid); peak > m.peak && n > 0 {
			m.peak = peak
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, errors)
	}
	m.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if want := s.marks * s.rounds; m.marks < want {
		return nil, fmt.Errorf("%d marks have come, not %d: %s", m.marks, want, errors)
	}
	return m, nil
}
