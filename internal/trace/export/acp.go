package export

import (
	"bufio"
	"encoding/json"
	"io"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/trace"
)

// An acpEvent is a line of the ACP project's trace format, which its
// agent-client-protocol-trace-viewer shows (md/trace-viewer.md in its rust-sdk).
type acpEvent struct {
	Type     string          `json:"type"`
	TS       float64         `json:"ts"`
	Protocol string          `json:"protocol,omitempty"`
	From     string          `json:"from"`
	To       string          `json:"to"`
	ID       json.RawMessage `json:"id,omitempty"`
	Method   string          `json:"method,omitempty"`
	Session  string          `json:"session,omitempty"`
	IsError  *bool           `json:"is_error,omitempty"`
	Params   json.RawMessage `json:"params,omitempty"`
	Payload  json.RawMessage `json:"payload,omitempty"`
}

// ACP writes the editor's wire in the format of the ACP project's trace viewer. The
// format has no place for the agent's wire, nor for lines that are not JSON-RPC.
func ACP(r *trace.Reader, w io.Writer) error {
	out := bufio.NewWriter(w)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	protocol := "acp"
	for {
		record, err := r.Next()
		if err == io.EOF {
			return out.Flush()
		}
		if err != nil {
			return err
		}
		doc := record.Document()
		if record.Kind != trace.KindMessage || !doc.IsObject() {
			continue
		}
		if doc.Get("method").Str == "initialize" && doc.Get("params.protocolVersion").Type == gjson.String {
			protocol = "mcp" // its versions are dates
		}
		if err := encoder.Encode(acpOf(record, doc, protocol)); err != nil {
			return err
		}
	}
}

func acpOf(r *trace.Record, doc gjson.Result, protocol string) *acpEvent {
	e := &acpEvent{TS: float64(r.Micros) / 1e6, From: "Client", To: "Agent"}
	if r.Dir == trace.DirOut {
		e.From, e.To = e.To, e.From
	}
	raw := func(v gjson.Result) json.RawMessage {
		if !v.Exists() {
			return json.RawMessage("null")
		}
		return json.RawMessage(v.Raw)
	}
	method, id := doc.Get("method"), doc.Get("id")
	if !method.Exists() {
		failed := doc.Get("error").Exists()
		e.Type, e.ID, e.IsError, e.Payload = "response", raw(id), &failed, raw(doc.Get("result"))
		if failed {
			e.Payload = raw(doc.Get("error"))
		}
		return e
	}
	e.Type, e.Protocol, e.Method, e.Params = "notification", protocol, method.Str, raw(doc.Get("params"))
	e.Session = doc.Get("params.sessionId").Str
	if id.Exists() {
		e.Type, e.ID = "request", raw(id)
	}
	return e
}
