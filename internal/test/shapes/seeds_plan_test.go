package shapes

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/agent"
	"github.com/a2astdio/a2astdio/internal/test/editor"
)

// A Replay names a world: its seed, and the labels of what was taken out.
type Replay struct {
	Seed uint64
	Out  []string
}

func (r Replay) String() string {
	return strings.TrimSpace(fmt.Sprint(r.Seed, " ", strings.Join(r.Out, " ")))
}

// ParseReplay reads what String has written.
func ParseReplay(s string) (r Replay, err error) {
	f := strings.Fields(s)
	if len(f) == 0 {
		return r, fmt.Errorf("a replay begins with a seed")
	}
	r.Seed, err = strconv.ParseUint(f[0], 10, 64)
	r.Out = f[1:]
	return r, err
}

// A Plan is a world: an agent, its conversation with one user, and the faults.
type Plan struct {
	Replay
	editor.Protocol
	Shape  Shape
	Script *agent.Script
	Turns  []*Turn
	// Labels are what can be taken out.
	Labels []string
}

// A Turn is what happens in one.
type Turn struct {
	Texts    []string // that the agent says, in their order
	Thoughts []string
	Act      Act
	Think    time.Duration // the user's, at a question
	Faults   []agent.Fault
}

// An Act is what the user does behind so many steps of the turn.
type Act struct {
	Kind  ActKind
	Steps int
	After time.Duration
}

// ActKind is what the user does.
type ActKind uint8

const (
	None      ActKind = iota
	Cancel            // cancels the turn
	Leave             // ends the editor
	Kill              // kills the bridge, and loads the session again
	Terminate         // ends the bridge by a signal
)

// has reports whether a part of the plan is in it, and notes its label.
func (p *Plan) has(label string, percent int) bool {
	if p.draw(label).IntN(100) >= percent || slices.Contains(p.Out, label) {
		return false
	}
	p.Labels = append(p.Labels, label)
	return true
}

// draw is a source of chance for one decision: what is taken out changes no other.
func (p *Plan) draw(label string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(label)) // never fails
	return rand.New(rand.NewPCG(p.Seed, h.Sum64()))
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// Generate makes the world of a replay.
func Generate(r Replay) *Plan {
	p := &Plan{Replay: r}
	d := p.draw("agent")
	switch {
	case p.has("lines", 35):
		p.Protocol = editor.Lines
	case p.has("acp2", 50):
		p.Protocol = editor.ACP2
	}
	s := Shape{Carrier: pick(d, "task", "status", "status", "artifact"), Form: pick(d, "delta", "delta", "cumulative", "whole", "pieces+whole"),
		IDs: pick(d, "token", "message", "message"), History: pick(d, "none", "ours", "ours", "all"), Tokens: "words"}
	if s.Carrier == "artifact" && s.Form != "whole" {
		s.IDs = "message"
	}
	p.Shape = s
	p.Script = &agent.Script{V1: p.has("1.0", 50), Extensions: []string{agent.DevTool}, History: Histories[s.History]}
	if p.has("get", 15) {
		p.Script.Get = pick(p.draw("which get"), agent.GetSlow, agent.GetStale, agent.GetFails, agent.GetMissing)
	}
	if p.has("subscribe", 30) {
		p.Script.Subscribe = pick(p.draw("which subscribe"), agent.SubscribeEvents, agent.SubscribeRefused, agent.SubscribeMissing, agent.SubscribeSilent)
	}
	if p.has("tells", 20) {
		p.Script.Tells = pick(p.draw("which tells"), agent.TellNewest, agent.TellFirst)
	}
	if p.has("cancel refused", 5) {
		p.Script.Cancel = pick(p.draw("which cancel"), agent.CancelRefused, agent.CancelMissing, agent.CancelHangs)
	}
	voice := NewVoice(s)
	for n := range 1 + d.IntN(3) {
		if label := fmt.Sprintf("turn%d", n); n == 0 || p.has(label, 100) {
			p.turn(n, voice)
		}
	}
	return p
}

