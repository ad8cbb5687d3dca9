package dialect

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A Writing is the dialect and the extensions in which we write to an agent; it is
// decided once, before the first message.
type Writing struct {
	// Dialect is one of [Names], and never auto.
	Dialect string
	// URI is the development-tool extension as the card spells it, for devtool.
	URI string
	// Extensions are the URIs to activate on every request.
	Extensions []string
}

// dialect is the one that is written.
func (w Writing) dialect() dialect { return dialectAt(placeOf(w.Dialect)) }

// Traits are how the agent differs from the specification.
func (w Writing) Traits() Traits { return w.dialect().about().traits }

// Those of them that other files name.
const (
	Devtool = "devtool"
	Gemini  = "gemini"
	Core    = "core"
)

// Names are the words that --dialect takes.
func Names() []string {
	words := []string{"auto"}
	for _, d := range dialects() {
		words = append(words, d.about().name)
	}
	return append(words, Core)
}

// Settings decides how to write to the agent of a card. want is --dialect, auto
// or empty to tell from the card; extra are further extensions to activate.
func Settings(card *a2a.Card, want string, extra []string) (Writing, error) {
	w := Writing{Dialect: want}
	declared := ""
	for _, v := range Negotiate(card, extra) {
		switch {
		case v.Active && (want != Core || !v.Spoken || slices.Contains(extra, v.URI)):
			w.Extensions = append(w.Extensions, v.URI)
			if v.Spoken && declared == "" && devtoolVersion(v.URI) != "" {
				declared = v.URI
			}
		case v.Required:
			return w, fmt.Errorf("agent: requires the extension %s, which is %s", v.URI, v.Reason)
		}
	}
	switch {
	case want != "" && want != "auto" && want != Core && placeOf(want) == 0:
		return w, fmt.Errorf("bridge: unknown dialect %q; use one of %s", want, strings.Join(Names(), ", "))
	case want == Devtool && declared == "":
		declared = devtoolURI
		w.Extensions = append(w.Extensions, declared)
	case want != "" && want != "auto":
	case declared != "":
		w.Dialect = Devtool
	default:
		w.Dialect = dialectOf(card)
	}
	if w.Dialect == Devtool {
		w.URI = declared
	}
	return w, nil
}

// dialectOf returns the first dialect that matches a card, else [Core].
func dialectOf(card *a2a.Card) string {
	for _, d := range dialects() {
		if d.matchesCard(card) {
			return d.about().name
		}
	}
	return Core
}

// AgentSettings is what the first message of a session tells the agent.
type AgentSettings struct {
	// Workspace is the absolute path of the session's directory. No dialect has a place for
	// further ones: the extension's AgentSettings says that others may be added, not how they
	// are called.
	Workspace string
	// MCPServers are the editor's, as ACP spells them; empty unless the user
	// wants them forwarded, since they hold tokens.
	MCPServers []json.RawMessage
	// Extra is the user's --agent-settings: a JSON object, whose members win.
	Extra json.RawMessage
}

// Apply writes the settings into a message's metadata.
func (w Writing) Apply(s AgentSettings, m *a2a.Outgoing) error {
	key, settings, err := w.settings(s)
	if key == "" || err != nil {
		return err
	}
	value, err := rawjson.Marshal(settings)
	if err != nil {
		return err
	}
	if m.Metadata == nil {
		m.Metadata = map[string]json.RawMessage{}
	}
	m.Metadata[key] = value
	w.nameExtension(m)
	return nil
}

// settings are the dialect's with the user's own, and the key of the metadata that holds
// them; "" in a dialect that has none.
func (w Writing) settings(s AgentSettings) (key string, settings map[string]any, err error) {
	if key, settings = w.dialect().settings(s, w.URI); key == "" || len(s.Extra) == 0 {
		return key, settings, nil
	}
	var extra map[string]json.RawMessage
	if err := json.Unmarshal(s.Extra, &extra); err != nil {
		return "", nil, fmt.Errorf("bridge: --agent-settings is not a JSON object: %v", err)
	}
	for name := range extra { // in proto3 JSON mcp_servers and mcpServers are one field
		delete(settings, snakeCase(name))
	}
	for name, value := range extra {
		settings[name] = value
	}
	return key, settings, nil
}

// nameExtension names the development-tool extension, if it is used, in a message that carries its data.
func (w Writing) nameExtension(m *a2a.Outgoing) {
	if w.URI != "" && !slices.Contains(m.Extensions, w.URI) {
		m.Extensions = append(m.Extensions, w.URI)
	}
}

// Answers writes the user's answers into a message, each in the dialect that
// asked. All answers of a pause belong into one message: answered singly,
// parallel calls stall.
func (w Writing) Answers(answers []ask.Answer, m *a2a.Outgoing) error {
	for _, a := range answers {
		d := dialectAt(a.Call.Dialect)
		if err := d.answer(a, m); err != nil {
			return err
		}
		if d.about().name == Devtool {
			w.nameExtension(m)
		}
	}
	return nil
}

// WriteReply adds the user's words, which answer an input, to a message.
func WriteReply(in Input, text string, m *a2a.Outgoing) error {
	return dialectAt(in.dialect).reply(in, text, m)
}

// Settled reports whether a message carries settings of this dialect already.
func (w Writing) Settled(m *a2a.Outgoing) bool {
	key, _ := w.dialect().settings(AgentSettings{}, w.URI)
	_, ok := m.Metadata[key]
	return ok || key == ""
}

// An Ability is something that an agent can do, or cannot.
type Ability struct {
	Name string
	Has  bool
}

// Abilities tells in one line what an agent can do and cannot: what the caller knows of, files by
// its card, and approvals by the dialect that we write to it.
func (w Writing) Abilities(card *a2a.Card, known ...Ability) string {
	files := false
	for _, kind := range []string{"image/*", "audio/*", "video/*", "application/*"} {
		files = files || card.Takes(kind)
	}
	var has, missing []string
	for _, a := range append(known, Ability{"files", files}, Ability{"approvals", w.Traits().Approvals}) {
		if a.Has {
			has = append(has, a.Name)
		} else {
			missing = append(missing, a.Name)
		}
	}
	var line []string
	if len(has) > 0 {
		line = append(line, strings.Join(has, ", "))
	}
	if len(missing) > 0 {
		line = append(line, "no "+strings.Join(missing, ", no "))
	}
	return strings.Join(line, "; ")
}
