package export

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/view"
)

// Kinds and states of OTLP's spans (opentelemetry/proto/trace/v1/trace.proto).
const (
	kindInternal = 1
	kindClient   = 3
	statusError  = 2
)

type otlpSpan struct {
	TraceID    string      `json:"traceId"`
	SpanID     string      `json:"spanId"`
	ParentID   string      `json:"parentSpanId,omitempty"`
	TraceState string      `json:"traceState,omitempty"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"`
	Start      string      `json:"startTimeUnixNano"`
	End        string      `json:"endTimeUnixNano"`
	Attributes []attribute `json:"attributes"`
	Status     otlpStatus  `json:"status"`
}

type otlpStatus struct {
	Code    int    `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

type attribute struct {
	Key   string         `json:"key"`
	Value map[string]any `json:"value"`
}

func text(key, value string) attribute {
	return attribute{key, map[string]any{"stringValue": value}}
}

func number(key string, value int64) attribute {
	return attribute{key, map[string]any{"intValue": strconv.FormatInt(value, 10)}}
}

// OTLP writes spans in OTLP/JSON for collectors. Each conversation is a trace, with
// spans for turns, requests to the agent, tool calls, approvals and lost connections. A
// turn belongs to the trace context of its prompt, if that has one (ACP:
// _meta.traceparent). Names follow OpenTelemetry's conventions for GenAI where these
// exist. The conversation's text is not exported.
func OTLP(r *trace.Reader, w io.Writer) error {
	o := &otlp{build: view.NewBuilder(), facts: map[string]*facts{}, status: map[int64]int{}, url: map[int64]string{}}
	for {
		record, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		o.record(record)
	}
	return o.write(w)
}

// facts are what the record that began a turn tells beside the span.
type facts struct {
	traceparent, tracestate string
}

type otlp struct {
	start  trace.Record
	agent  string // its name
	model  string
	build  *view.Builder
	facts  map[string]*facts // by the turn's first record
	status map[int64]int     // HTTP, by exchange
	url    map[int64]string
	tokens map[int64][2]int64 // by the record that reported them
}

func (o *otlp) record(r *trace.Record) {
	it := view.Of(r)
	o.build.Add(&it)
	switch r.Kind {
	case trace.KindStart:
		if o.start.Kind == "" {
			o.start = *r.Clone()
		}
	case trace.KindRequest:
		o.url[r.Exchange] = r.URL
	case trace.KindResponse:
		o.status[r.Exchange] = r.Status
	case trace.KindBody:
		if doc := r.Document(); o.agent == "" && doc.Get("capabilities").Exists() {
			o.agent = doc.Get("name").Str
		}
	case trace.KindEvent:
		metadata := r.Document().Get("result.metadata")
		if m := metadata.Get("model").Str; m != "" {
			o.model = m
		}
		if u := metadata.Get("usageMetadata"); u.Exists() {
			if o.tokens == nil {
				o.tokens = map[int64][2]int64{}
			}
			o.tokens[r.Exchange] = [2]int64{u.Get("promptTokenCount").Int(), u.Get("candidatesTokenCount").Int()}
		}
	case trace.KindMessage:
		if meta := r.Document().Get("params._meta"); meta.Get("traceparent").Str != "" {
			o.facts[fmt.Sprint(r.N)] = &facts{meta.Get("traceparent").Str, meta.Get("tracestate").Str}
		}
	}
}

func (o *otlp) write(w io.Writer) error {
	out := bufio.NewWriter(w)
	resource, _ := json.Marshal([]attribute{text("service.name", "a2astdio"), text("service.version", o.start.Version), text("service.instance.id", o.start.Run)})
	fmt.Fprintf(out, `{"resourceSpans":[{"resource":{"attributes":%s},"scopeSpans":[{"scope":{"name":"a2astdio","version":%s},"spans":[`, resource, quoted(o.start.Version))
	for i := range o.build.Spans {
		b, err := json.Marshal(o.span(i))
		if err != nil {
			return err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
		out.Write(b)
	}
	fmt.Fprint(out, "\n]}]}]}\n")
	return out.Flush()
}

// id makes an ID of n bytes that is the same in each export of a trace.
func (o *otlp) id(n int, of ...any) string {
	sum := sha256.Sum256([]byte(o.start.Run + fmt.Sprint(of...)))
	sum[0] |= 1 // all zeros would be invalid
	return hex.EncodeToString(sum[:n])
}

// context returns a span's trace and its parent.
func (o *otlp) context(i int) (traceID, parent, state string) {
	s := &o.build.Spans[i]
	turn := s
	if s.Parent >= 0 {
		turn = &o.build.Spans[s.Parent]
		parent = o.id(8, "span", s.Parent)
	}
	if f := o.facts[fmt.Sprint(turn.First)]; f != nil {
		// https://www.w3.org/TR/trace-context: version-trace-parent-flags.
		if p := strings.Split(f.traceparent, "-"); len(p) >= 4 && isHex(p[1], 32) && isHex(p[2], 16) {
			if turn == s {
				parent = p[2]
			}
			return p[1], parent, f.tracestate
		}
	}
	conversation := turn.Session
	if conversation == "" {
		conversation = turn.Task
	}
	return o.id(16, "conversation", conversation), parent, ""
}

func isHex(s string, n int) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(s) == n && strings.Trim(s, "0") != "" && len(b)*2 == n
}

// span converts a span.
func (o *otlp) span(i int) *otlpSpan {
	s := &o.build.Spans[i]
	out := &otlpSpan{SpanID: o.id(8, "span", i), Kind: kindInternal, Start: o.nano(s.Start), End: o.nano(max(s.End, s.Start))}
	out.TraceID, out.ParentID, out.TraceState = o.context(i)
	switch s.Kind {
	case view.SpanTurn:
		out.Name, out.Kind = strings.TrimSpace("invoke_agent "+o.agent), kindClient
		out.Attributes = o.turn(s)
	case view.SpanLeg:
		out.Name, out.Kind = s.Name, kindClient
		out.Attributes = []attribute{text("rpc.system", "jsonrpc"), text("rpc.method", s.Name), text("http.request.method", "POST"),
			text("url.full", o.url[s.Exchange]), number("http.response.status_code", int64(o.status[s.Exchange])), number("a2astdio.events", s.Events)}
		if s.FirstEvent > 0 {
			out.Attributes = append(out.Attributes, number("a2astdio.time_to_first_event_us", s.FirstEvent-s.Start))
		}
		if t, ok := o.tokens[s.Exchange]; ok {
			out.Attributes = append(out.Attributes, number("gen_ai.usage.input_tokens", t[0]), number("gen_ai.usage.output_tokens", t[1]))
		}
	case view.SpanCall:
		tool := view.OneLine(s.Name, 60)
		out.Name = strings.TrimSpace("execute_tool " + tool)
		out.Attributes = []attribute{text("gen_ai.operation.name", "execute_tool"), text("gen_ai.tool.name", tool), text("gen_ai.tool.call.id", s.ID)}
	case view.SpanApproval:
		out.Name = "approval"
		out.Attributes = []attribute{text("gen_ai.tool.call.id", s.ID), text("a2astdio.approval.outcome", s.Status)}
	case view.SpanReconnect:
		out.Name = "reconnect"
	}
	out.Attributes = append(out.Attributes, number("a2astdio.record", s.First))
	if s.End == 0 {
		out.Attributes = append(out.Attributes, text("a2astdio.open", "the trace ends before this does"))
	}
	if s.Bad {
		out.Status = otlpStatus{statusError, s.Status}
		out.Attributes = append(out.Attributes, text("error.type", view.OneLine(s.Status, 60)))
	}
	return out
}

func (o *otlp) turn(s *view.Span) []attribute {
	list := []attribute{text("gen_ai.operation.name", "invoke_agent"), text("gen_ai.provider.name", "a2a")}
	for _, a := range [][2]string{{"gen_ai.agent.name", o.agent}, {"gen_ai.conversation.id", s.Session}, {"gen_ai.response.model", o.model},
		{"a2a.task.id", s.Task}, {"rpc.method", s.Name}, {"a2astdio.stop_reason", s.Status}} {
		if a[1] != "" {
			list = append(list, text(a[0], a[1]))
		}
	}
	return list
}

func (o *otlp) nano(micros int64) string {
	return strconv.FormatInt(o.start.Time.Add(time.Duration(micros)*time.Microsecond).UnixNano(), 10)
}
