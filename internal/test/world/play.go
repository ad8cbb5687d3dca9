package world

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/tidwall/gjson"
)

const (
	// patience bounds a turn in virtual time: longer than any silence of an agent, and
	// than a bridge may try to reconnect.
	patience = 40 * time.Minute
	// between is the user's time to read an answer.
	between = time.Second
	// settling is the time from a loaded session, whose running turn has ended, to the
	// next prompt.
	settling = 30 * time.Second
)

// PlayOptions tell how to play.
type PlayOptions struct {
	// Settle waits until nothing moves (synctest.Wait).
	Settle func()
	// Dir makes a directory for a bridge's sessions, which the caller removes.
	Dir func() string
	// Story keeps every line of both wires.
	Story bool
}

// A play is a plan in progress.
type play struct {
	plan  *Plan
	opts  *PlayOptions
	agent *agent
	hooks *hooks
	wg    sync.WaitGroup

	mu  sync.Mutex
	ids int

	dir           string
	conversations []*conversation
	editor        *editor // of the running bridge
	bridge        *served
	old           []*served // the killed ones
}

// Play plays a plan in a bubble of testing/synctest, and records it.
func Play(plan *Plan, opts *PlayOptions) (*Record, error) {
	p := &play{plan: plan, opts: opts, agent: newAgent(plan, opts.Story)}
	p.hooks = newHooks(p.agent)
	for _, t := range plan.Turns {
		if t.Kill != nil && p.dir == "" {
			p.dir = opts.Dir()
		}
	}
	if err := p.start(); err != nil {
		return nil, err
	}
	for n := range 2 {
		p.conversations = append(p.conversations, &conversation{n: n, calls: map[string]gjson.Result{}, generations: map[string]int{}, titles: map[string]string{}})
	}
	var users sync.WaitGroup
	for n, c := range p.conversations {
		var turns []*Turn
		for _, t := range plan.Turns {
			if t.Session == n {
				turns = append(turns, t)
			}
		}
		if len(turns) > 0 {
			users.Go(func() { p.converse(c, turns) }) // ends with its turns, each of which does
		}
	}
	users.Wait()
	p.close()
	return p.agent.record, nil
}

func (p *play) newID() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ids++
	return fmt.Sprintf("bridge-%d", p.ids)
}

// start starts a bridge and an editor.
func (p *play) start() (err error) {
	toBridge, editorIn := io.Pipe()
	editorOut, fromBridge := io.Pipe()
	e := newEditor(p, editorIn, editorOut)
	if p.bridge, err = p.serve(toBridge, fromBridge, p.dir); err != nil {
		return err
	}
	p.editor = e
	p.wg.Go(e.read)
	if !p.plan.On.Has(Lines) {
		e.call(nil, "initialize", `{"protocolVersion":1,"clientCapabilities":{}}`)
	}
	return nil
}

// close ends the world, in a program's order.
func (p *play) close() {
	r := p.agent.record
	e := p.editor
	begin := p.agent.now()
	p.agent.mu.Lock()
	r.Closing = begin
	p.agent.mu.Unlock()
	e.to.Close()
	if err := <-p.bridge.ended; err != nil {
		r.ServeErr = err.Error()
	}
	r.Served = p.agent.now() - begin
	p.agent.mu.Lock()
	e.dead = true
	p.agent.mu.Unlock()
	closeOnce(e.stopped)
	e.from.Close()
	p.bridge.client.Close()
	p.opts.Settle()
	p.agent.mu.Lock()
	r.Open = p.agent.open
	p.agent.mu.Unlock()
	p.bridge.line.sever()
	for _, old := range p.old {
		<-old.ended
		old.client.Close()
	}
	p.agent.finish()
	p.wg.Wait()
	for n, run := range p.agent.runs {
		if t := r.Turns[n]; t != nil && run.known {
			t.ContextNamed = run.context
		}
	}
}

func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}

// converse is a user's goroutine: it plays one turn after the other.
func (p *play) converse(c *conversation, turns []*Turn) {
	if !p.plan.On.Has(Lines) {
		m := p.editor.call(c, "session/new", `{"cwd":"/","mcpServers":[]}`)
		p.agent.mu.Lock()
		c.session = m.Get("result.sessionId").Str
		p.agent.mu.Unlock()
	}
	for _, t := range turns {
		if !p.turn(c, t) {
			return
		}
		p.pause(between)
	}
}

func (p *play) pause(d time.Duration) {
	timer := time.NewTimer(d)
	<-timer.C
}

// alarm returns a channel that fires at a moment of a turn, nil without one. It gives
// up when done is closed.
func (p *play) alarm(t *Turn, m *Moment, done <-chan struct{}) <-chan time.Time {
	if m == nil {
		return nil
	}
	fires := make(chan time.Time, 1)
	p.wg.Go(func() { // ends with the moment, or the turn
		if m.After >= 0 {
			select {
			case <-p.agent.runs[t.N].moment(m.After):
			case <-done:
				return
			}
		}
		timer := time.NewTimer(m.Wait)
		defer timer.Stop()
		select {
		case now := <-timer.C:
			fires <- now
		case <-done:
		}
	})
	return fires
}

