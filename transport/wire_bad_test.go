package transport

import (
	"encoding/json"
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// TestNotJSON: what a caller gives as JSON and is none is said before anything is sent.
func TestNotJSON(t *testing.T) {
	bad := map[string]json.RawMessage{"k": json.RawMessage(`{`)}
	for name, m := range map[string]*a2a.Outgoing{
		"metadata":                {Metadata: bad},
		"metadata of the request": {RequestMetadata: bad},
		"data":                    {Parts: []a2a.OutPart{{Data: json.RawMessage(`{"a":`)}}},
	} {
		m.ID = "m"
		if m.Parts == nil {
			m.Parts = []a2a.OutPart{{Text: "hi"}}
		}
		for _, p := range []protocol{{v03: true}, {}} {
			if b, err := p.params(&operation{kind: opStream, message: m}); err == nil {
				t.Errorf("%s: it is sent: %s", name, b)
			}
		}
	}
}