// turn draws a turn.
func (p *Plan) turn(n int, voice *Voice) {
	name := func(what string) string { return fmt.Sprintf("%d.%s", n, what) }
	t, ends := &Turn{}, agent.Completed
	story := &agent.Turn{Prompt: fmt.Sprintf("question %d", n), Steps: []*agent.Step{{Kind: agent.TaskEvent, State: agent.Submitted}}}
	add := func(steps ...*agent.Step) { story.Steps = append(story.Steps, steps...) }
	d := p.draw(name("story"))
	answers := slices.Clone(Sentences[p.draw("language").IntN(len(Sentences))][:3])
	d.Shuffle(3, func(i, j int) { answers[i], answers[j] = answers[j], answers[i] })
	for i := range 1 + d.IntN(4) {
		label := name(fmt.Sprint("act", i))
		if !p.has(label, 100) {
			continue
		}
		r := p.draw(label + " which")
		id := fmt.Sprintf("q%d%d", n, i)
		switch r.IntN(10) {
		case 0:
			add(agent.Think("thought-"+id, "Thought "+id))
			t.Thoughts = append(t.Thoughts, "Thought "+id)
		case 1:
			add(agent.Run(id, "tool-"+id, "out")...)
		case 2, 3:
			p.question(story, r, id)
		case 4:
			add(&agent.Step{State: agent.AuthRequired}, &agent.Step{State: agent.Working, After: 2 * time.Second})
		case 5:
			add(&agent.Step{State: agent.Working, After: time.Duration(r.IntN(40)) * time.Second})
		default:
			if len(answers) == 0 {
				continue
			}
			text := answers[0]
			answers = answers[1:]
			t.Texts = append(t.Texts, text)
			add(voice.Say(text)...)
		}
	}
	if p.has(name("end"), 40) {
		ends = pick(p.draw(name("which end")), agent.InputRequired, agent.InputRequired, agent.Failed, agent.Rejected)
	}
	end := agent.Done(ends)
	if ends == agent.Failed || ends == agent.Rejected {
		end.Message = &agent.Message{ID: name("why"), Parts: agent.Text("Why.")}
	}
	if p.Shape.Carrier == "task" && end.Message == nil {
		end.Kind = agent.TaskEvent
	}
	add(end)
	p.disturb(n, t, story)
	p.Turns, p.Script.Turns = append(p.Turns, t), append(p.Script.Turns, story)
}

// question adds one or two questions, and what follows their answers.
func (p *Plan) question(story *agent.Turn, r *rand.Rand, id string) {
	ids := []string{id}
	if r.IntN(3) == 0 {
		ids = append(ids, id+"b")
	}
	for i, id := range ids {
		ask := agent.Ask(agent.Working, id, "tool-"+id)
		if i > 0 {
			ask.After = pick(r, 0, 100*time.Millisecond, 700*time.Millisecond)
		}
		story.Steps = append(story.Steps, ask)
	}
	wait := &agent.Step{Kind: agent.Nothing, Waits: true, Asks: ids}
	if r.IntN(3) > 0 {
		wait = &agent.Step{State: agent.InputRequired, Final: true, Waits: true, Asks: ids, Ends: true}
	}
	story.Steps = append(story.Steps, wait)
	for _, id := range ids {
		story.Steps = append(story.Steps, agent.Run(id, "tool-"+id, "out")...)
	}
}

// disturb draws the faults of a turn, and what the user does in it.
func (p *Plan) disturb(n int, t *Turn, story *agent.Turn) {
	name := func(what string) string { return fmt.Sprintf("%d.%s", n, what) }
	streams := []int{0} // their events
	for _, s := range story.Steps {
		if s.Kind != agent.Nothing {
			streams[len(streams)-1]++
		}
		if s.Waits {
			streams = append(streams, 0)
		}
	}
	if p.has(name("fault"), 50) {
		d := p.draw(name("which fault"))
		stream := d.IntN(len(streams))
		f := agent.Fault{Stream: stream, Events: d.IntN(streams[stream] + 1), Kind: pick(d, agent.Cut, agent.Cut, agent.Cut, agent.End, agent.Stall, agent.Stall, agent.Lost, agent.Unsent, agent.Hang)}
		f.For = pick(d, 100*time.Millisecond, 400*time.Millisecond, 3*time.Second, 30*time.Second)
		t.Faults = []agent.Fault{f}
		if d.IntN(2) == 0 { // the agent still talks when the bridge is back
			for _, s := range story.Steps {
				s.After = max(s.After, 400*time.Millisecond)
			}
		}
	}
	story.Faults = slices.Clone(t.Faults)
	if p.has(name("think"), 50) {
		t.Think = pick(p.draw(name("which think")), 3*time.Second, 20*time.Second)
	}
	if p.has(name("act of the user"), 12) {
		d := p.draw(name("which act of the user"))
		kinds := []ActKind{Cancel, Leave}
		if p.Protocol != editor.Lines {
			kinds = append(kinds, Kill)
		}
		t.Act = Act{pick(d, kinds...), 1 + d.IntN(len(story.Steps)), pick(d, 0, 5*time.Millisecond, 2*time.Second)}
	}
}
