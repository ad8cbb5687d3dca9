package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// linesEditor is an editor, or a script, that speaks A2A lines: A2A 0.3's
// methods, one request a leg, with flat events in between
// (docs/protocol-a2a-lines.md).
type linesEditor struct {
	server  *server
	methods map[string]func(*editorRequest)

	mu sync.Mutex
	// A conversation is found by its context or by one of its tasks.
	contexts map[string]*Session
	tasks    map[string]*Session
	entered  []string // the keys of tasks, the oldest first
	// waiting has the calls that wait for toolCall/confirm, by task.
	waiting map[string][]string
}

func newLinesEditor(s *server) *linesEditor {
	e := &linesEditor{server: s, contexts: map[string]*Session{}, tasks: map[string]*Session{}, waiting: map[string][]string{}}
	e.methods = map[string]func(*editorRequest){
		"message/send":      e.send,
		"message/stream":    e.stream,
		"toolCall/confirm":  e.confirm,
		"tasks/resubscribe": e.resubscribe,
		"tasks/get":         e.getTask,
		"tasks/list":        e.listTasks,
		"tasks/cancel":      e.cancelTask,
		"command/execute":   e.execute,
		"commands/get":      e.pass, // some programs begin with it
		"agent/getCard":     e.getCard,
		"bridge/status":     e.status,
		"$/cancel_request":  decoded(s.acp.cancelRequest),
		methodExtendedCard:  e.getCard,
	}
	return e
}

const methodExtendedCard = "agent/getAuthenticatedExtendedCard"

// speaks reports whether a method tells an editor of this protocol.
func (e *linesEditor) speaks(method string) bool {
	if _, ok := e.methods[method]; ok {
		return method != acp.MethodCancelRequest
	}
	return e.server.opts.Companion != nil && (strings.HasPrefix(method, ideMethods) || strings.HasPrefix(method, companionMethods))
}

// handle has a request answered: by its method, the companion or, if neither knows it, the agent.
func (e *linesEditor) handle(c *editorRequest) {
	method, ok := e.methods[c.method]
	switch {
	case !ok && e.server.ide.handles(c):
		return
	case !ok:
		method = e.pass
	}
	e.server.withAgent(c, method)
}

// lineParams are those of our own that any leg takes.
type lineParams struct {
	Text      *string         `json:"text"`
	Message   json.RawMessage `json:"message"`
	TaskID    string          `json:"taskId"`
	ContextID string          `json:"contextId"`
	Workspace string          `json:"workspace"`
	Raw       bool            `json:"raw"`
	Config    struct {
		AcceptedOutputModes []string `json:"acceptedOutputModes"`
		Blocking            *bool    `json:"blocking"`
		HistoryLength       *int     `json:"historyLength"`
		Push                any      `json:"pushNotificationConfig"`
	} `json:"configuration"`
	// Metadata is the request's, beside the message's own.
	Metadata map[string]json.RawMessage `json:"metadata"`
}

// message makes the message that the params ask for.
func (p *lineParams) message() (*a2a.Outgoing, error) {
	if p.Text != nil && len(p.Message) > 0 {
		return nil, paramsErrorf("params have both text and a message: one of them")
	}
	if p.Config.Push != nil {
		return nil, paramsErrorf("a message is sent without pushNotificationConfig: set it by the agent's own method, which is passed on")
	}
	m := &a2a.Outgoing{}
	switch {
	case p.Text != nil && *p.Text != "":
		m.Parts = []a2a.OutPart{{Text: *p.Text}}
	case len(p.Message) > 0:
		var err error
		if m, err = spell.ReadMessage(p.Message); err != nil {
			return nil, err
		}
	default:
		return nil, paramsErrorf(`params need "text" or an A2A "message"`)
	}
	m.TaskID = cmp.Or(m.TaskID, p.TaskID)
	m.ContextID = cmp.Or(m.ContextID, p.ContextID)
	m.AcceptedOutputModes, m.HistoryLength, m.RequestMetadata = p.Config.AcceptedOutputModes, p.Config.HistoryLength, p.Metadata
	return m, nil
}

// prompt reads a request that has a message, adds what the user looks at, and finds, or begins, the
// message's session. A message of nil: the request was answered with an error.
func (e *linesEditor) prompt(c *editorRequest) (p lineParams, m *a2a.Outgoing, s *Session) {
	if !c.decode(&p) {
		return p, nil, nil
	}
	m, err := p.message()
	if err == nil {
		err = e.checkWaiting(m)
	}
	if err == nil {
		err = e.server.ide.addOpenFile(m)
	}
	if err != nil {
		c.failAgent(err)
		return p, nil, nil
	}
	return p, m, e.findOrBegin(m.ContextID, m.TaskID, p.Workspace)
}

