package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// runLimit ends a run that has lost something, or hangs.
const runLimit = 2 * time.Minute

// A measurement is the result of one process with one script.
type measurement struct {
	took   time.Duration // from the first event's write to the last mark's arrival
	cpu    time.Duration // of the child, with its start
	marks  int           // marks that arrived
	bytes  int64         // bytes for the editor
	peak   int64         // bytes of memory
	delays []time.Duration
}

// command is the child for a mode.
func (h *harness) command(ctx context.Context, mode string) *exec.Cmd {
	program, args := h.self, []string{mode, h.agent.URL}
	if serves(mode) {
		args = []string{modeBridge, "--agent", h.agent.URL}
		if mode == modeTraced {
			args = append(args, "--trace", filepath.Join(h.dir, "trace.jsonl"))
		}
		if h.bridge != "" {
			program, args = h.bridge, args[1:]
		}
	}
	cmd := exec.CommandContext(ctx, program, args...)
	state := filepath.Join(h.dir, "state") // not the user's
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state, "LocalAppData="+state, childEnv+"=1", profileEnv+"="+h.profile)
	return cmd
}

// serves reports whether a mode is the bridge.
func serves(mode string) bool { return mode == modeBridge || mode == modeTraced }

// childEnv tells our own executable that it is a child, profileEnv where the bridge in it writes a profile.
const (
	childEnv   = "A2ABENCH_CHILD"
	profileEnv = "A2ABENCH_PROFILE"
)

// IsChild reports whether this process was started by a harness.
func IsChild() bool { return os.Getenv(childEnv) != "" }

// A process is a child that runs.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.Reader
	lines  *bufio.Reader // of out; only setup reads by it
	errors *strings.Builder
	cancel context.CancelFunc
}

func (h *harness) start(ctx context.Context, mode string) (*process, error) {
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	p := &process{cmd: h.command(ctx, mode), errors: new(strings.Builder), cancel: cancel}
	p.cmd.Stderr = p.errors
	var err error
	if p.in, err = p.cmd.StdinPipe(); err == nil {
		var out io.ReadCloser
		if out, err = p.cmd.StdoutPipe(); err == nil {
			p.out, p.lines = out, bufio.NewReader(out)
			err = p.cmd.Start()
		}
	}
	if err != nil {
		cancel()
		return nil, err
	}
	return p, nil
}

// stop ends the child by the end of its input.
func (p *process) stop() error {
	defer p.cancel()
	_ = p.in.Close()                  // a child that has ended has closed it
	_, _ = io.Copy(io.Discard, p.out) // until it closes stdout
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(p.cmd.Path), err, p.errors)
	}
	return nil
}

func (p *process) say(line string) error {
	_, err := io.WriteString(p.in, line+"\n")
	return err
}

// answer reads lines until the reply to request id.
func (p *process) answer(id int) (gjson.Result, error) {
	for {
		line, err := p.lines.ReadString('\n')
		if err != nil {
			return gjson.Result{}, fmt.Errorf("waiting for reply %d: %w: %s", id, err, p.errors)
		}
		switch r := gjson.Parse(line); {
		case r.Get("method").Exists() || r.Get("id").Int() != int64(id):
		case r.Get("error").Exists():
			return r, errors.New(line)
		default:
			return r.Get("result"), nil
		}
	}
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`

// ask writes request id and reads lines until its reply.
func (p *process) ask(id int, line string) (gjson.Result, error) {
	if err := p.say(line); err != nil {
		return gjson.Result{}, err
	}
	return p.answer(id)
}

// session opens a session.
func (p *process) session(id int, dir string) (string, error) {
	r, err := p.ask(id, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`, id, dir))
	return r.Get("sessionId").Str, err
}

// promptLine is the request of a prompt.
func promptLine(id int, session string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"go"}]}}`, id, session)
}

// open begins ACP and opens sessions, by requests from 1 on.
func (p *process) open(sessions int, dir string) (ids []string, err error) {
	_, err = p.ask(1, initialize)
	for i := 0; i < sessions && err == nil; i++ {
		var id string
		id, err = p.session(2+i, dir)
		ids = append(ids, id)
	}
	return ids, err
}

// play gives a script to a child, once for each session.
func (h *harness) play(ctx context.Context, mode string, sc *Scenario, s *script) (*measurement, error) {
	h.agent.play(s, sc.sessions)
	p, err := h.start(ctx, mode)
	if err != nil {
		return nil, err
	}
	defer p.cancel()
	end := &sink{wantMarks: s.marks * s.rounds * sc.sessions, stamps: s.pace > 0}
	prompts := strings.Repeat("go\n", sc.sessions)
	if serves(mode) {
		end.wantReplies = sc.sessions
		ids, err := p.open(sc.sessions, h.dir)
		if err != nil {
			return nil, err
		}
		prompts = ""
		for i, id := range ids {
			prompts += promptLine(10000+i, id) + "\n"
		}
	}
	if _, err := io.WriteString(p.in, prompts); err != nil {
		return nil, err
	}
	if err := end.run(slowReader{p.lines, sc.slow}); err != nil {
		return nil, fmt.Errorf("%s, %s: %d of %d marks and %d replies have come: %w: %s", sc.Name, mode, end.marks, end.wantMarks, end.replies, err, p.errors)
	}
	m := &measurement{marks: end.marks, bytes: end.bytes, delays: end.delays, took: end.done.Sub(time.Unix(0, h.agent.start.Load()))}
	_, m.peak = memory(p.cmd.Process.Pid)
	if err := p.stop(); err != nil {
		return nil, err
	}
	m.cpu = p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
	if m.marks != end.wantMarks {
		return nil, fmt.Errorf("%s, %s: %d marks have come, not %d", sc.Name, mode, m.marks, end.wantMarks)
	}
	return m, nil
}
