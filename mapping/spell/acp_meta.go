package spell

import (
	"encoding/json"
	"maps"
	"slices"
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
	// metadata is that of the event, of the message or artifact that is shown, and
	// of its part. The narrower one counts where two have the same key.
	metadata [3]string
	item     string // the message or artifact, as it is shown
	artifact string // its description, until the editor was told
	pending  bool   // something has changed since the last update
	// members are further ones of the next update, without the end.
	members []byte
}

// observe takes over what a step says. What it does not mention stays as it was.
func (m *acpMeta) observe(s *mapping.Step) {
	if s.Model != "" && s.Model != m.model {
		m.model, m.pending = strings.Clone(s.Model), true
	}
	if s.ArtifactID != "" && s.Description != "" && !s.Append {
		m.artifact, m.pending = strings.Clone(s.Description), true
	}
	if s.Shown != m.item && m.metadata != ([3]string{}) {
		m.metadata = [3]string{}
	}
	if s.Kind == mapping.StepText && s.Own.Part == "" {
		m.metadata[2] = "" // of the part before
	}
	for i, metadata := range [...]a2a.JSON{s.Metadata, s.Own.Metadata, s.Own.Part} {
		if metadata != "" && string(metadata) != m.metadata[i] {
			m.metadata[i], m.item = strings.Clone(string(metadata)), strings.Clone(s.Shown)
			m.pending = m.pending || tells(i, m.metadata[i])
		}
	}
}

// begins reports whether a text that goes on says something for _meta, or is behind a part that
// does, and so begins an update of its own.
func (m *acpMeta) begins(s *mapping.Step) bool {
	return string(s.Own.Part) != m.metadata[2] && (tells(2, string(s.Own.Part)) || tells(2, m.metadata[2]))
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

// append appends the member _meta, if there is anything to tell.
func (m *acpMeta) append(dst []byte) []byte {
	if !m.pending && len(m.members) == 0 {
		return dst
	}
	all := m.members // without its end
	if m.members = nil; m.pending {
		now := m.current()
		for _, key := range slices.Sorted(maps.Keys(now)) {
			all = rawjson.AppendMember(all, key, string(now[key]))
		}
	}
	if m.pending = false; len(all) == 0 {
		return dst
	}
	return append(append(dst, `,"_meta":`...), rawjson.EndObject(all)...)
}

// current returns the members of _meta as they are now. It takes the artifact's description, which
// is told once.
func (m *acpMeta) current() map[string]json.RawMessage {
	all, own, plain := map[string]json.RawMessage{}, map[string]any{}, map[string]json.RawMessage{}
	for i, metadata := range m.metadata { // the narrowest is last
		rawjson.EachMember(metadata, func(key, value string) bool {
			if a2a.IsExtensionKey(key) {
				all[key] = valueOf(a2a.JSON(value))
			} else if i > 0 {
				plain[key] = valueOf(a2a.JSON(value))
			}
			return true
		})
	}
	if m.artifact != "" {
		own["artifactDescription"], m.artifact = m.artifact, ""
	}
	if m.model != "" {
		own["model"] = m.model
	}
	if len(plain) > 0 {
		own["metadata"] = plain
	}
	if len(own) > 0 {
		all["a2astdio"], _ = rawjson.Marshal(own) // strings and valid JSON
	}
	return all
}