// turn plays a turn; false: no further turn is possible.
func (p *play) turn(c *conversation, t *Turn) bool {
	a := p.agent
	a.begin(t)
	r := &TurnRecord{Turn: t, Session: c.session, Sent: a.now()}
	a.mu.Lock()
	c.turn, c.loading = r, nil
	a.record.Turns[t.N] = r
	a.mu.Unlock()
	done := make(chan struct{})
	defer close(done)
	cancel, kill, dead := p.alarm(t, t.Cancel, done), p.alarm(t, t.Kill, done), p.alarm(t, t.Dead, done)
	prompt := p.editor.promptACP
	if p.plan.On.Has(Lines) {
		prompt = p.editor.promptLines
	}
	limit := time.NewTimer(patience)
	defer limit.Stop()
	id, reply := prompt(c, t)
	for {
		select {
		case m := <-reply:
			if id, reply = p.replied(c, r, m, cancel); reply == nil {
				return true
			}
		case <-cancel:
			p.cancel(c, r, id)
		case <-kill:
			return p.kill(c, r)
		case <-dead:
			p.die(t, r)
			return false
		case <-limit.C:
			p.stuck(c, r, id, reply)
			return false
		}
	}
}

// replied takes a reply to a turn's request. If the turn continues, it returns the next
// one.
func (p *play) replied(c *conversation, r *TurnRecord, m gjson.Result, cancel <-chan time.Time) (int, <-chan gjson.Result) {
	a := p.agent
	var pending []string
	a.mu.Lock()
	if p.plan.On.Has(Lines) {
		pending = p.editor.legDone(c, r, m)
	} else {
		r.replied(m)
	}
	a.mu.Unlock()
	if len(pending) > 0 && r.Cancelled == 0 {
		if id, reply := p.editor.answerLines(c, pending, cancel); reply != nil {
			return id, reply
		}
	}
	a.mu.Lock()
	r.Replied = a.now()
	a.mu.Unlock()
	if len(pending) > 0 { // cancelled between two legs
		a.mu.Lock()
		r.Cancelled, r.CancelledBetween = r.Replied, true
		a.mu.Unlock()
		p.editor.call(c, "tasks/cancel", fmt.Sprintf(`{"id":%q}`, c.task))
		c.task = ""
	}
	return 0, nil
}

func (p *play) cancel(c *conversation, r *TurnRecord, id int) {
	p.agent.mu.Lock()
	r.Cancelled = p.agent.now()
	p.agent.mu.Unlock()
	if p.plan.On.Has(Lines) {
		p.editor.send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%d}}`, id)
		return
	}
	p.editor.send(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, c.session)
}

// stuck notes a turn that does not end, and cancels it.
func (p *play) stuck(c *conversation, r *TurnRecord, id int, reply <-chan gjson.Result) {
	p.agent.mu.Lock()
	r.Stuck = true
	p.agent.mu.Unlock()
	at := r.Cancelled
	p.cancel(c, r, id)
	timer := time.NewTimer(10 * time.Second)
	defer timer.Stop()
	select {
	case <-reply:
	case <-timer.C:
		r.StuckForGood = true
	}
	r.Cancelled = at
}

// die ends an editor in the middle of a turn.
func (p *play) die(t *Turn, r *TurnRecord) {
	p.agent.mu.Lock()
	r.Died = true
	p.agent.tell("world", "the editor stops reading")
	p.agent.mu.Unlock()
	closeOnce(p.editor.deaf)
	if t.Hangs {
		p.pause(5 * time.Second)
	}
}

// kill kills the bridge, starts another one on the same disk, and loads the session.
func (p *play) kill(c *conversation, r *TurnRecord) bool {
	p.opts.Settle()
	a, old := p.agent, p.editor
	a.mu.Lock()
	r.Killed, r.Known = a.now(), a.runs[r.Turn.N].known
	a.tell("world", "the bridge is killed")
	old.dead = true
	a.mu.Unlock()
	dir := p.opts.Dir()
	if err := os.CopyFS(dir, os.DirFS(p.dir)); err != nil {
		return false
	}
	p.dir = dir
	p.bridge.line.sever()
	closeOnce(old.stopped)
	old.to.Close()
	old.from.Close()
	p.old = append(p.old, p.bridge)
	if p.start() != nil {
		return false
	}
	p.pause(100 * time.Millisecond)
	l := &Loading{Session: c.session, At: a.now(), After: r.Turn.N}
	a.mu.Lock()
	c.loading = l
	a.record.Loaded = append(a.record.Loaded, l)
	a.mu.Unlock()
	m := p.editor.call(c, "session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":"/","mcpServers":[]}`, c.session))
	if x := m.Get("error"); x.Exists() || !m.Exists() {
		l.Err = x.Raw + " "
	}
	p.rest(a.runs[r.Turn.N])
	return true
}

// rest waits until a turn that nobody answers has ended, and a little longer.
func (p *play) rest(r *run) {
	for end := time.Now().Add(patience); time.Now().Before(end); p.pause(10 * time.Second) {
		p.agent.mu.Lock()
		over := !r.begun || r.stopped || r.turn.Direct || r.task != nil && r.task.idle
		p.agent.mu.Unlock()
		if over {
			break
		}
	}
	rest := settling
	for _, f := range r.turn.Faults {
		if rest += f.For; f.Kind == ReadsFail && f.Read == ReadHangs {
			rest += time.Duration(f.Times) * time.Minute
		}
	}
	p.pause(rest + 2*p.plan.Idle)
}
