// Package check checks a trace against its protocols: each payload against the schema
// of its version, and the conversation against rules that no schema can express.
//
// The package reads JSON Schema itself. Each command initialises what is linked, and
// santhosh-tekuri/jsonschema/v6 takes 10 ms for that. google/jsonschema-go takes 0.3
// ms, but says of a wrong update only that it is none of fourteen. A test compares this
// package with the first.
package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/trace"
)

// Values of [Finding.Who].
const (
	Editor = "editor"
	Bridge = "bridge" // or what tap listens to
	Agent  = "agent"
)

// Values of [Finding.Rule].
const (
	RuleJSONRPC  = "json-rpc" // JSON-RPC 2.0 itself
	RuleSchema   = "schema"
	RuleVersion  = "version"  // the declared version is not the one on the wire
	RuleAnswered = "answered" // every request is answered, once
	RuleOrder    = "order"    // messages come in the wrong order
	RuleState    = "state"    // a task changes after a terminal state, or a stream ends without one
	RuleHTTP     = "http"     // a Content-Type is wrong, or a stream of events is not well formed
	RuleClaim    = "claim"    // what the agent says it has is missing
	RuleWords    = "words"    // the editor does not get the agent's text, or gets it twice
)

// Rules lists all rules.
var Rules = [...]string{RuleJSONRPC, RuleSchema, RuleVersion, RuleAnswered, RuleOrder, RuleState, RuleHTTP, RuleClaim, RuleWords}

const (
	maxAlike = 5    // bounds the reports of equal findings
	maxKinds = 1000 // bounds the different findings that are counted
	// maxOpen bounds how many open requests, tasks and sessions are remembered. Nothing is
	// found about a forgotten one.
	maxOpen = 20_000
)

// Values of [Finding.Weight].
const (
	// Error: a client may do something wrong because of it.
	Error = "error"
	// Warning: it is not as the protocol says, or does not look meant, and clients get
	// along.
	Warning = "warning"
)

// A Finding is a violation of a protocol.
type Finding struct {
	Record int64 `json:"record"` // the record's number; 0: the whole trace
	// Also are the records of more findings of the kind, where one is told for all.
	Also   []int64 `json:"also,omitempty"`
	Who    string  `json:"who"` // who has violated it
	Rule   string  `json:"rule"`
	Weight string  `json:"weight"`
	Source string  `json:"source,omitempty"` // where the rule stands; "" for a rule of this program's
	What   string  `json:"what"`             // names the message: its method, or the update's kind
	Text   string  `json:"text"`
}

// String returns the finding as a line, without a newline.
func (f *Finding) String() string {
	var b strings.Builder
	if f.Record > 0 {
		fmt.Fprintf(&b, "record %d: ", f.Record)
	}
	fmt.Fprintf(&b, "%s: %s: ", f.Who, f.Rule)
	if f.Weight == Warning {
		b.WriteString("warning: ")
	}
	if f.What != "" {
		b.WriteString(f.What + ": ")
	}
	b.WriteString(f.Text)
	if f.Rule == RuleSchema && f.Source != "" {
		b.WriteString(" (" + strings.TrimPrefix(f.Source, "the schema of ") + ")")
	}
	return b.String()
}

// Like returns what findings of one kind have in common, whatever the method: the text
// without numbers, up to a value, which may be another each time. The path to a member counts
// in the card alone, where a name may be missing in two places.
func (f *Finding) Like() string {
	text, _, _ := strings.Cut(f.Text, ", and ")
	text, _, _ = strings.Cut(text, `"`)
	path, rest, ok := strings.Cut(text, ": ")
	if i := strings.LastIndexByte(path, '.'); ok && i > 0 && f.What != "card" {
		text = path[i:] + rest
	}
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, text)
}

// A Checker checks a trace. Its methods may not be called concurrently.
type Checker struct {
	opts   Options
	count  int
	errors int
	alike  map[string]int
	notes  []string

	loose   bool // exchange.loose of the record in hand
	schemas schemas
	editor  editorWire
	agent   agentWire
	words   words
	whole   bool // the trace has its last record
	cut     int  // payloads of which only the beginning was recorded
}

// Options tell what to do with findings.
type Options struct {
	// Report is called with each finding, in the order of the records; of equal ones only with the first
	// few, unless All is set. Nil: findings are only counted.
	Report func(*Finding)
	All    bool
	// Picks reports whether a finding counts; nil: all do.
	Picks func(*Finding) bool
}

func New(opts *Options) *Checker {
	c := &Checker{opts: *opts, alike: map[string]int{}}
	c.editor = editorWire{c: c, open: map[string]*openRequest{}, answered: map[string]int64{}, sessions: map[string]*session{}}
	c.agent = agentWire{c: c, exchanges: map[int64]*exchange{}, ended: map[string]endedTask{}, begun: map[string]*seenTask{}, listed: map[string]bool{}}
	c.words = words{c: c, turns: map[string]*turn{}}
	return c
}

