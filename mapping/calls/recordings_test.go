package calls

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// geminiReader is what of Gemini's server is needed here: package mapping has all of it.
type geminiReader struct{ Reader }

func (geminiReader) CallID(data Object) (string, bool) {
	id := gjson.Get(data.Get("request"), "callId").Str
	return id, id != "" && data.Has("status")
}

func (geminiReader) Question(string, *ToolCall) bool { return false }

func (geminiReader) Repeats() string { return "tool" }

func (geminiReader) ToolCall(data Object, c *ToolCall) {
	c.Name = gjson.Get(data.Get("request"), "name").Str
	c.Input = a2a.JSON(gjson.Get(data.Get("request"), "args").Raw)
	status := StringOf(data.Get("status"))
	c.Status = map[string]Status{"validating": Pending, "scheduled": Pending, "awaiting_approval": Pending, "executing": Executing,
		"success": Succeeded, "error": Failed, "cancelled": Cancelled}[status]
	if details := data.Get("confirmationDetails"); details != "" {
		c.Confirmation = &Confirmation{Unread: a2a.JSON(details)}
	}
	c.Asks = status == "awaiting_approval" && !data.Has("outcome")
	if c.Status.Ended() {
		c.Output = &Output{Data: a2a.JSON(data.Get("response"))}
	}
}

func (geminiReader) OutputSoFar(a *a2a.Artifact) (string, Sent, bool) {
	id, found := strings.CutPrefix(a.ID, "tool-")
	id, ok := strings.CutSuffix(id, "-output")
	return id, Sent{Text: a.Name}, found && ok
}

// An op is one thing of a recording, in order: a prompt, answers, or an event.
type op struct {
	request int64
	prompt  bool
	answers []string
	event   gjson.Result
}

func readOps(t *testing.T, file string) (ops []op) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	newest := int64(0)
	for line := range strings.Lines(string(data)) {
		m := gjson.Parse(line)
		o := op{request: m.Get("req").Int()}
		switch {
		case m.Get("request").Exists():
			newest = max(newest, o.request)
			for _, p := range m.Get("body.params.message.parts").Array() {
				if id := p.Get("data.callId"); id.Exists() {
					o.answers = append(o.answers, id.Str)
				}
			}
			if o.prompt = o.answers == nil && strings.HasPrefix(m.Get("body.method").Str, "message/"); !o.prompt && o.answers == nil {
				continue
			}
		case m.Get("data.result").IsObject() && o.request == newest:
			o.event = m.Get("data.result")
		case m.Get("body.result.kind").Str == "task":
			o.event = m.Get("body.result")
		default:
			continue
		}
		ops = append(ops, o)
	}
	return ops
}

// A recordingPlayer plays them.
type recordingPlayer struct {
	*Calls
	steps     []Step
	questions map[string]bool
}

func newRecordingPlayer() *recordingPlayer {
	p := &recordingPlayer{Calls: New(), questions: map[string]bool{}}
	p.Speak(1, geminiReader{}, true)
	return p
}

func (p *recordingPlayer) play(o op) {
	switch {
	case o.prompt:
		p.Begin()
	case o.answers != nil:
		for _, id := range o.answers {
			p.Answered(id, true)
		}
	case o.event.Get("kind").Str == "task":
		p.snapshot(o.event.Get("id").Str, append(o.event.Get("history").Array(), o.event.Get("status.message")), o.event.Get("artifacts").Array(), o.event.Get("status.state").Str)
	default:
		if id := o.event.Get("taskId").Str; id != "" {
			p.Enter(id)
		}
		p.message(o.event.Get("status.message"))
		p.artifact(o.event.Get("artifact"))
		p.ends(o.event.Get("status.state").Str)
	}
}

func (p *recordingPlayer) message(m gjson.Result) {
	for _, part := range m.Get("parts").Array() {
		if data := part.Get("data"); data.IsObject() && m.Get("role").Str != "user" {
			p.steps, _ = p.Data(data.Raw, m.Get("messageId").Str, Live, nil, p.steps)
		}
	}
}

