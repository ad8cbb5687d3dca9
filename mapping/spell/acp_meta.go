package spell

import (
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// acpMeta is what an editor is told in _meta, with the next update, whenever it
// changes: the model, under "a2astdio", and what the agent says of
// extensions that are not ours, under their URIs. The other metadata of messages, artifacts
// and parts is in "a2astdio", too; that of events is the agent's own affair. The first
// update of an artifact tells its description.
type acpMeta struct {
	model string
	// said is the metadata of the event, of the message or artifact that is shown, and
	// of its part. The narrower one counts where two have the same key.
	said     [3]string
	shown    string // which message or artifact that was
	artifact string // the description, until it was told
	pending  bool
	// own are further members of the next update, without the braces.
	own []byte
}

// note takes over what a step says. What it does not mention stays as it was.
func (m *acpMeta) note(s *mapping.Step) {
	if s.Model != "" && s.Model != m.model {
		m.model, m.pending = strings.Clone(s.Model), true
	}
	if s.ArtifactID != "" && s.Description != "" && !s.Append {
		m.artifact, m.pending = strings.Clone(s.Description), true
	}
	if s.Shown != m.shown && m.said != ([3]string{}) {
		m.said = [3]string{}
	}
	if s.Kind == mapping.StepText && s.Own.Part == "" {
		m.said[2] = "" // of the part before
	}
	for i, metadata := range [...]a2a.JSON{s.Metadata, s.Own.Metadata, s.Own.Part} {
		if metadata != "" && string(metadata) != m.said[i] {
			m.said[i], m.shown = strings.Clone(string(metadata)), strings.Clone(s.Shown)
			m.pending = m.pending || tells(i, m.said[i])
		}
	}
}

// begins reports whether a text that goes on says something for _meta, or is behind a part that
// does, and so begins an update of its own.
func (m *acpMeta) begins(s *mapping.Step) bool {
	return string(s.Own.Part) != m.said[2] && (tells(2, string(s.Own.Part)) || tells(2, m.said[2]))
}

// tells reports whether an editor is told anything of the metadata of an event (0), or of
// what is narrower.
func tells(of int, metadata string) (has bool) {
	rawjson.EachMember(metadata, func(key, _ string) bool {
		has = of > 0 || a2a.IsExtensionKey(key)
		return !has
	})
	return has
}

// append appends the member, if something has changed.
func (m *acpMeta) append(dst []byte) []byte {
	if !m.pending && len(m.own) == 0 {
		return dst
	}
	all := m.own
	m.own = nil
	if !m.pending {
		return append(append(dst, `,"_meta":`...), rawjson.EndObject(all)...)
	}
	m.pending = false
	var own, plain, extensions []byte
	if m.artifact != "" {
		own = rawjson.AppendMember(own, "artifactDescription", string(rawjson.AppendString(nil, m.artifact)))
		m.artifact = ""
	}
	if m.model != "" {
		own = rawjson.AppendMember(own, "model", string(rawjson.AppendString(nil, m.model)))
	}
	narrowest := map[string]int{} // by key, what of said has it last
	for i, metadata := range m.said {
		rawjson.EachMember(metadata, func(key, _ string) bool { narrowest[key] = i; return true })
	}
	for i, metadata := range m.said {
		rawjson.EachMember(metadata, func(key, value string) bool {
			switch value = string(rawjson.AppendValue(nil, value)); {
			case narrowest[key] > i:
			case a2a.IsExtensionKey(key):
				extensions = rawjson.AppendMember(extensions, key, value)
			case i > 0:
				plain = rawjson.AppendMember(plain, key, value)
			}
			return true
		})
	}
	if plain != nil {
		own = rawjson.AppendMember(own, "metadata", string(rawjson.EndObject(plain)))
	}
	if own != nil {
		all = rawjson.AppendMember(all, "a2astdio", string(rawjson.EndObject(own)))
	}
	if extensions != nil && all != nil {
		extensions[0] = ','
	}
	all = append(all, extensions...)
	if all == nil {
		return dst
	}
	return append(append(dst, `,"_meta":`...), rawjson.EndObject(all)...)
}