// Count returns the number of findings, with equal ones.
func (c *Checker) Count() int { return c.count }

// Errors returns the number of those that are no warnings.
func (c *Checker) Errors() int { return c.errors }

// Notes tell what was not checked, and why.
func (c *Checker) Notes() []string {
	notes := slices.Clone(c.notes)
	if c.cut > 0 {
		notes = append(notes, fmt.Sprintf("payloads that are too long for the trace, and not checked: %d", c.cut))
	}
	if !c.whole {
		notes = append(notes, "the trace has no end: requests that are still open are not counted")
	}
	return notes
}

func (c *Checker) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); len(c.notes) < maxKinds && !slices.Contains(c.notes, text) {
		c.notes = append(c.notes, text)
	}
}

// fail reports an error of who in the record n. Findings of one format are of one kind.
func (c *Checker) fail(n int64, who, rule, what, format string, args ...any) {
	c.report(&Finding{Record: n, Who: who, Rule: rule, Weight: Error, What: what, Text: fmt.Sprintf(format, args...)}, format)
}

// report counts a finding, and calls Report unless it was called with enough of the kind.
func (c *Checker) report(f *Finding, kind string) {
	f.Source = c.source(f)
	if c.opts.Picks != nil && !c.opts.Picks(f) {
		return
	}
	c.count++
	if f.Weight == Error {
		c.errors++
	}
	key := f.Who + f.Rule + f.What + kind
	if f.Rule == RuleSchema {
		key += f.Like()
	}
	switch n := c.alike[key] + 1; {
	case n > maxAlike && !c.opts.All:
		c.alike[key] = n
		return
	case n > 1 || len(c.alike) < maxKinds:
		c.alike[key] = n
		if n == maxAlike && !c.opts.All {
			f.Text += " (more of this are counted, and not shown)"
		}
	}
	if c.opts.Report != nil {
		c.opts.Report(f)
	}
}

// source returns where the rule of a finding stands.
func (c *Checker) source(f *Finding) string {
	switch at, v1 := sections[f.Rule], c.schemas.operation(f.What).version == "1.0" && !c.loose; {
	case f.Source != "":
		return f.Source
	case f.Rule == RuleJSONRPC, f.Rule == RuleAnswered:
		return "JSON-RPC 2.0, sections 4 and 5"
	case f.Rule == RuleVersion:
		return "A2A 1.0, section 3.6"
	case f.Who != Agent || at == [2]string{}:
		return ""
	default:
		return Section(v1, at[0], at[1])
	}
}

// sections are those of A2A 0.3 and 1.0 in which rules stand, for findings about agents.
var sections = map[string][2]string{
	RuleHTTP:  {"3.3", "9.4.2"},
	RuleState: {"6.3", "4.1.3"},
	RuleOrder: {"7.2", "3.1.2"},
	RuleClaim: {"11.1", "3.1"},
}

// Section names the place of a rule in the specification of A2A: one section of 0.3, and one of 1.0.
func Section(v1 bool, old, new string) string {
	if v1 {
		return "A2A 1.0, section " + new
	}
	return "A2A 0.3, section " + old
}

// Add checks the next record.
func (c *Checker) Add(r *trace.Record) {
	switch r.Kind {
	case trace.KindStart:
		c.whole = false // a file may have several runs
		if r.N > 1 {
			c.editor.partial, c.words.off = true, true
		}
		if r.Redact {
			c.words.off = true
			c.note("the trace holds no texts (--trace-redact): what was said is not compared")
		}
		c.words.off = c.words.off || r.Mode == "tap" || r.Mode == "proxy" || r.Mode == "client"
	case trace.KindStop:
		c.whole = true
		c.editor.end()
	case trace.KindMessage:
		c.editor.message(r)
	case trace.KindRequest, trace.KindResponse, trace.KindEvent, trace.KindBody, trace.KindEnd:
		c.agent.record(r)
	}
}

// payload is [trace.Record.Document], and counts what was not recorded whole.
func (c *Checker) payload(r *trace.Record) (doc gjson.Result, whole bool) {
	if doc, whole = r.Document(); !whole {
		c.cut++
	}
	return doc, whole
}

// schema checks v, at a path of the payload, against a schema of a document, if there is one.
func (c *Checker) schema(r *trace.Record, who, what, doc, name string, v gjson.Result, path string) {
	d := c.schemas.get(doc)
	s := d.defs[name]
	if !s.Exists() {
		return
	}
	for _, f := range d.validate(s, v, path) {
		at := "the schema of " + doc
		if f.section != "" {
			at = doc + ", section " + f.section
		}
		c.report(&Finding{Record: r.N, Who: who, Rule: RuleSchema, Weight: f.weight, Source: at, What: what, Text: f.String()}, f.path)
	}
}
