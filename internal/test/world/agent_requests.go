package world

import (
	"slices"
	"time"
)

// handle answers a request.
func (a *agent) handle(q *request, raw string) *reply {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tell("agent>", "%s %s", q.method, q.params.Raw)
	h := &a.plan.Agent
	method := q.method
	if h.V1 {
		method = map[string]string{"SendMessage": "message/send", "SendStreamingMessage": "message/stream", "GetTask": "tasks/get",
			"SubscribeToTask": "tasks/resubscribe", "CancelTask": "tasks/cancel"}[q.method]
	}
	switch method {
	case "message/stream":
		if !h.Streams {
			return errorReply(q, -32004, "this agent does not stream")
		}
		return a.send(q)
	case "message/send":
		return a.send(q)
	case "tasks/get":
		return a.get(q)
	case "tasks/resubscribe":
		return a.resume(q)
	case "tasks/cancel":
		return a.cancel(q)
	case "tasks/pushNotificationConfig/set", "CreateTaskPushNotificationConfig":
		return a.setPush(q)
	case "tasks/pushNotificationConfig/delete", "DeleteTaskPushNotificationConfig":
		return a.deletePush(q)
	}
	return errorReply(q, -32601, "method not found: "+q.method)
}

// refuseStream refuses a stream in the agent's manner: by a stream, or not.
func (a *agent) refuseStream(q *request, code int, message string) *reply {
	e := errorReply(q, code, message)
	e.asStream = a.plan.Agent.ErrorsInStream && a.plan.Agent.Streams
	return e
}

// faultAt finds the fault of the turn's next stream.
func (r *run) faultAt(kinds ...FaultKind) *Fault {
	for _, f := range r.turn.Faults {
		if f.Stream == r.streams && slices.Contains(kinds, f.Kind) {
			return f
		}
	}
	return nil
}

// get answers tasks/get.
func (a *agent) get(q *request) *reply {
	t := a.tasks[q.params.Get("id").Str]
	if a.plan.Agent.NoGet {
		return errorReply(q, -32601, "method not found: "+q.method)
	}
	h := a.heard(&Heard{Kind: HeardRead, Turn: -1, Task: q.params.Get("id").Str})
	if t == nil {
		return errorReply(q, -32001, "task not found")
	}
	h.Turn = t.run.turn.N
	answer := result(q, a.spell.task(t, t.held(), int(q.params.Get("historyLength").Int())))
	for _, f := range t.run.turn.Faults {
		if f.Kind != ReadsFail || t.run.reads >= f.Times {
			continue
		}
		t.run.reads++
		a.happened(t.run, f)
		switch f.Read {
		case ReadUnavailable:
			return &reply{status: 503, json: "busy"}
		case ReadError:
			return errorReply(q, -32603, "internal error")
		case ReadCut:
			answer.short = true
			return answer
		case ReadReset:
			return &reply{err: errReset}
		case ReadHangs:
			return &reply{hung: true}
		}
	}
	t.arrived()
	a.tell("agent<", "%s", answer.json)
	return answer
}

// arrived notes that a snapshot has reached the bridge, and with it the end.
func (t *task) arrived() {
	r := t.run
	r.known = true
	if t.idle && r.turn.End.State == t.state || t.state.Over() {
		r.told = true
	}
	if t.held() != nil && t.newestSay != nil {
		t.newestSay.Arrived = true
	}
}

// resume answers tasks/resubscribe.
func (a *agent) resume(q *request) *reply {
	h := &a.plan.Agent
	t := a.tasks[q.params.Get("id").Str]
	heard := a.heard(&Heard{Kind: HeardResume, Turn: -1, Task: q.params.Get("id").Str})
	switch {
	case h.Resume == ResumesMissing || !h.Streams:
		return a.refuseStream(q, -32601, "method not found")
	case h.Resume == ResumesRefused:
		return a.refuseStream(q, h.ResumeCode, "no subscriptions")
	case t == nil:
		return a.refuseStream(q, -32001, "task not found")
	}
	r := t.run
	heard.Turn = r.turn.N
	if f := r.faultAt(NoHead, LostHead, Undelivered); f != nil {
		r.streams++
		a.happened(r, f)
		if f.Kind == NoHead {
			return &reply{err: errReset, hang: f.For, hung: f.For == 0}
		}
		return &reply{err: errReset}
	}
	if t.state.Over() && (h.V1 || h.Resume == ResumesLive) {
		return a.refuseStream(q, map[bool]int{true: -32004, false: -32001}[h.V1], "the task is over")
	}
	s := r.newStream(q)
	switch h.Resume {
	case ResumesReplay:
		for _, l := range t.events {
			s.again(l)
		}
		t.attach(s, false, nil, nil)
	case ResumesLive:
		t.attach(s, false, nil, nil)
	default:
		t.attach(s, true, t.held(), t.snapshotSaid())
		if h.Echo {
			t.echo(s)
		}
	}
	if t.idle && (h.ClosesAtInput || t.state.Over()) {
		s.end() // nothing more will come
	}
	return &reply{stream: s}
}

// echoTime is how long after a snapshot the newest event is repeated: servers first
// attach the queue, and then read the task (JS, Python).
const echoTime = 50 * time.Millisecond

// echo repeats the newest event, if a client can recognise the repetition: not for a
// chunk of a message whose chunks share an ID (README).
func (t *task) echo(s *stream) {
	h, e := &t.agent.plan.Agent, t.newestSay
	if e == nil || t.idle || t.run.pause != nil || e.Carrier == InStatus && h.SharedID && e.Text != "" || t.events[len(t.events)-1].said != e {
		return
	}
	if s.silence != nil {
		return // nobody can know how late it comes
	}
	newest := t.events[len(t.events)-1]
	t.agent.after(echoTime, nil, func() {
		if t.newestSay == e && !t.idle && t.run.pause == nil {
			s.again(newest)
		}
	})
}

// snapshotSaid is the end in a snapshot, if the turn has ended.
func (t *task) snapshotSaid() *Said {
	if t.idle && t.newestSay != nil && t.newestSay.Ends {
		return t.newestSay
	}
	return nil
}

// cancel answers tasks/cancel.
func (a *agent) cancel(q *request) *reply {
	t := a.tasks[q.params.Get("id").Str]
	h := a.heard(&Heard{Kind: HeardCancel, Turn: -1, Task: q.params.Get("id").Str})
	switch {
	case t == nil:
		return errorReply(q, -32001, "task not found")
	case t.run != nil:
		h.Turn = t.run.turn.N
	}
	how := a.plan.Agent.OnCancel
	if t.state.Over() {
		how = CancelRefused
	}
	switch how {
	case CancelRefused:
		return errorReply(q, -32002, "the task cannot be cancelled")
	case CancelUnsupported:
		return errorReply(q, -32004, "this operation is not supported")
	case CancelHangs:
		return &reply{hung: true}
	case CancelObeyed:
		t.cancel()
	}
	return result(q, a.spell.task(t, t.held(), 0))
}
