package mapping

import (
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// acpMeta is what an editor is told in _meta, with the next update, whenever it
// changes: the model and the user's tier, under "a2astdio", and what the agent says of
// extensions that are not ours, under their URIs. The first update of an artifact tells
// its description.
type acpMeta struct {
	model, tier string
	metadata    string
	artifact    string // the description, until it was told
	pending     bool
	// own are further members of the next update, without the braces.
	own []byte
}

// note takes over what a step says. What it does not mention stays as it was.
func (m *acpMeta) note(s *Step) {
	if s.Model != "" && s.Model != m.model {
		m.model, m.pending = strings.Clone(s.Model), true
	}
	if s.UserTier != "" && s.UserTier != m.tier {
		m.tier, m.pending = strings.Clone(s.UserTier), true
	}
	if s.ArtifactID != "" && s.Description != "" && !s.Append {
		m.artifact, m.pending = strings.Clone(s.Description), true
	}
	if s.Metadata != "" && string(s.Metadata) != m.metadata {
		m.metadata = strings.Clone(string(s.Metadata))
		m.pending = m.pending || hasURI(m.metadata)
	}
}

// append appends the member, if something has changed.
func (m *acpMeta) append(dst []byte) []byte {
	if !m.pending && len(m.own) == 0 {
		return dst
	}
	all := m.own
	m.own = nil
	if !m.pending {
		return append(append(dst, `,"_meta":`...), endObject(all)...)
	}
	m.pending = false
	if m.model != "" || m.tier != "" || m.artifact != "" {
		var own []byte
		if m.artifact != "" {
			own = appendMember(own, "artifactDescription", string(appendString(nil, m.artifact)))
			m.artifact = ""
		}
		if m.model != "" {
			own = appendMember(own, "model", string(appendString(nil, m.model)))
		}
		if m.tier != "" {
			own = appendMember(own, "userTier", string(appendString(nil, m.tier)))
		}
		all = appendMember(all, "a2astdio", string(endObject(own)))
	}
	rawjson.EachMember(m.metadata, func(key, value string) bool {
		if isURI(key) { // other keys are the agent's own
			all = appendMember(all, key, string(appendValue(nil, a2a.JSON(value))))
		}
		return true
	})
	if all == nil {
		return dst
	}
	return append(append(dst, `,"_meta":`...), endObject(all)...)
}
