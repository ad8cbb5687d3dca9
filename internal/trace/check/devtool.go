package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/event"
)

// The enums of the development-tool extension, each value at its number: proto-JSON may write either.
var (
	callStates = []string{"STATUS_UNSPECIFIED", "PENDING", "EXECUTING", "SUCCEEDED", "FAILED", "CANCELLED"}
	toolEvents = []string{"DEVELOPMENT_TOOL_EVENT_KIND_UNSPECIFIED", "TOOL_CALL_CONFIRMATION", "TOOL_CALL_UPDATE", "TEXT_CONTENT", "STATE_CHANGE", "THOUGHT"}
)

// numberIn returns the number of an enum's value; 0 for an unspecified or unknown one.
func numberIn(names []string, v gjson.Result) int {
	if v.Type == gjson.Number && v.Num > 0 && v.Num < float64(len(names)) {
		return int(v.Num)
	}
	return max(0, slices.Index(names, v.Str))
}

// extended returns a member of the extension, which proto-JSON may write in lowerCamelCase. Null is none.
func extended(v gjson.Result, name string) gjson.Result {
	for key, value := range v.Map() {
		if value.Type != gjson.Null && strings.EqualFold(strings.ReplaceAll(key, "_", ""), strings.ReplaceAll(name, "_", "")) {
			return value
		}
	}
	return gjson.Result{}
}

// A toolCall is the newest state of a tool call, with the records that tell it and asked for it.
type toolCall struct {
	state           int // in callStates
	record, request int64
}

// done: nothing comes after this state.
func (t toolCall) done() bool { return t.state >= slices.Index(callStates, "SUCCEEDED") }

// tools checks the tool calls of the development-tool extension. Gemini CLI, which names it in its
// card, writes calls of another form: they have none of these members. Other agents' data has a
// tool_name, or a toolCallId, too: it is a call where the request or the metadata names the extension.
func (w *agentWire) tools(r *trace.Record, x *exchange, e *event.Event) {
	if e.Kind != event.Status {
		return
	}
	report := func(weight, format string, args ...any) {
		w.weigh(r.N, x, RuleSchema, weight, format, args...)
	}
	metadata, keyed := e.Body.Get("metadata"), false
	metadata.ForEach(func(uri, of gjson.Result) bool {
		if keyed = strings.Contains(uri.Str, "/developer-profile/"); keyed && numberIn(toolEvents, of.Get("kind")) == 0 {
			report(Error, "kind in the extension's metadata must be one of %s, and is %s", strings.Join(toolEvents[1:], ", "), quote(of.Get("kind")))
		}
		return !keyed
	})
	task := w.begun[e.Task]
	if !x.devtool && !keyed {
		return
	}
	e.Body.Get("status.message.parts.#.data").ForEach(func(_, data gjson.Result) bool {
		if !extended(data, "tool_call_id").Exists() && !extended(data, "tool_name").Exists() || extended(data, "selected_option_id").Exists() {
			return true
		}
		switch {
		case !x.devtool && x.params.Get("message").Exists():
			report(Warning, "it is a tool call of the development-tool extension, which the request has not activated: does the card have it in capabilities.extensions?")
		case !keyed:
			report(Error, "the tool call has no metadata under the URI of the extension, by which clients know it%s", strangers(metadata))
		}
		if weight, wrong := wrongCall(data); wrong != "" {
			report(weight, "%s (the tool call %q)", wrong, extended(data, "tool_call_id").String())
		}
		if task != nil {
			w.callState(r, x, task, data, report)
		}
		return true
	})
	if task == nil || e.State != "completed" {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(task.calls)) {
		if call := task.calls[id]; !call.done() {
			report(Warning, "the task is completed, and the tool call %q is still %s, as record %d says", id, callStates[call.state], call.record)
		}
	}
	task.calls = nil // a completed task may continue
}

// callState checks that a call goes forward, and notes its state. Another stream may say again
// what this one has said.
func (w *agentWire) callState(r *trace.Record, x *exchange, task *seenTask, data gjson.Result, report func(weight, format string, args ...any)) {
	id, now := strings.Clone(extended(data, "tool_call_id").String()), toolCall{numberIn(callStates, extended(data, "status")), r.N, x.request}
	before, known := task.calls[id]
	back := now.state < before.state || before.done() && now.state != before.state
	switch {
	case id == "" || now.state == 0 || !known && len(task.calls) >= maxPieces:
		return
	case back:
		if before.request == x.request {
			report(Error, "the tool call %q was %s in record %d, and is %s", id, callStates[before.state], before.record, callStates[now.state])
		}
		return
	case task.calls == nil:
		task.calls = map[string]toolCall{}
	}
	task.calls[id] = now
}

// wrongCall returns what is wrong with a call alone, and how bad that is; "" for nothing.
func wrongCall(data gjson.Result) (weight, wrong string) {
	request, state := extended(data, "confirmation_request"), extended(data, "status")
	options, asks := request.Get("options").Array(), request.IsObject() && numberIn(callStates, state) == 1
	shown := func(name string) bool { return extended(request, name).IsObject() }
	failed := extended(data, "error").Exists()
	switch {
	case extended(data, "tool_call_id").String() == "":
		return Error, "there is no tool_call_id: clients take each update for another call"
	case numberIn(callStates, state) == 0:
		return Error, fmt.Sprintf("the call must have a status of %s, and it is %s", strings.Join(callStates[1:], ", "), quote(state))
	case asks && len(options) == 0:
		return Error, "confirmation_request has no options: nobody can answer"
	case asks && slices.ContainsFunc(options, func(o gjson.Result) bool { return o.Get("id").String() == "" }):
		return Error, "confirmation_request has an option without an id, which an answer would name"
	case failed && extended(data, "output").Exists():
		return Error, "the call has an output and an error at once"
	case extended(data, "tool_name").String() == "":
		return Warning, "there is no tool_name: each update must be the whole call"
	case asks && !slices.ContainsFunc([]string{"execute_details", "file_edit_details", "mcp_details", "generic_details"}, shown):
		return Warning, "confirmation_request has no details: nobody sees what is to be allowed"
	case callStates[numberIn(callStates, state)] == "FAILED" && !failed:
		return Warning, "the call is FAILED, and no error says why"
	}
	return "", ""
}
