package mapping

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// agentstack is BeeAI's agentstack, whose agents say by extensions what they do and
// what they want to be told. Read in source only (server/agent.py, 2025-11-14).
type agentstack struct{ quiet }

const agentstackURI = "https://a2a-extensions.agentstack.beeai.dev/"

func (agentstack) name() string { return "agentstack" }

// traits: what an agent yields is a status message each time, and text a chunk.
func (agentstack) traits() Traits { return Traits{Chunks: true} }

func (agentstack) sign() string { return agentstackURI }

func (agentstack) tells(card *a2a.Card) bool { return declares(card, agentstackURI) }

func (agentstack) knows(ev *a2a.Event) bool {
	return anyMetadata(ev, func(m a2a.JSON) bool { return keysWith(m, agentstackURI) })
}

// extension finds what a message says by one of the extensions, in any version.
func (agentstack) extension(metadata a2a.JSON, name string) (uri string, value gjson.Result) {
	gjson.Parse(string(metadata)).ForEach(func(k, v gjson.Result) bool {
		if strings.HasPrefix(k.Str, agentstackURI) && strings.Contains(k.Str, "/"+name+"/v") {
			uri, value = k.Str, v
		}
		return uri == ""
	})
	return uri, value
}

func (d agentstack) message(m *a2a.Message, at *carrier, to *pieces) bool {
	if !keysWith(m.Metadata, agentstackURI) {
		return false
	}
	for p := range m.Parts.All() {
		if p.Kind == a2a.PartText {
			to.text(pieceText, p.Text)
		} else {
			to.part(p)
		}
	}
	if _, t := d.extension(m.Metadata, "trajectory"); t.IsObject() {
		text := t.Get("content").String()
		if title := t.Get("title").String(); title != "" {
			text = strings.TrimSpace(title + "\n" + text)
		}
		to.text(pieceWholeThought, text)
	}
	if _, c := d.extension(m.Metadata, "citation"); c.IsObject() {
		var sources strings.Builder
		c.Get("citations").ForEach(func(_, one gjson.Result) bool {
			sources.WriteString("[Source: " + one.Get("title").String() + ", " + one.Get("url").String() + "]\n")
			return true
		})
		to.list = append(to.list, piece{kind: pieceNotice, text: "\n" + sources.String()})
	}
	if uri, f := d.extension(m.Metadata, "form"); f.IsObject() && at.state == a2a.StateInputRequired {
		in := input{id: f.Get("id").String(), name: uri, data: a2a.JSON(f.Raw)}
		for _, one := range f.Get("fields").Array() {
			in.fields = append(in.fields, agentstackField(one))
		}
		in.text = strings.TrimSpace(f.Get("title").String() + fieldsText(in.fields))
		to.ask(in)
	}
	return true
}

// agentstackField is a form's field.
func agentstackField(f gjson.Result) field {
	kind := f.Get("type").Str
	one := field{id: f.Get("id").String(), label: first(f, "label", "id").String(), many: kind == "multiselect", optional: !f.Get("required").Bool()}
	if kind == "checkbox" {
		one.kind = "boolean"
	}
	f.Get("options").ForEach(func(_, o gjson.Result) bool {
		one.choices = append(one.choices, choice{o.Get("id").String(), first(o, "label", "id").String()})
		return true
	})
	return one
}

// reply fills in a form. What was left out is left out.
func (agentstack) reply(in input, values []a2a.JSON, text string, m *a2a.Outgoing) (SideRequest, error) {
	type value struct {
		Type  string          `json:"type"`
		Value json.RawMessage `json:"value"`
	}
	filled := map[string]value{}
	for i, f := range gjson.Get(string(in.data), "fields").Array() {
		if values[i] != "" {
			filled[f.Get("id").String()] = value{f.Get("type").Str, json.RawMessage(values[i])}
		}
	}
	m.Parts = []a2a.OutPart{{Text: text}}
	m.Extensions = append(m.Extensions, in.name)
	return SideRequest{}, setMetadata(m, in.name, struct {
		ID     string           `json:"id"`
		Values map[string]value `json:"values"`
	}{in.id, filled})
}