func (p *recordingPlayer) artifact(a gjson.Result) {
	if parts := a.Get("parts").Array(); len(parts) > 0 {
		p.steps, _ = p.Artifact(&a2a.Artifact{ID: a.Get("artifactId").Str, Name: parts[len(parts)-1].Get("text").Str}, Live, nil, p.steps)
	}
}

func (p *recordingPlayer) ends(state string) {
	p.State(a2a.State(state))
	if state == "input-required" {
		p.steps = p.AskNewest(true, p.steps)
	}
	for _, call := range p.Open() {
		p.questions[fmt.Sprint(call.Shown, p.task.calls[call.ID].Questions)] = true
	}
}

func (p *recordingPlayer) snapshot(task string, history, artifacts []gjson.Result, state string) {
	p.Enter(task)
	p.Snapshot(func(yield func(string) bool) {
		for _, m := range history {
			if m.Get("role").Str != "user" && !yield(m.Get("messageId").Str) {
				return
			}
		}
	})
	for _, m := range history {
		p.message(m)
	}
	for _, a := range artifacts {
		p.artifact(a)
	}
	p.EndSnapshot()
	p.ends(state)
}

// view is what the user has at the end.
func (p *recordingPlayer) view() string {
	var l []string
	for _, one := range p.list {
		l = append(l, fmt.Sprint(one.task.id, one.Shown, one.Status, one.Open(), one.OutputSoFar, one.ended))
	}
	return strings.Join(l, "\n")
}

// TestRecordings plays what Gemini's server has said, whole and cut behind each event: what
// the task holds then, as that server would, makes up for what was not heard.
func TestRecordings(t *testing.T) {
	files, err := filepath.Glob("../../testdata/recordings/gemini/*/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	calls, questions, cuts := 0, 0, 0
	for _, file := range files {
		ops := readOps(t, file)
		p := newRecordingPlayer()
		for _, o := range ops {
			p.play(o)
		}
		for i, s := range p.steps {
			if s.New {
				calls++
			}
			if j := slices.IndexFunc(p.steps[i+1:], func(x Step) bool { return x.Call.Shown == s.Call.Shown }); j >= 0 {
				if next := p.steps[i+1+j].Call; next.Status.rank() < s.Call.Status.rank() && !next.Asks {
					t.Errorf("%s: call %s goes back to %s", file, next.Shown, next.Status)
				}
			}
		}
		questions += len(p.questions)
		for i := range ops {
			if ops[i].event.Get("kind").Str == "status-update" || ops[i].event.Get("kind").Str == "artifact-update" {
				cuts += cutRecording(t, file, ops, i)
			}
		}
	}
	if calls != 25 || questions != 21 {
		t.Errorf("%d calls and %d questions, want 25 and 21", calls, questions)
	}
	if cuts < 200 {
		t.Errorf("only %d cuts", cuts)
	}
	t.Log(cuts, "cuts")
}

// cutRecording loses the events of a request behind the one at i, and shows the task then.
func cutRecording(t *testing.T, file string, ops []op, i int) int {
	end := i + 1
	for end < len(ops) && ops[end].event.Exists() && ops[end].request == ops[i].request && ops[end].event.Get("kind").Str != "task" {
		end++
	}
	if end == i+1 {
		return 0
	}
	want, got := newRecordingPlayer(), newRecordingPlayer()
	task := ops[i].event.Get("taskId").Str
	var history []gjson.Result
	var artifacts []gjson.Result
	state := ""
	for k, o := range ops[:end] {
		want.play(o)
		if k <= i {
			got.play(o)
		}
		if o.event.Get("taskId").Str != task {
			continue
		}
		if m := o.event.Get("status.message"); m.Exists() {
			history = append(history, m)
		}
		if s := o.event.Get("status.state").Str; s != "" {
			state = s
		}
		if a := o.event.Get("artifact"); a.Exists() {
			artifacts = append(artifacts, a)
		}
	}
	got.snapshot(task, history, artifacts, state)
	if g, w := got.view(), want.view(); g != w {
		t.Errorf("%s, cut behind %d\n got %.400s\nwant %.400s", filepath.Base(file), i, g, w)
	}
	for q := range got.questions {
		if !want.questions[q] {
			t.Errorf("%s, cut behind %d: %s is asked", filepath.Base(file), i, q)
		}
	}
	return 1
}
