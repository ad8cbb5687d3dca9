package export

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/card"
)

const (
	// pause is the shortest silence that becomes a T+. Shorter ones are processing time,
	// not timers.
	pause = 100 * time.Millisecond
	// step is what silences are rounded up to, so that timers with jitter have fired.
	step = 250 * time.Millisecond
	// agentURL and sessionDir are the agent's URL and the sessions' directory in
	// transcripts.
	agentURL   = "http://agent.invalid/"
	sessionDir = "/"
	sessionAt  = "2026-01-02T03:04:05Z"
)

// Transcript writes a trace in the format of testdata/transcript, so that a
// conversation becomes a test; bridge/transcript_test.go describes and plays the
// format. It replaces what a test cannot have: it numbers the bridge's IDs, directories
// become /, the agent is at agent.invalid. A payload that was too large to record is an
// error.
func Transcript(r *trace.Reader, w io.Writer) error {
	t := &transcript{w: bufio.NewWriter(w), numbers: map[int64]int{}, commands: map[int64]bool{}, answers: map[int64]*answer{}, cards: map[int64]bool{}, names: map[string]string{}, known: map[string]bool{}}
	for {
		record, err := r.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = t.record(record)
		}
		if err != nil {
			return err
		}
	}
	if t.editor {
		t.lines = append(t.lines, "E> EOF", "exit <nil>")
	}
	for _, line := range append(t.head, t.lines...) {
		fmt.Fprintln(t.w, t.rename(line))
	}
	return t.w.Flush()
}

type answer struct {
	status      int
	contentType string
	streamed    bool
}

type transcript struct {
	w     *bufio.Writer
	head  []string
	lines []string

	editor   bool
	clock    time.Duration // of the transcript
	numbers  map[int64]int // requests by exchange
	last     int64         // the newest request's exchange
	commands map[int64]bool
	cards    map[int64]bool
	answers  map[int64]*answer

	cwd   string
	names map[string]string // IDs that the bridge made
	order []string
	known map[string]bool // IDs that others made
}

func (t *transcript) record(r *trace.Record) error {
	switch r.Kind {
	case trace.KindStart:
		if r.Redact {
			return fmt.Errorf("trace: it was recorded with --trace-redact, so it has no conversation")
		}
		if len(t.head) == 0 {
			t.head = append(t.head, "# From a trace of "+r.Time.UTC().Format("2006-01-02")+".")
		}
		return nil
	case trace.KindStop, trace.KindDecision, trace.KindStderr:
		return nil
	case trace.KindResponse:
		if a := t.answers[r.Exchange]; a != nil {
			a.status = r.Status
			for _, v := range r.Header["Content-Type"] {
				a.contentType = v
			}
		}
		return nil
	}
	payload, whole := r.Payload()
	if !whole {
		return fmt.Errorf("trace: record %d was too large to be recorded (--trace-full keeps all)", r.N)
	}
	var line bytes.Buffer
	if json.Compact(&line, payload) != nil {
		line.Reset()
		line.Write(bytes.ReplaceAll(payload, []byte{'\n'}, []byte{' '}))
	}
	if r.Kind == trace.KindMessage {
		t.message(r, line.String())
		return nil
	}
	if r.Kind != trace.KindRequest && t.answers[r.Exchange] == nil && !t.cards[r.Exchange] && !t.commands[r.Exchange] {
		return nil // the transcript begins after its request
	}
	t.exchange(r, line.String())
	return nil
}

// at writes the time that passes until a record.
func (t *transcript) at(micros int64) {
	now := time.Duration(micros) * time.Microsecond
	if now-t.clock >= pause {
		d := (now - t.clock + step - 1) / step * step
		t.clock += d
		t.lines = append(t.lines, "T+ "+d.String())
	}
}

func (t *transcript) message(r *trace.Record, line string) {
	t.editor = true
	t.at(r.Micros)
	doc := gjson.Parse(line)
	if r.Dir == trace.DirIn {
		if cwd := doc.Get("params.cwd").Str; cwd != "" && t.cwd == "" {
			t.cwd = cwd
		}
		t.known[doc.Get("params.sessionId").Str] = true
		t.lines = append(t.lines, "E> "+line)
		return
	}
	if r.Method == "session/new" {
		t.made(doc.Get("result.sessionId").Str)
	}
	if doc.Get("result.agentCapabilities.loadSession").Bool() && len(t.head) < 2 {
		t.head = append(t.head, "store")
	}
	t.lines = append(t.lines, "E< "+line)
}

// made notes an ID that the bridge made. IDs are numbered in that order.
func (t *transcript) made(id string) {
	if id == "" || t.known[id] || t.names[id] != "" {
		return
	}
	t.order = append(t.order, id)
	t.names[id] = fmt.Sprintf("id-%d", len(t.order))
}

