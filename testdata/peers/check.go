package peers

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A checker reads a conversation line by line, and notes what no editor should get.
type checker struct {
	files    bool // the editor serves them
	problems []string
	requests map[string]*request // of the editor's, by ID
	sessions map[string]*session
	asked    map[string]*question // by the ID of the bridge's request
}

type request struct {
	method, session string
	answered        bool
}

type session struct {
	prompts   int // that run
	cancelled bool
	calls     map[string]string // the last status of each tool call
	open      map[string]bool   // calls that the user is being asked about
}

type question struct{ session, call string }

// check returns the faults of a conversation.
func check(log []*Line) []string {
	c := &checker{requests: map[string]*request{}, sessions: map[string]*session{}, asked: map[string]*question{}}
	for _, l := range log {
		switch {
		case l.FromEditor:
			c.editor(l)
		case c.wellFormed(l):
			c.bridge(l)
		}
	}
	return c.problems
}

func (c *checker) bad(l *Line, format string, args ...any) {
	raw := strings.TrimSpace(l.Raw)
	if len(raw) > 500 {
		raw = raw[:500] + "…"
	}
	c.problems = append(c.problems, fmt.Sprintf(format, args...)+": "+raw)
}

// wellFormed: stdout has only JSON-RPC messages, one a line, and no null in
// them, which is true to Lua.
func (c *checker) wellFormed(l *Line) bool {
	if l.Message == nil || !json.Valid([]byte(l.Raw)) || !strings.HasSuffix(l.Raw, "\n") {
		c.bad(l, "stdout has a line that is not a JSON object")
		return false
	}
	if l.Message["jsonrpc"] != "2.0" {
		c.bad(l, "stdout has a line without jsonrpc 2.0")
	}
	if where := null(l.Message, ""); where != "" {
		c.bad(l, "%s is null: absent members are to be left out", where)
	}
	return true
}

func null(v any, path string) string {
	switch v := v.(type) {
	case nil:
		return path
	case map[string]any:
		for k, member := range v {
			if where := null(member, strings.TrimPrefix(path+"."+k, ".")); where != "" {
				return where
			}
		}
	case []any:
		for i, member := range v {
			if where := null(member, fmt.Sprintf("%s.%d", path, i)); where != "" {
				return where
			}
		}
	}
	return ""
}

func (c *checker) editor(l *Line) {
	id, method, name := fmt.Sprint(l.Message["id"]), l.text("method"), l.text("params.sessionId")
	switch s := c.sessions[name]; {
	case method == endOfInput: // cancels everything
		for _, s := range c.sessions {
			s.cancelled = true
		}
	case method == "":
		if q := c.asked[id]; q != nil {
			delete(c.sessions[q.session].open, q.call)
		}
	case method == "initialize":
		c.files = l.get("params.clientCapabilities.fs.readTextFile") == true
		c.requests[id] = &request{method: method, session: name}
	case method == "session/cancel" && s != nil:
		s.cancelled = true
	case method == "session/prompt" && s != nil:
		s.prompts++
		s.cancelled = false
		clear(s.calls)
		fallthrough
	case l.Message["id"] != nil:
		c.requests[id] = &request{method: method, session: name}
	}
}

func (c *checker) bridge(l *Line) {
	switch method := l.text("method"); method {
	case "":
		c.response(l)
	case "session/update":
		c.update(l)
	case "session/request_permission":
		c.permission(l)
	case "fs/read_text_file", "fs/write_text_file":
		if !c.files {
			c.bad(l, "the bridge uses %s, which the editor has not offered", method)
		}
	default:
		c.bad(l, "the bridge uses %s, which the editor has not offered", method)
	}
}

func (c *checker) response(l *Line) {
	r := c.requests[fmt.Sprint(l.Message["id"])]
	switch {
	case r == nil:
		c.bad(l, "a response to nothing")
		return
	case r.answered:
		c.bad(l, "a second response")
		return
	case (l.Message["result"] == nil) == (l.Message["error"] == nil):
		c.bad(l, "a response needs a result or an error")
	}
	r.answered = true
	switch r.method {
	case "session/new":
		c.sessions[l.text("result.sessionId")] = &session{calls: map[string]string{}, open: map[string]bool{}}
	case "session/prompt":
		s := c.sessions[r.session]
		s.prompts--
		// A call that never ends shows a spinner for ever. (After a cancel or an error
		// clients end calls themselves.)
		for id, status := range s.calls {
			if l.text("result.stopReason") == "end_turn" && status != "completed" && status != "failed" {
				c.bad(l, "the turn is over, and call %s is still %s", id, status)
			}
		}
	}
}

// betweenTurns are the updates that need no prompt.
var betweenTurns = []string{"current_mode_update", "available_commands_update", "session_info_update"}

func (c *checker) update(l *Line) {
	s, kind := c.sessions[l.text("params.sessionId")], l.update()
	if s == nil {
		c.bad(l, "an update for a session that session/new has not returned yet")
		return
	}
	if s.prompts == 0 && !slices.Contains(betweenTurns, kind) {
		c.bad(l, "an update while no prompt runs")
	}
	if kind != "tool_call" && kind != "tool_call_update" {
		return
	}
	id, status := l.text("params.update.toolCallId"), l.text("params.update.status")
	before, known := s.calls[id]
	switch {
	case kind == "tool_call" && known:
		c.bad(l, "the call %s is announced a second time", id)
	case kind == "tool_call_update" && !known:
		c.bad(l, "the call %s is updated, and was not announced in this turn", id)
	case kind == "tool_call" && l.text("params.update.title") == "":
		c.bad(l, "a call without a title")
	case status != "" && (before == "completed" || before == "failed") && status != before:
		c.bad(l, "the call %s goes on after its end", id)
	case s.open[id] && !s.cancelled && status != "" && status != "pending":
		c.bad(l, "the call %s goes on while the user is asked about it, which makes clients drop the question", id)
	}
	if status == "" {
		status = before
	}
	s.calls[id] = status
}

func (c *checker) permission(l *Line) {
	name, call := l.text("params.sessionId"), l.text("params.toolCall.toolCallId")
	s := c.sessions[name]
	if s == nil || s.prompts == 0 {
		c.bad(l, "a question while no prompt runs")
		return
	}
	if status, known := s.calls[call]; !known || status != "pending" {
		c.bad(l, "a question about the call %q, which is %q", call, status)
	}
	if l.text("params.toolCall.title") == "" {
		c.bad(l, "a question without a title")
	}
	c.asked[fmt.Sprint(l.Message["id"])] = &question{name, call}
	s.open[call] = true
	seen := map[string]bool{}
	options, _ := l.get("params.options").([]any)
	for _, o := range options {
		kind := fmt.Sprint(at(o, "kind"))
		// For a tool of an MCP server Gemini offers "always" twice: for it, and for the server.
		if id := fmt.Sprint(at(o, "optionId")); seen[kind] && !strings.HasPrefix(id, "proceed_always_") {
			c.bad(l, "two options of the kind %s: CodeCompanion keys its buttons by it", kind)
		}
		seen[kind] = true
	}
	if !seen["allow_once"] && !seen["allow_always"] || !seen["reject_once"] && !seen["reject_always"] {
		c.bad(l, "the options do not allow both yes and no")
	}
}
