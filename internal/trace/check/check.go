package check

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/trace"
)

// The values of [Finding.Who].
const (
	Editor = "editor"
	Bridge = "bridge" // or what tap listens to
	Agent  = "agent"
)

// The values of [Finding.Rule].
const (
	RuleJSONRPC  = "json-rpc" // JSON-RPC 2.0 itself
	RuleSchema   = "schema"
	RuleVersion  = "version"  // a version is said, and another one spoken
	RuleAnswered = "answered" // every request is answered, once
	RuleOrder    = "order"    // what comes before what
	RuleSeq      = "seq"      // the numbers of A2A lines' events have no gap
	RuleState    = "state"    // a task that is over stays so
	RuleWords    = "words"    // what the agent says reaches the editor, once
)

// Rules are all of them.
var Rules = [...]string{RuleJSONRPC, RuleSchema, RuleVersion, RuleAnswered, RuleOrder, RuleSeq, RuleState, RuleWords}

// maxAlike is how often the same finding is reported.
const maxAlike = 5

// maxKinds is of how many different findings it is counted how often they came.
const maxKinds = 1000

// maxOpen bounds what is remembered: requests that wait for their answers, tasks,
// sessions. Of what is forgotten, nothing is found.
const maxOpen = 20_000

// A Finding is a place where a protocol was not kept.
type Finding struct {
	// Record is the number of the record; 0: it is about the whole trace.
	Record int64 `json:"record"`
	// Who has not kept to it.
	Who  string `json:"who"`
	Rule string `json:"rule"`
	// What names the message: its method, the update's kind.
	What string `json:"what"`
	Text string `json:"text"`
}

// String is the finding in a line, without a newline.
func (f *Finding) String() string {
	var b strings.Builder
	if f.Record > 0 {
		fmt.Fprintf(&b, "record %d: ", f.Record)
	}
	fmt.Fprintf(&b, "%s: %s: ", f.Who, f.Rule)
	if f.What != "" {
		b.WriteString(f.What + ": ")
	}
	b.WriteString(f.Text)
	return b.String()
}

// A Checker goes through a trace. It may be used by one goroutine at a time.
type Checker struct {
	opts  Options
	count int
	alike map[string]int
	notes []string

	schemas schemas
	editor  editorWire
	agent   agentWire
	words   words
	started bool
	whole   bool // the trace has its last record
	cut     int  // payloads of which there is only the beginning
}

// Options say what is done with findings.
type Options struct {
	// Report is called with each, in the order of the records; of those that are
	// alike, with the first few. Nil: they are counted.
	Report func(*Finding)
	// Picks says which findings count; nil: all do.
	Picks func(*Finding) bool
}

// New returns a Checker. opts may be nil.
func New(opts *Options) *Checker {
	c := &Checker{alike: map[string]int{}}
	if opts != nil {
		c.opts = *opts
	}
	c.editor.init(c)
	c.agent.init(c)
	c.words.c = c
	return c
}

// Count is how many findings there were, alike ones too.
func (c *Checker) Count() int { return c.count }

// Notes say what was not checked, and why.
func (c *Checker) Notes() []string {
	notes := c.notes
	if c.cut > 0 {
		notes = append(notes, fmt.Sprintf("payloads that are too long for the trace, and not checked: %d (--trace-full keeps them)", c.cut))
	}
	if !c.whole {
		notes = append(notes, "the trace has no end: requests that are still open are not counted")
	}
	return notes
}

func (c *Checker) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for _, n := range c.notes {
		if n == text {
			return
		}
	}
	if len(c.notes) < maxKinds {
		c.notes = append(c.notes, text)
	}
}

// find reports a finding, unless it was reported often enough.
func (c *Checker) find(n int64, who, rule, what, format string, args ...any) {
	f := &Finding{Record: n, Who: who, Rule: rule, What: what, Text: fmt.Sprintf(format, args...)}
	if c.opts.Picks != nil && !c.opts.Picks(f) {
		return
	}
	c.count++
	key := who + rule + what + format
	if rule == RuleSchema {
		key += f.Text
	}
	switch n := c.alike[key] + 1; {
	case n > maxAlike:
		c.alike[key] = n
		return
	case n > 1 || len(c.alike) < maxKinds:
		c.alike[key] = n
		if n == maxAlike {
			f.Text += " (more of this are counted, and not shown)"
		}
	}
	if c.opts.Report != nil {
		c.opts.Report(f)
	}
}

// Add takes the next record.
func (c *Checker) Add(r *trace.Record) {
	switch r.Kind {
	case trace.KindStart:
		if r.Redact {
			c.words.off = true
			c.note("the trace holds no texts (--trace-redact): what was said is not compared")
		}
		c.words.off = c.words.off || r.Mode == "tap" || r.Mode == "proxy" || r.Mode == "client"
		c.started = true
	case trace.KindStop:
		c.whole = true
	case trace.KindMessage:
		c.editor.message(r)
	case trace.KindRequest, trace.KindResponse, trace.KindEvent, trace.KindBody, trace.KindEnd:
		c.agent.record(r)
	}
}

// End is called after the last record.
func (c *Checker) End() {
	if !c.whole {
		return
	}
	c.editor.end()
}

// payload is a record's JSON, and whether all of it is there: of a long one there
// is only the beginning, which may have what is asked for or not.
func (c *Checker) payload(r *trace.Record) (doc gjson.Result, whole bool) {
	if r.SHA256 != "" {
		c.cut++
		return gjson.Parse(r.Head), false
	}
	return r.Document(), true
}

// schema holds a payload against a schema of a document, if there is one.
func (c *Checker) schema(r *trace.Record, who, what, doc, name, spoken string, v gjson.Result, path string) {
	d := c.schemas.get(doc)
	s := d.defs[name]
	if s == nil {
		return
	}
	for _, f := range d.validate(s, v, path) {
		c.find(r.N, who, RuleSchema, what, "%s (%s)", f, spoken)
	}
}
