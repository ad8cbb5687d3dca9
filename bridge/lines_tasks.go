package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/dialect"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file has the methods of A2A lines that have one answer.

// paramsErrorf is a request that cannot be served as it is.
func paramsErrorf(format string, args ...any) error {
	return &mapping.PromptError{Text: fmt.Sprintf(format, args...)}
}

// answerOnce answers a request with what run returns, a task as A2A 0.3 writes it, in a goroutine, once
// the agent is there. It decodes the request's params into params, if that is not nil.
func (e *linesEditor) answerOnce(c *editorRequest, params any, run func(ctx context.Context, card *a2a.Card, w dialect.Writing) (any, error)) {
	if params != nil && !c.decode(params) {
		return
	}
	e.server.spawn(func(ctx context.Context) {
		var result any
		card, w, err := e.server.agent.Ready(ctx)
		if err == nil {
			result, err = run(ctx, card, w)
		}
		if err != nil {
			c.failAgent(err)
			return
		}
		if task, ok := result.(*a2a.Event); ok {
			result = spell.TaskJSON(task)
		}
		c.reply(result)
	})
}

// send is message/send: the agent's answer, and no events.
func (e *linesEditor) send(c *editorRequest) {
	p, m, session := e.prompt(c)
	if m == nil {
		return
	}
	e.answerOnce(c, nil, func(ctx context.Context, _ *a2a.Card, w dialect.Writing) (any, error) {
		if err := session.fillIn(m, w); err != nil {
			return nil, err
		}
		blocking := p.Config.Blocking == nil || *p.Config.Blocking
		ev, err := e.server.agent.opts.Client.SendOnce(ctx, m, blocking)
		if err == nil {
			e.enterConversation(session, Result{TaskID: ev.TaskID, ContextID: ev.ContextID})
		}
		return ev, err
	})
}

// taskParams are those of a request about a task.
type taskParams struct {
	ID       string                     `json:"id"`
	Metadata map[string]json.RawMessage `json:"metadata"`
}

func (e *linesEditor) getTask(c *editorRequest) {
	p := struct {
		taskParams
		HistoryLength int `json:"historyLength"`
	}{HistoryLength: -1}
	e.answerOnce(c, &p, func(ctx context.Context, _ *a2a.Card, _ dialect.Writing) (any, error) {
		return e.server.agent.opts.Client.Get(transport.WithMetadata(ctx, p.Metadata), p.ID, p.HistoryLength)
	})
}

// cancelTask is tasks/cancel. The task's turn, if one runs, ends by it.
func (e *linesEditor) cancelTask(c *editorRequest) {
	var p taskParams
	e.answerOnce(c, &p, func(ctx context.Context, _ *a2a.Card, _ dialect.Writing) (any, error) {
		ev, err := e.server.agent.cancelTask(transport.WithMetadata(ctx, p.Metadata), p.ID, "the editor cancels it")
		if err != nil {
			return nil, err
		}
		if ev.State.Terminal() {
			e.noWaiting(p.ID)
		}
		if ev.State == a2a.StateCanceled {
			e.server.taskCancelled(p.ID)
		}
		return ev, nil
	})
}

func (e *linesEditor) listTasks(c *editorRequest) {
	var p struct {
		ContextID        string `json:"contextId"`
		Status           string `json:"status"`
		PageSize         int    `json:"pageSize"`
		PageToken        string `json:"pageToken"`
		HistoryLength    *int   `json:"historyLength"`
		IncludeArtifacts bool   `json:"includeArtifacts"`
		StatusAfter      string `json:"statusTimestampAfter"`
		UpdatedAfter     string `json:"lastUpdatedAfter"`
	}
	e.answerOnce(c, &p, func(ctx context.Context, _ *a2a.Card, _ dialect.Writing) (any, error) {
		if p.Status != "" && !slices.Contains(a2a.States(), a2a.State(p.Status)) {
			return nil, paramsErrorf("there is no state %q: it is one of %v", p.Status, a2a.States())
		}
		page, err := e.server.agent.opts.Client.List(ctx, a2a.TaskQuery{ContextID: p.ContextID, State: a2a.State(p.Status),
			PageSize: p.PageSize, PageToken: p.PageToken, HistoryLength: p.HistoryLength, IncludeArtifacts: p.IncludeArtifacts,
			StatusAfter: cmp.Or(p.StatusAfter, p.UpdatedAfter)})
		if err != nil {
			return nil, err
		}
		tasks := make([]json.RawMessage, 0, len(page.Tasks))
		for i := range page.Tasks {
			tasks = append(tasks, spell.TaskJSON(&page.Tasks[i]))
		}
		return struct {
			Tasks []json.RawMessage `json:"tasks"`
			Next  string            `json:"nextPageToken"`
			Total int               `json:"totalSize,omitempty"`
		}{tasks, page.NextPageToken, page.TotalSize}, nil
	})
}

func (e *linesEditor) getCard(c *editorRequest) {
	e.answerOnce(c, nil, func(ctx context.Context, card *a2a.Card, _ dialect.Writing) (_ any, err error) {
		if c.method == methodExtendedCard {
			if card, err = e.server.agent.opts.Client.Extended(ctx); err != nil {
				return nil, err
			}
		}
		return json.RawMessage(card.Raw), nil
	})
}

// status is bridge/status: how the bridge talks to the agent.
func (e *linesEditor) status(c *editorRequest) {
	e.server.spawn(func(ctx context.Context) {
		status := struct {
			Version    string `json:"version,omitempty"`
			Protocol   string `json:"protocol"`
			Agent      string `json:"agent,omitempty"`
			A2AVersion string `json:"a2aVersion,omitempty"`
			Dialect    string `json:"dialect,omitempty"`
			// Extensions are those that the agent names as active, or, if it names
			// none, those that were asked for.
			Extensions []string `json:"extensions"`
			// Refused are extensions that were asked for, and are not active.
			Refused []string `json:"refusedExtensions,omitempty"`
			// Always is what the user has allowed for the rest of a conversation, by
			// context.
			Always map[string][]string `json:"always,omitempty"`
			Error  string              `json:"error,omitempty"`
		}{Version: e.server.agent.opts.Version, Protocol: "a2a", Extensions: []string{}}
		if card, w, err := e.server.agent.Ready(ctx); err != nil {
			status.Error = err.Error()
		} else {
			status.Agent, status.Dialect = card.Name, w.Dialect
			status.Extensions = append(status.Extensions, w.Extensions...)
			if echoed, ok := e.server.agent.opts.Client.Echoed(); ok {
				status.Extensions = append(status.Extensions[:0], echoed...)
				for _, uri := range w.Extensions {
					if !slices.Contains(echoed, uri) {
						status.Refused = append(status.Refused, uri)
					}
				}
			}
			if chosen, err := e.server.agent.opts.Client.Chosen(ctx); err != nil {
				status.Error = err.Error()
			} else {
				status.A2AVersion = chosen.Version
			}
		}
		status.Always = e.always()
		c.reply(status)
	})
}

// always tells what the bridge remembers of approvals, by context.
func (e *linesEditor) always() map[string][]string {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := map[string][]string{}
	for id, s := range e.contexts {
		if list := s.approvals.always(); len(list) > 0 {
			all[id] = list
		}
	}
	return all
}
