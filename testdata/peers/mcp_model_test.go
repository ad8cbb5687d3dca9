package peers

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// A scriptedModel stands for a language model on loopback. It speaks as much of four wires as Claude
// Code (Anthropic's messages), Codex (OpenAI's responses), Gemini CLI and opencode (OpenAI's
// chat) need. What it says next depends on what the tools have answered, and on nothing else.
type scriptedModel struct {
	url string

	mu      sync.Mutex
	next    plot
	answers []string // of the tools, in the newest request
	said    []step
}

func startScripted(t *testing.T, next plot) *scriptedModel {
	t.Helper()
	m := &scriptedModel{next: next}
	server := httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(server.CloseClientConnections)
	m.url = server.URL
	return m
}

// heard is what the tools have answered.
func (m *scriptedModel) heard() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.answers
}

// A wire is how a client talks to its model: where it has the answers, and how it is answered.
type wire struct {
	answers func(request map[string]any) []string
	say     func(s step, prefix, id string) []any // id is that of this answer, and of its call
	events  bool                                  // each line of the stream has the name of its type
}

func wireOf(path string) *wire {
	switch {
	case strings.HasSuffix(path, "/messages"):
		return &wire{anthropicAnswers, anthropicSays, true}
	case strings.HasSuffix(path, "/responses"):
		return &wire{responsesAnswers, responsesSays, true}
	case strings.HasSuffix(path, "/chat/completions"):
		return &wire{chatAnswers, chatSays, false}
	case strings.HasSuffix(path, ":streamGenerateContent"):
		return &wire{geminiAnswers, geminiSays, false}
	}
	return nil
}

func (m *scriptedModel) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var request map[string]any
	wire := wireOf(r.URL.Path)
	if wire == nil || json.Unmarshal(body, &request) != nil {
		http.NotFound(w, r) // of models, of the number of tokens, and so on
		return
	}
	s, id := step{text: "A title."}, "title" // that is asked for beside the conversation, without our tools
	prefix := toolPrefix(r.URL.Path, string(body))
	if prefix != "" {
		answers := wire.answers(request)
		s, id = m.step(answers), fmt.Sprintf("call_%d", len(answers))
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range wire.say(s, prefix, id) {
		b, err := json.Marshal(event)
		if err != nil {
			panic(err)
		}
		if fields, ok := event.(object); ok && wire.events {
			fmt.Fprintf(w, "event: %s\n", fields["type"])
		}
		fmt.Fprintf(w, "data: %s\n\n", b)
	}
	if strings.HasSuffix(r.URL.Path, "/completions") {
		fmt.Fprint(w, "data: [DONE]\n\n")
	}
}

func (m *scriptedModel) step(answers []string) step {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answers = answers
	s := m.next(answers)
	m.said = append(m.said[:min(len(m.said), len(answers))], s) // again, if a request is repeated
	return s
}

// record is what the model has said, and has been told.
func (m *scriptedModel) record() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var b strings.Builder
	for i, s := range m.said {
		if s.tool == "" {
			fmt.Fprintf(&b, "model: %s\n", s.text)
			continue
		}
		fmt.Fprintf(&b, "model: %s %s\n", s.tool, asJSON(s.args))
		if i < len(m.answers) {
			b.WriteString("  " + strings.ReplaceAll(strings.TrimSpace(m.answers[i]), "\n", "\n  ") + "\n")
		}
	}
	return b.String()
}

type object = map[string]any

// toolPrefix is what stands before the names of our tools: each client has its own.
func toolPrefix(path, request string) string {
	for _, prefix := range []string{"mcp__a2astdio__", "mcp_a2astdio_", "a2astdio_"} {
		if strings.Contains(request, `"`+prefix+`send_message"`) {
			return prefix
		}
	}
	if strings.HasSuffix(path, "/responses") && strings.Contains(request, `"mcp__a2astdio"`) { // Codex has a namespace
		return "mcp__a2astdio."
	}
	return ""
}

