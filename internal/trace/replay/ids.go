package replay

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// ids maps recorded IDs to current ones, one to one.
type ids struct {
	now, then map[string]string
}

func newIDs() *ids { return &ids{map[string]string{}, map[string]string{}} }

// isID reports whether a member holds an ID, which differs from run to run.
func isID(key string) bool {
	return key == "id" || strings.HasSuffix(key, "Id") || strings.HasSuffix(key, "_id") || strings.HasSuffix(key, "Ids")
}

// bind binds a recorded ID to a current one, and reports whether that agrees with
// earlier bindings.
func (m *ids) bind(then, now string) bool {
	if known, ok := m.now[then]; ok {
		return known == now
	}
	if known, ok := m.then[now]; ok {
		return known == then
	}
	m.now[then], m.then[now] = now, then
	return true
}

// learn walks two documents of the same shape and binds their IDs.
func (m *ids) learn(then, now gjson.Result, key string) {
	switch {
	case then.IsObject() && now.IsObject():
		then.ForEach(func(k, v gjson.Result) bool {
			m.learn(v, now.Get(gjson.Escape(k.Str)), k.Str)
			return true
		})
	case then.IsArray() && now.IsArray():
		a, b := then.Array(), now.Array()
		for i := range min(len(a), len(b)) {
			m.learn(a[i], b[i], key)
		}
	case then.Type == gjson.String && now.Type == gjson.String && isID(key) && then.Str != "" && now.Str != "":
		m.bind(then.Str, now.Str)
	}
}

// apply writes a document with the current IDs.
func (m *ids) apply(doc []byte) []byte {
	for then, now := range m.now {
		if then != now {
			doc = bytes.ReplaceAll(doc, quote(then), quote(now))
		}
	}
	return doc
}

func quote(s string) []byte {
	b, _ := json.Marshal(s) // a string always encodes
	return b
}

// withID replaces the ID of a JSON-RPC document.
func withID(doc []byte, id string) []byte {
	old := gjson.GetBytes(doc, "id")
	if old.Index == 0 || id == "" {
		return doc
	}
	return slices.Concat(doc[:old.Index], []byte(id), doc[old.Index+len(old.Raw):])
}
