package mapping

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A Writing is how we write to an agent what A2A has no words for; it is decided
// once, before the first message.
type Writing struct {
	// Dialect is devtool, gemini or core.
	Dialect string
	// URI is the development-tool extension as the card spells it, for devtool.
	URI string
	// Extensions are the URIs to activate on every request.
	Extensions []string
}

// The dialects that are written.
const (
	DialectDevtool = "devtool"
	DialectGemini  = "gemini"
	DialectCore    = "core"
)

// Dialects are the words that --dialect takes.
func Dialects() []string {
	words := []string{"auto"}
	for _, d := range dialects() {
		words = append(words, d.name())
	}
	return append(words, DialectCore)
}

// geminiName is the name on the card of Gemini CLI's A2A server. Without its
// settings that server works in its own directory and does not say so, hence
// they must be written before it has said anything.
const geminiName = "Gemini SDLC Agent"

// Settings decides how to write to the agent of a card. want is --dialect, auto
// or empty to tell from the card; extra are further extensions to activate.
func Settings(card *a2a.Card, want string, extra []string) (Writing, error) {
	w := Writing{Dialect: want}
	declared := ""
	for _, v := range Negotiate(card, extra) {
		switch {
		case v.Active && (want != DialectCore || !v.Spoken || slices.Contains(extra, v.URI)):
			w.Extensions = append(w.Extensions, v.URI)
			if v.Spoken && declared == "" {
				declared = v.URI
			}
		case v.Required:
			return w, fmt.Errorf("agent: requires the extension %s, which is %s", v.URI, v.Reason)
		}
	}
	switch want {
	case "", "auto":
		switch {
		case declared != "":
			w.Dialect = DialectDevtool
		case card.Name == geminiName:
			w.Dialect = DialectGemini
		default:
			w.Dialect = DialectCore
		}
	case DialectCore, DialectGemini:
	case DialectDevtool:
		if declared == "" {
			declared = DevtoolURI
			w.Extensions = append(w.Extensions, declared)
		}
	default:
		return w, fmt.Errorf("bridge: no dialect %q: there are %v", want, Dialects())
	}
	if w.Dialect == DialectDevtool {
		w.URI = declared
	}
	return w, nil
}

// AgentSettings is what the first message of a session tells the agent.
type AgentSettings struct {
	// Workspace is the absolute path of the session's directory.
	Workspace string
	// MCPServers are the editor's, as ACP spells them; empty unless the user
	// wants them forwarded, since they hold tokens.
	MCPServers []json.RawMessage
	// Extra is the user's --agent-settings: a JSON object, whose members win.
	Extra json.RawMessage
}

// Apply writes the settings into a message's metadata.
func (w Writing) Apply(s AgentSettings, m *a2a.Outgoing) error {
	settings := map[string]any{}
	key := ""
	switch w.Dialect {
	case DialectDevtool:
		key = w.URI
		settings["workspace_path"] = s.Workspace
		if len(s.MCPServers) > 0 {
			settings["mcp_servers"] = s.MCPServers
		}
	case DialectGemini:
		key = geminiKey
		settings["kind"], settings["workspacePath"] = "agent-settings", s.Workspace
		if len(s.MCPServers) > 0 {
			settings["mcpServers"] = s.MCPServers
		}
	default:
		return nil
	}
	if len(s.Extra) > 0 {
		var extra map[string]any
		if err := json.Unmarshal(s.Extra, &extra); err != nil {
			return fmt.Errorf("bridge: --agent-settings is not a JSON object: %v", err)
		}
		maps.Copy(settings, extra)
	}
	value, err := marshal(settings)
	if err != nil {
		return err
	}
	if m.Metadata == nil {
		m.Metadata = map[string]json.RawMessage{}
	}
	m.Metadata[key] = value
	w.mark(m)
	return nil
}

// mark names the extension in a message that carries its data.
func (w Writing) mark(m *a2a.Outgoing) {
	if w.URI != "" && !slices.Contains(m.Extensions, w.URI) {
		m.Extensions = append(m.Extensions, w.URI)
	}
}

// Answers writes the user's answers into a message, each in the dialect that
// asked. All answers of a pause belong into one message: answered singly,
// parallel calls stall.
func (w Writing) Answers(answers []Answer, m *a2a.Outgoing) error {
	for _, a := range answers {
		data, err := a.Call.dialect.answer(a)
		if err != nil {
			return err
		}
		m.Parts = append(m.Parts, a2a.OutPart{Data: data})
		if (a.Call.dialect == devtool{}) {
			w.mark(m)
		}
	}
	return nil
}

// Settled reports whether a message carries settings of this dialect already.
func (w Writing) Settled(m *a2a.Outgoing) bool {
	key := w.URI
	if w.Dialect == DialectGemini {
		key = geminiKey
	}
	_, ok := m.Metadata[key]
	return ok || w.Dialect == DialectCore
}
