package transport

import (
	"encoding/json"
	"strings"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// checkOutgoing refuses a message that no version has words for. It is the caller's
// mistake, so it is said before anything is sent.
func checkOutgoing(m *a2a.Outgoing) error {
	switch {
	case m.ID == "":
		return failf(nil, "the message has no ID")
	case len(m.Parts) == 0:
		return failf(nil, "the message has no parts")
	}
	for _, metadata := range []map[string]json.RawMessage{m.Metadata, m.RequestMetadata} {
		for key, value := range metadata {
			if !json.Valid(value) {
				return failf(nil, "the metadata of the message hold something under %q that is not JSON", key)
			}
		}
	}
	for i, p := range m.Parts {
		switch {
		case p.Data != nil && !json.Valid(p.Data):
			return failf(nil, "part %d of the message holds data that are not JSON", i)
		case len(p.Metadata) > 0 && (!json.Valid(p.Metadata) || !rawjson.IsObject(strings.TrimSpace(string(p.Metadata)))):
			return failf(nil, "part %d of the message has metadata that are no JSON object", i)
		}
	}
	return nil
}