func (e *linesEditor) stream(c *editorRequest) {
	p, m, session := e.prompt(c)
	if m == nil {
		return
	}
	e.runTurn(c, session, p.Raw, func(ctx context.Context, t Turn, v *linesView) (Result, error) {
		return t.Send(ctx, m, v)
	})
}

// findOrBegin finds the conversation of a task, or of a context, or begins one.
func (e *linesEditor) findOrBegin(contextID, taskID, workspace string) *Session {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := e.tasks[taskID]; s != nil { // "" is never entered, nor below
		return s
	}
	// A new task in a context may run beside another one, or one whose calls wait.
	if s := e.contexts[contextID]; s != nil && s.running() == nil {
		if _, task := s.NextIDs(); len(e.waiting[task]) == 0 {
			return s
		}
	}
	if !filepath.IsAbs(workspace) { // the agent may work elsewhere
		workspace = filepath.Join(e.server.agent.opts.workspace(), workspace)
	}
	if len(e.contexts) >= maxSessions {
		e.prune()
	}
	s := e.server.agent.NewSession(workspace)
	s.Resume(contextID, taskID)
	if contextID != "" {
		e.contexts[contextID] = s
	}
	e.enterTask(taskID, s)
	return s
}

// prune forgets conversations in which nothing runs. Their IDs still work, but what was
// shown of them, and what they wait for, is lost.
func (e *linesEditor) prune() {
	idle := func(id string, s *Session) bool {
		if s.running() != nil {
			return false
		}
		s.giveUpPause()
		delete(e.waiting, id)
		return true
	}
	maps.DeleteFunc(e.contexts, idle)
	maps.DeleteFunc(e.tasks, idle)
	e.entered = slices.DeleteFunc(e.entered, func(id string) bool { return e.tasks[id] == nil })
}

// maxTasks is how many tasks conversations are found by: a script may have a new one for each prompt.
const maxTasks = 4 * maxSessions

// enterTask notes that a conversation has a task, "" for none, and forgets the oldest tasks beyond
// maxTasks as prune does; not those whose calls wait.
func (e *linesEditor) enterTask(id string, s *Session) {
	if id == "" {
		return
	}
	if e.tasks[id] == nil {
		e.entered = append(e.entered, id)
	}
	e.tasks[id] = s
	for range len(e.entered) - maxTasks {
		oldest := e.entered[0]
		if e.entered = e.entered[1:]; len(e.waiting[oldest]) > 0 {
			e.entered = append(e.entered, oldest)
		} else {
			delete(e.tasks, oldest)
		}
	}
}

// runTurn runs the turn of a request, and answers it at the turn's end.
func (e *linesEditor) runTurn(c *editorRequest, session *Session, raw bool, run func(context.Context, Turn, *linesView) (Result, error)) {
	view := &linesView{agent: e.server.agent, out: e.server.out,
		lines: spell.Lines{Request: json.RawMessage(c.id), Raw: raw, Made: e.server.agent.made()}}
	c.run(session, func(ctx context.Context, turn Turn) {
		result, err := run(ctx, turn, view)
		e.enterConversation(session, result)
		switch task, failed := errors.AsType[*mapping.TaskError](err); {
		case failed:
			c.reply(view.result(result, e.server.agent.opts.Mask(task.Error())))
		case err != nil:
			c.failAgent(err)
		case view.passed != nil:
			c.reply(view.passed)
		default:
			c.reply(view.result(result, ""))
		}
	})
}

// enterConversation notes that a conversation has a result's context and task, and which of its
// calls wait now. The result of a request that was refused has neither, and changes nothing.
func (e *linesEditor) enterConversation(s *Session, r Result) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r.ContextID != "" {
		e.contexts[r.ContextID] = s
	}
	e.enterTask(r.TaskID, s)
	if delete(e.waiting, r.TaskID); len(r.Pending) > 0 {
		e.waiting[r.TaskID] = r.Pending
	}
}