func (t *transcript) exchange(r *trace.Record, line string) {
	doc := gjson.Parse(line)
	switch {
	case r.Kind == trace.KindRequest && r.HTTP == "GET":
		t.cards[r.Exchange] = true
		return
	case r.Kind == trace.KindRequest && r.Method == "commands/get":
		t.commands[r.Exchange] = true
		return
	case t.cards[r.Exchange]:
		if r.Kind == trace.KindBody && card.IsCard([]byte(line)) && len(t.lines) < 100 {
			t.card(line)
		}
		return
	case t.commands[r.Exchange]:
		if result := doc.Get("result"); r.Kind == trace.KindBody && result.Exists() {
			t.head = append(t.head, "commands "+result.Raw)
		}
		return
	}
	t.at(r.Micros)
	switch r.Kind {
	case trace.KindRequest:
		t.request(r, doc)
	case trace.KindEvent:
		t.event(r, doc, line)
	case trace.KindBody:
		t.body(r, doc, line)
	case trace.KindEnd:
		t.end(r)
	}
}

// card writes the card at the top, once.
func (t *transcript) card(line string) {
	from := first(gjson.Parse(line), "url", "supportedInterfaces.0.url")
	moved, _, _, err := card.Move([]byte(line), agentURL, card.From(from, agentURL))
	for _, l := range t.head {
		if strings.HasPrefix(l, "card ") {
			return
		}
	}
	if err == nil {
		t.head = append(t.head, "card "+string(moved))
	}
}

func (t *transcript) request(r *trace.Record, doc gjson.Result) {
	params := doc.Get("params")
	if len(t.order) == 0 {
		t.order = append(t.order, "") // A2A lines: the bridge has made a session
	}
	t.made(params.Get("message.contextId").Str)
	t.made(params.Get("message.messageId").Str)
	t.numbers[r.Exchange] = len(t.numbers) + 1
	t.last = r.Exchange
	t.answers[r.Exchange] = &answer{contentType: "text/plain"}
	t.lines = append(t.lines, fmt.Sprintf("A> #%d %s %s", t.numbers[r.Exchange], first2(r.Method, r.HTTP), params.Raw))
}

// says writes a line of the agent about a request.
func (t *transcript) says(x int64, what string) {
	if x != t.last {
		what = fmt.Sprintf("#%d %s", t.numbers[x], what)
	}
	t.lines = append(t.lines, "A< "+what)
}

func (t *transcript) event(r *trace.Record, doc gjson.Result, line string) {
	if a := t.answers[r.Exchange]; a != nil {
		a.streamed = true
	}
	result := doc.Get("result")
	for _, path := range []string{"id", "taskId", "contextId", "task.id", "task.contextId", "statusUpdate.taskId"} {
		if id := result.Get(path).Str; id != "" && t.names[id] == "" {
			t.known[id] = true
		}
	}
	switch {
	case result.Exists():
		t.says(r.Exchange, result.Raw)
	case r.Event > 0:
		t.says(r.Exchange, "raw data: "+line)
	case r.Comment != "":
		t.says(r.Exchange, "raw "+strings.ReplaceAll(r.Comment, "\n", " "))
	}
}

func (t *transcript) body(r *trace.Record, doc gjson.Result, line string) {
	a := t.answers[r.Exchange]
	for _, name := range []string{"result", "error"} {
		if v := doc.Get(name); a.status < 300 && doc.Get("jsonrpc").Exists() && v.Exists() {
			t.says(r.Exchange, fmt.Sprintf(`json {"%s":%s}`, name, v.Raw))
			return
		}
	}
	t.says(r.Exchange, fmt.Sprintf("status %d %s %s", a.status, strings.ReplaceAll(a.contentType, " ", ""), line))
}

func (t *transcript) end(r *trace.Record) {
	a := t.answers[r.Exchange]
	if a == nil {
		return
	}
	switch r.Reason {
	case trace.EndDone, trace.EndEOF:
		if a.streamed {
			t.says(r.Exchange, "end")
		}
	case trace.EndCut, trace.EndFailed:
		t.says(r.Exchange, "cut")
	case trace.EndClosed, trace.EndCanceled:
		t.lines = append(t.lines, fmt.Sprintf("A> #%d closed", t.numbers[r.Exchange]))
	}
}

// rename replaces what a test cannot have.
func (t *transcript) rename(line string) string {
	for then, now := range t.names {
		line = strings.ReplaceAll(line, quoted(then), quoted(now))
	}
	if t.cwd != "" && t.cwd != sessionDir {
		inner := strings.Trim(quoted(t.cwd), `"`)
		line = strings.ReplaceAll(line, inner+"/", sessionDir)
		line = strings.ReplaceAll(line, inner, sessionDir)
	}
	if strings.HasPrefix(line, "E< ") {
		line = replaceString(line, "params.update.updatedAt", sessionAt)
		line = replaceString(line, "result.agentInfo.version", "test")
	}
	return line
}

// replaceString replaces a string in a line's document.
func replaceString(line, path, text string) string {
	at := len("E< ")
	v := gjson.Get(line[at:], path)
	if v.Type != gjson.String || v.Index == 0 {
		return line
	}
	return line[:at+v.Index] + quoted(text) + line[at+v.Index+len(v.Raw):]
}

func quoted(s string) string {
	b, _ := json.Marshal(s) // a string always encodes
	return string(b)
}

func first(r gjson.Result, paths ...string) string {
	for _, path := range paths {
		if v := r.Get(path); v.Str != "" {
			return v.Str
		}
	}
	return ""
}

func first2(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
