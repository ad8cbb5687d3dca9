package world

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// An editor is the scripted editor of a world, and its users. It talks to one bridge;
// after a kill another editor continues the conversations.
type editor struct {
	play    *play
	to      *io.PipeWriter
	from    *io.PipeReader
	deaf    chan struct{} // closed when it stops reading
	stopped chan struct{} // closed when it has ended

	// The agent's lock guards these.
	dead    bool // nobody reads what comes
	nextID  int
	replies map[int]chan gjson.Result
	owners  map[int]*conversation // by request, in A2A lines
}

// A conversation is one session with the agent, as its user sees it.
type conversation struct {
	n       int
	session string      // ACP's
	turn    *TurnRecord // the running turn, or the last one
	loading *Loading    // from the loading of the session until the next prompt
	// context, task and calls are what a client of A2A lines keeps.
	context, task string
	calls         map[string]gjson.Result
	generations   map[string]int    // of artifacts, for A2A lines
	titles        map[string]string // names of tools, by the editor's IDs
}

func newEditor(p *play, to *io.PipeWriter, from *io.PipeReader) *editor {
	return &editor{play: p, to: to, from: from, deaf: make(chan struct{}), stopped: make(chan struct{}),
		replies: map[int]chan gjson.Result{}, owners: map[int]*conversation{}}
}

// read is the editor's goroutine: it takes lines until the bridge or the editor ends.
func (e *editor) read() {
	perLine := e.play.plan.PerLine
	for r := bufio.NewReader(e.from); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		e.take(gjson.Parse(line), line)
		select {
		case <-e.deaf:
			<-e.stopped
			return
		default:
		}
		if perLine > 0 {
			timer := time.NewTimer(perLine)
			select {
			case <-timer.C:
			case <-e.stopped:
				timer.Stop()
			}
		}
	}
}

// take takes a line.
func (e *editor) take(m gjson.Result, line string) {
	a := e.play.agent
	a.mu.Lock()
	defer a.mu.Unlock()
	if e.dead {
		return
	}
	a.tell("editor<", "%s", strings.TrimSuffix(line, "\n"))
	method := m.Get("method").Str
	switch {
	case method == "":
		id := int(m.Get("id").Int())
		if c := e.replies[id]; c != nil {
			delete(e.replies, id)
			c <- m
		}
	case method == "session/update":
		e.update(m.Get("params"))
	case method == "session/request_permission":
		e.question(m)
	case strings.HasPrefix(method, "event/"):
		e.event(method, m.Get("params"))
	default:
		a.record.Heard = append(a.record.Heard, &Heard{At: a.now(), Kind: HeardStranger, What: "the editor got " + method})
	}
}

// send writes a line, and waits until the bridge has read it.
func (e *editor) send(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	a := e.play.agent
	a.mu.Lock()
	a.tell("editor>", "%s", text)
	a.mu.Unlock()
	_, _ = io.WriteString(e.to, text+"\n") // fails when the bridge has ended
}

// request sends a request and returns a channel for its reply.
func (e *editor) request(c *conversation, method, params string) (id int, reply <-chan gjson.Result) {
	a := e.play.agent
	a.mu.Lock()
	e.nextID++
	id = e.nextID
	ch := make(chan gjson.Result, 1)
	e.replies[id] = ch
	e.owners[id] = c
	a.mu.Unlock()
	e.send(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
	return id, ch
}

// maxLines is more than a session has.
const maxLines = 300

// call is request for an immediate answer. It returns nothing without one.
func (e *editor) call(c *conversation, method, params string) gjson.Result {
	_, reply := e.request(c, method, params)
	timer := time.NewTimer(time.Minute + maxLines*e.play.plan.PerLine) // a slow editor has to read a loaded session before
	defer timer.Stop()
	select {
	case m := <-reply:
		return m
	case <-timer.C:
		return gjson.Result{}
	}
}

// conversationOf finds the conversation of an ACP session.
func (e *editor) conversationOf(session string) *conversation {
	for _, c := range e.play.conversations {
		if c.session == session && session != "" {
			return c
		}
	}
	return nil
}

// show notes what the editor shows in a conversation. The lock is held.
func (c *conversation) show(a *agent, s *Shown) {
	s.At = a.now()
	switch {
	case c == nil:
		a.record.Heard = append(a.record.Heard, &Heard{At: a.now(), Kind: HeardStranger, What: "the editor got something of no conversation"})
	case c.loading != nil:
		c.loading.Shown = append(c.loading.Shown, s)
	case c.turn != nil:
		c.turn.Shown = append(c.turn.Shown, s)
	}
}

var toolWords = regexp.MustCompile(`Tool\d+(?:k\d+|q\d+n\d+)`)

// toolName finds a tool's name in what is shown of a call.
func toolName(raw string) string { return toolWords.FindString(raw) }

// callNamed finds a call of the plan by its tool's name.
func (p *Plan) callNamed(name string) *Call {
	for _, t := range p.Turns {
		for _, a := range t.Acts {
			if a.Call != nil && a.Call.Name == name {
				return a.Call
			}
			for _, c := range a.Calls {
				if c.Name == name {
					return c
				}
			}
		}
	}
	return nil
}

// The bridge's own messages are in brackets, which the agent never uses.
const (
	gapWords = "may not hold all that it said"
	bracket  = "["
)

// choose picks an option for the user.
func (c *Call) choose(offered []Offered) (how PickHow, id string) {
	how = c.Pick.How
	own := -1
	for i, o := range offered {
		known := false
		for _, mine := range c.Options {
			known = known || mine.ID == o.ID
		}
		if !known {
			own = i
		}
	}
	switch {
	case len(offered) == 0:
		return PickDismiss, ""
	case how == PickOwn && own >= 0:
		return PickOwn, offered[own].ID
	case how == PickOption || how == PickOwn:
		o := offered[c.Pick.N%len(offered)]
		if own >= 0 && o.ID == offered[own].ID {
			return PickOwn, o.ID
		}
		return PickOption, o.ID
	}
	return how, ""
}