// confirm answers the questions of a pause: all of them, because agents stall on
// fewer.
func (e *linesEditor) confirm(c *editorRequest) {
	var p struct {
		lineParams
		Confirmations []struct {
			ToolCallID string  `json:"toolCallId"`
			OptionID   string  `json:"optionId"`
			NewContent *string `json:"newContent"`
		} `json:"confirmations"`
	}
	if !c.decode(&p) {
		return
	}
	e.mu.Lock()
	session := e.tasks[p.TaskID]
	e.mu.Unlock()
	if session == nil {
		c.failAgent(paramsErrorf("toolCall/confirm: this process has shown no call of task %q: tasks/resubscribe shows those that wait", p.TaskID))
		return
	}
	e.runTurn(c, session, p.Raw, func(ctx context.Context, t Turn, v *linesView) (Result, error) {
		return t.Answer(ctx, func(questions []mapping.Question) ([]mapping.Answer, error) {
			if open, _ := t.fold.Calls.OpenTask(); p.TaskID != open && p.TaskID != t.fold.TaskID {
				questions = nil // they are of another task, whose calls may have the same IDs
			}
			if len(questions) == 0 {
				e.noWaiting(p.TaskID)
			}
			given := map[string]mapping.Answer{}
			for _, a := range p.Confirmations {
				if _, twice := given[a.ToolCallID]; twice {
					return nil, paramsErrorf("call %q is answered twice: one of the answers counts, and it is not known which", a.ToolCallID)
				}
				given[a.ToolCallID] = mapping.Answer{OptionID: a.OptionID, NewContent: a.NewContent}
			}
			return match(questions, given)
		}, v)
	})
}

// match gives each question its answer. Its error names the answers that are missing,
// or that nothing asks for.
func match(questions []mapping.Question, given map[string]mapping.Answer) ([]mapping.Answer, error) {
	var answers []mapping.Answer
	var missing []string
	for _, q := range questions {
		a, ok := given[q.Call.ID]
		o, offered := q.Pick(a.OptionID)
		switch {
		case !ok:
			missing = append(missing, q.Call.ID)
			continue
		case !offered:
			return nil, paramsErrorf("call %s has no option %q: it has %v", q.Call.ID, a.OptionID, optionIDs(q))
		case a.NewContent != nil && !q.TakesContent():
			return nil, paramsErrorf("call %s takes no newContent: it is for an edit alone, and the agent must have words for it", q.Call.ID)
		case a.NewContent != nil && !o.Allows():
			return nil, paramsErrorf("call %s: option %q rejects the edit, so that it takes no newContent", q.Call.ID, a.OptionID)
		}
		delete(given, q.Call.ID)
		a.Call = q.Call
		answers = append(answers, a)
	}
	for id := range given {
		return nil, paramsErrorf("call %q does not wait for an answer", id)
	}
	if len(missing) > 0 {
		return nil, paramsErrorf("answer all calls that wait, in one request: %v are missing", missing)
	}
	if len(answers) == 0 {
		return nil, paramsErrorf("no call waits for an answer")
	}
	return answers, nil
}

func optionIDs(q mapping.Question) (ids []string) {
	for _, o := range q.Options {
		ids = append(ids, o.ID)
	}
	return ids
}

func (e *linesEditor) resubscribe(c *editorRequest) {
	var p struct {
		lineParams
		ID string `json:"id"`
	}
	if !c.decode(&p) {
		return
	}
	e.runTurn(c, e.findOrBegin(p.ContextID, p.ID, ""), p.Raw, func(ctx context.Context, t Turn, v *linesView) (Result, error) {
		return t.followWith(ctx, p.ID, p.Metadata, v)
	})
}

func (e *linesEditor) execute(c *editorRequest) {
	var p struct {
		lineParams
		Path []string `json:"command_path"`
		Args string   `json:"args"`
	}
	if !c.decode(&p) {
		return
	}
	session := e.findOrBegin("", "", p.Workspace)
	e.runTurn(c, session, p.Raw, func(ctx context.Context, t Turn, v *linesView) (Result, error) {
		defer t.release()
		session.beginsWithCommand = true
		return t.runWithoutMessage(ctx, v, "", true, func(ctx context.Context) (begun, error) { return t.execute(ctx, p.Path, p.Args) })
	})
}

// pass hands a method that we do not know to the agent as it is: a method
// extension. Its result comes back as it is, its stream as events.
func (e *linesEditor) pass(c *editorRequest) {
	if c.isNotification {
		return
	}
	session := e.server.agent.NewSession("")
	e.runTurn(c, session, gjson.GetBytes(c.raw, "raw").Bool(), func(ctx context.Context, t Turn, v *linesView) (Result, error) {
		defer t.release()
		return t.runWithoutMessage(ctx, v, "", true, func(ctx context.Context) (begun, error) {
			stream, raw, err := e.server.agent.opts.Client.Call(ctx, transport.Call{Method: c.method, Params: c.raw, Long: true})
			v.passed = raw
			return begun{stream: stream}, err
		})
	})
}
