package peers

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// A scriptedModel stands for a language model on loopback. It speaks as much of four wires as Claude
// Code (Anthropic's messages), Codex (OpenAI's responses), Gemini CLI and opencode (OpenAI's
// chat) need. What it says next depends on what the tools have answered, and on nothing else.
type scriptedModel struct {
	url   string
	wires *txtar.Archive // mcp/wires.txtar

	mu      sync.Mutex
	next    plot
	answers []string // of the tools, in the newest request
	said    []step
}

func startScripted(t *testing.T, next plot) *scriptedModel {
	t.Helper()
	m := &scriptedModel{next: next, wires: mustGet(txtar.ParseFile(filepath.Join("mcp", "wires.txtar")))(t)}
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

// says is a step on the wire of a path, as events. There are none if the path is no wire's.
func (m *scriptedModel) says(path string, s step, prefix, id string) []string {
	wire, how := path[strings.LastIndexAny(path, "/:")+1:], "words"
	if s.tool != "" {
		how = "call"
	}
	fill := strings.NewReplacer(`:ID`, ":"+asJSON(id), ":TEXT", ":"+asJSON(s.text), ":NAMESPACE", ":"+asJSON(strings.TrimSuffix(prefix, ".")),
		":NAME", ":"+asJSON(prefix+s.tool), ":TOOL", ":"+asJSON(s.tool), ":ARGS", ":"+asJSON(s.args), ":JSON", ":"+asJSON(asJSON(s.args)))
	for _, file := range m.wires.Files {
		if file.Name == wire+" "+how {
			return strings.Split(strings.TrimSpace(fill.Replace(string(file.Data))), "\n")
		}
	}
	return nil
}

func (m *scriptedModel) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var request map[string]any
	s, id := step{text: "A title."}, "title" // that is asked for beside the conversation, without our tools
	if m.says(r.URL.Path, s, "", id) == nil || json.Unmarshal(body, &request) != nil {
		http.NotFound(w, r) // of models, of the number of tokens, and so on
		return
	}
	prefix := toolPrefix(r.URL.Path, string(body))
	if prefix != "" {
		answers := answersIn(request)
		s, id = m.step(answers), fmt.Sprintf("call_%d", len(answers))
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range m.says(r.URL.Path, s, prefix, id) {
		if name := eventType.FindStringSubmatch(event); name != nil { // two wires have the names of their events
			fmt.Fprintf(w, "event: %s\n", name[1])
		}
		fmt.Fprintf(w, "data: %s\n\n", event)
	}
	if strings.HasSuffix(r.URL.Path, "/completions") {
		fmt.Fprint(w, "data: [DONE]\n\n")
	}
}

var eventType = regexp.MustCompile(`^\{"type":"([^"]+)"`)

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

// answersIn are the answers of tools in a request, on any wire.
func answersIn(v any) (all []string) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			all = append(all, answersIn(item)...)
		}
	case object:
		switch {
		case v["type"] == "tool_result", v["role"] == "tool":
			return []string{texts(v["content"])}
		case v["type"] == "function_call_output":
			return []string{texts(v["output"])}
		}
		if r, ok := v["functionResponse"].(object); ok {
			return []string{texts(r["response"])}
		}
		for _, name := range []string{"messages", "input", "contents", "content", "parts"} {
			if list, ok := v[name].([]any); ok {
				all = append(all, answersIn(list)...)
			}
		}
	}
	return all
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
