package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// receive takes a message: it creates a task, or answers or continues one. It returns
// the task and the log index where the effects begin.
func (a *Agent) receive(req *request) (*task, *sendRequest, int, error) {
	p, err := req.wire.send(req.params)
	if err != nil {
		return nil, nil, 0, invalidParams("%v", err)
	}
	if err := a.checkSend(req, p); err != nil {
		return nil, nil, 0, err
	}
	var t *task
	from := 0
	if t = a.task(p.message.TaskID); t != nil {
		from, err = a.follow(t, p.message)
	} else {
		t, err = a.begin(p.message)
	}
	return t, p, from, err
}

// begin creates the task of a message that names none.
func (a *Agent) begin(m *message) (*task, error) {
	if m.TaskID != "" {
		return nil, notFound(m.TaskID)
	}
	s, err := a.session(m.ContextID)
	if err != nil {
		return nil, err
	}
	w, err := a.admit(s, m)
	if err != nil {
		return nil, err
	}
	if s == nil {
		s = a.newSession()
	}
	s.settle(w)
	t := newTask(s)
	m.TaskID, m.ContextID = t.id, s.contextID
	return t, a.create(t, m.story(), m)
}

// checkSend refuses messages that are wrong for any task.
func (a *Agent) checkSend(req *request, p *sendRequest) error {
	m := p.message
	switch {
	case m.ID == "":
		return invalidParams("message.messageId is missing")
	case len(m.Parts) == 0:
		return invalidParams("message.parts is empty")
	case p.historyLength != nil && *p.historyLength < 0:
		return invalidParams("historyLength is negative")
	case p.push:
		return &rpcError{Code: codePushNotSupported, Message: "push notifications are not supported"}
	}
	if !m.confirms() {
		return nil
	}
	// The extension's own words on this message (§3.2, Client-to-Agent Messages).
	switch {
	case m.TaskID == "" || m.ContextID == "":
		return invalidParams("message.taskId or message.contextId is missing: a ToolCallConfirmation goes to the task that asked, in its context")
	case req.method != "message/stream":
		return invalidParams("a ToolCallConfirmation is sent as a streaming message, not by %s", req.called)
	}
	return nil
}

// create starts a new task with the story of its prompt.
func (a *Agent) create(t *task, tell story, prompt *message) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.append(event{created: true, state: stateSubmitted, kind: kindStateChange, message: prompt})
	if err := a.start(t, tell, prompt); err != nil {
		return err
	}
	t.append(event{state: stateWorking, kind: kindStateChange})
	a.add(t)
	return nil
}

func notFound(id string) error {
	return &rpcError{Code: codeTaskNotFound, Message: "task not found: " + id}
}

func over(id, state string) error {
	return &rpcError{Code: codeUnsupported, Message: fmt.Sprintf("task %s is in a terminal state: %s", id, state)}
}

func (a *Agent) send(ctx context.Context, req *request) (any, error) {
	t, p, from, err := a.receive(req)
	if err != nil {
		return nil, err
	}
	if p.blocking {
		if err := t.settled(ctx, a.ctx, from); err != nil {
			return nil, err
		}
	}
	return req.wire.result(t.view(p.historyLength)), nil
}

func (a *Agent) stream(ctx context.Context, w http.ResponseWriter, req *request) error {
	t, _, from, err := a.receive(req)
	if err != nil {
		return err
	}
	_ = newEventStream(w, req).follow(ctx, a, t, from)
	return nil
}

type taskParams struct {
	ID            string `json:"id"`
	HistoryLength *int   `json:"historyLength"`
}

// named returns the task that a method's parameters name.
func (a *Agent) named(req *request) (*task, taskParams, error) {
	var p taskParams
	if err := readParams(req.params, &p); err != nil {
		return nil, p, invalidParams("%v", err)
	}
	switch {
	case p.ID == "":
		return nil, p, invalidParams("id is missing")
	case p.HistoryLength != nil && *p.HistoryLength < 0:
		return nil, p, invalidParams("historyLength is negative")
	}
	t := a.task(p.ID)
	if t == nil {
		return nil, p, notFound(p.ID)
	}
	return t, p, nil
}

func (a *Agent) get(req *request) (any, error) {
	t, p, err := a.named(req)
	if err != nil {
		return nil, err
	}
	return req.wire.task(t.view(p.HistoryLength)), nil
}

func (a *Agent) cancel(req *request) (any, error) {
	t, _, err := a.named(req)
	if err != nil {
		return nil, err
	}
	if !t.stop() {
		return nil, &rpcError{Code: codeNotCancelable, Message: "task cannot be canceled: " + t.id + " is in a terminal state"}
	}
	return req.wire.task(t.view(nil)), nil
}

// resubscribe sends the task, and then what follows. For a terminal task it sends only
// the task. A waiting task is followed, because another client may answer.
func (a *Agent) resubscribe(ctx context.Context, w http.ResponseWriter, req *request) error {
	t, _, err := a.named(req)
	if err != nil {
		return err
	}
	t.mu.Lock()
	view, from := t.viewLocked(nil), len(t.log)
	t.mu.Unlock()
	if terminal(view.Status.State) && req.wire.v1 { // 1.0 requires an error, not a stream of one event
		return over(view.ID, view.Status.State)
	}
	s := newEventStream(w, req)
	if s.send(req.wire.result(view)) != nil || s.flush() != nil || terminal(view.Status.State) {
		return nil
	}
	_ = s.follow(ctx, a, t, from)
	return nil
}

// list is in no 0.3 specification for JSON-RPC, but some servers have it. The newest
// task comes first; a page token is the number of tasks before the page.
func (a *Agent) list(req *request) (any, error) {
	var p struct {
		ContextID     string `json:"contextId"`
		Status        string `json:"status"`
		PageSize      *int   `json:"pageSize"`
		PageToken     string `json:"pageToken"`
		HistoryLength int    `json:"historyLength"`
	}
	if len(req.params) > 0 {
		if err := json.Unmarshal(req.params, &p); err != nil {
			return nil, invalidParams("%v", err)
		}
	}
	size, skip := 50, 0
	if p.PageSize != nil {
		size = *p.PageSize
	}
	if p.PageToken != "" {
		var err error
		if skip, err = strconv.Atoi(p.PageToken); err != nil || skip < 0 {
			return nil, invalidParams("unknown pageToken %q", p.PageToken)
		}
	}
	state, ok := req.wire.readState(p.Status)
	switch {
	case size < 1 || size > 100:
		return nil, invalidParams("pageSize is not between 1 and 100")
	case p.HistoryLength < 0:
		return nil, invalidParams("historyLength is negative")
	case p.Status != "" && !ok:
		return nil, invalidParams("unknown status %q", p.Status)
	}

	a.mu.Lock()
	all := append([]*task(nil), a.order...)
	a.mu.Unlock()
	page, total := []any{}, 0
	for i := len(all) - 1; i >= 0; i-- {
		v := all[i].view(&p.HistoryLength)
		if p.ContextID != "" && v.ContextID != p.ContextID || state != "" && v.Status.State != state {
			continue
		}
		if total >= skip && len(page) < size {
			page = append(page, req.wire.task(v))
		}
		total++
	}
	next := ""
	if skip+len(page) < total {
		next = strconv.Itoa(skip + len(page))
	}
	return map[string]any{"tasks": page, "nextPageToken": next, "pageSize": size, "totalSize": total}, nil
}