// texts are all texts in an answer, joined.
func texts(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var all []string
		for _, item := range v {
			all = append(all, texts(item))
		}
		return strings.Join(all, "\n")
	case object:
		if text, ok := v["text"]; ok {
			return texts(text)
		}
		for _, name := range []string{"output", "content", "error"} {
			if inner, ok := v[name]; ok {
				return texts(inner)
			}
		}
		b, _ := json.Marshal(v)
		return string(b)
	}
	return ""
}

// each calls a function for each object in a list.
func each(list any, f func(object)) {
	items, _ := list.([]any)
	for _, item := range items {
		if o, ok := item.(object); ok {
			f(o)
		}
	}
}

func anthropicAnswers(request map[string]any) (all []string) {
	each(request["messages"], func(m object) {
		each(m["content"], func(block object) {
			if block["type"] == "tool_result" {
				all = append(all, texts(block["content"]))
			}
		})
	})
	return all
}

func anthropicSays(s step, prefix, id string) []any {
	block, delta, reason := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": s.text}, "end_turn"
	if s.tool != "" {
		block = object{"type": "tool_use", "id": id, "name": prefix + s.tool, "input": object{}}
		delta, reason = object{"type": "input_json_delta", "partial_json": asJSON(s.args)}, "tool_use"
	}
	usage := object{"input_tokens": 1, "output_tokens": 1}
	return []any{
		object{"type": "message_start", "message": object{"id": id, "type": "message", "role": "assistant", "model": "scripted", "content": []any{}, "usage": usage}},
		object{"type": "content_block_start", "index": 0, "content_block": block},
		object{"type": "content_block_delta", "index": 0, "delta": delta},
		object{"type": "content_block_stop", "index": 0},
		object{"type": "message_delta", "delta": object{"stop_reason": reason}, "usage": usage},
		object{"type": "message_stop"},
	}
}

func responsesAnswers(request map[string]any) (all []string) {
	each(request["input"], func(item object) {
		if item["type"] == "function_call_output" {
			all = append(all, texts(item["output"]))
		}
	})
	return all
}

func responsesSays(s step, prefix, id string) []any {
	item := object{"type": "message", "id": id, "role": "assistant", "content": []any{object{"type": "output_text", "text": s.text}}}
	if s.tool != "" {
		item = object{"type": "function_call", "id": id, "call_id": id, "namespace": strings.TrimSuffix(prefix, "."), "name": s.tool, "arguments": asJSON(s.args)}
	}
	usage := object{"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
	return []any{
		object{"type": "response.created", "response": object{"id": "r"}},
		object{"type": "response.output_item.done", "output_index": 0, "item": item},
		object{"type": "response.completed", "response": object{"id": "r", "usage": usage}},
	}
}

func chatAnswers(request map[string]any) (all []string) {
	each(request["messages"], func(m object) {
		if m["role"] == "tool" {
			all = append(all, texts(m["content"]))
		}
	})
	return all
}

func chatSays(s step, prefix, id string) []any {
	delta, reason := object{"role": "assistant", "content": s.text}, "stop"
	if s.tool != "" {
		function := object{"name": prefix + s.tool, "arguments": asJSON(s.args)}
		delta, reason = object{"role": "assistant", "tool_calls": []any{object{"index": 0, "id": id, "type": "function", "function": function}}}, "tool_calls"
	}
	chunk := func(delta object, reason any) object {
		return object{"id": "c", "object": "chat.completion.chunk", "model": "scripted", "choices": []any{object{"index": 0, "delta": delta, "finish_reason": reason}}}
	}
	return []any{chunk(delta, nil), chunk(object{}, reason)}
}

func geminiAnswers(request map[string]any) (all []string) {
	each(request["contents"], func(content object) {
		each(content["parts"], func(part object) {
			if r, ok := part["functionResponse"].(object); ok {
				all = append(all, texts(r["response"]))
			}
		})
	})
	return all
}

func geminiSays(s step, prefix, _ string) []any {
	part := object{"text": s.text}
	if s.tool != "" {
		part = object{"functionCall": object{"name": prefix + s.tool, "args": s.args}}
	}
	return []any{object{"candidates": []any{object{"index": 0, "finishReason": "STOP", "content": object{"role": "model", "parts": []any{part}}}}}}
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
