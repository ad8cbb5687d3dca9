package replay

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/trace"
)

// A Difference is a deviation of a bridge from the recording.
type Difference struct {
	Record int64 // of the trace
	Where  string
	Then   string // what was recorded
	Now    string
}

func (d *Difference) Error() string {
	text := d.Where
	if d.Record > 0 {
		text = fmt.Sprintf("record %d: %s", d.Record, d.Where)
	}
	if d.Then != "" {
		text += "\n  recorded: " + d.Then
	}
	if d.Now != "" {
		text += "\n  now:      " + d.Now
	}
	return text
}

// PlayEditor plays the editor's side of a trace against a bridge, which reads from in
// and writes to out. It sends a message once everything has come that had come before
// it in the recording, and gives up when nothing has come for patience. It returns the
// number of messages that agree, and a *[Difference] at the first that does not. It
// closes in at the end.
//
// Compared are, for each session, the requests and replies in their order, the text
// before each, and the tool calls of each turn, with their titles and their ends. IDs
// and times may differ.
func PlayEditor(ctx context.Context, path string, in io.WriteCloser, out io.Reader, patience time.Duration) (same int, err error) {
	steps, err := loadEditor(path)
	if err != nil {
		return 0, err
	}
	e := &editor{patience: patience, in: in, lines: make(chan []byte), ids: newIDs(), lanes: map[string]*lane{}, asked: map[string]string{}, requests: map[string]string{}}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go e.read(ctx, out) // ends with out, or with the return
	defer in.Close()
	for i := range steps {
		if err := e.step(ctx, &steps[i]); err != nil {
			return e.same, err
		}
	}
	if err := e.await(ctx, false); err != nil {
		return e.same, err
	}
	in.Close()
	return e.same, e.await(ctx, true)
}

// A step is a message of the editor's wire.
type step struct {
	n   int64
	in  bool
	doc []byte
}

func loadEditor(path string) ([]step, error) {
	r, err := trace.Open(path, nil)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var steps []step
	any := false
	for record, err := range r.All() {
		b, whole := record.Payload()
		switch {
		case err != nil:
			return nil, err
		case record.Kind == trace.KindStart && record.Redact:
			return nil, errRedacted
		case record.Kind != trace.KindMessage:
		case !whole:
			return nil, fmt.Errorf("trace: record %d was too large to be recorded", record.N)
		default:
			any = any || record.Dir == trace.DirIn
			steps = append(steps, step{record.N, record.Dir == trace.DirIn, bytes.Clone(b)})
		}
	}
	if !any {
		return nil, errors.New("trace: it has no message of an editor: trace replay without --editor plays its agent")
	}
	return steps, nil
}

type editor struct {
	patience time.Duration
	in       io.Writer
	lines    chan []byte
	ids      *ids
	lanes    map[string]*lane
	requests map[string]string // the lanes of the editor's requests, by ID
	asked    map[string]string // IDs of the bridge's requests: recorded to current
	same     int
}

// read hands over lines.
func (e *editor) read(ctx context.Context, out io.Reader) {
	defer close(e.lines)
	r := bufio.NewReader(out)
	for {
		line, err := r.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			select {
			case e.lines <- bytes.TrimSpace(line):
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// laneOf returns the lane of a message: that of its session, or in A2A lines of its
// request. Lanes have the recorded session's name.
func (e *editor) laneOf(doc gjson.Result, sent bool) *lane {
	id, method := doc.Get("id").Raw, doc.Get("method")
	name := e.ids.was(doc.Get("params.sessionId").Str)
	if request := doc.Get("params.request").Raw; name == "" && request != "" {
		name = "request " + request
	}
	switch {
	case method.Exists() && id != "" && sent:
		if name == "" && !strings.HasPrefix(method.Str, "session/") && method.Str != "initialize" {
			name = "request " + id // A2A lines
		}
		e.requests[id] = name
	case !method.Exists() && !sent:
		name = e.requests[id]
	}
	l := e.lanes[name]
	if l == nil {
		l = &lane{cancelled: map[int]bool{}}
		e.lanes[name] = l
	}
	return l
}

// step plays a message: it expects what the editor got, and sends what the editor said
// once all expected messages have come.
func (e *editor) step(ctx context.Context, s *step) error {
	doc := gjson.ParseBytes(s.doc)
	if !s.in {
		e.laneOf(doc, false).then.add(s.n, doc)
		return nil
	}
	if err := e.await(ctx, false); err != nil {
		return err
	}
	line := e.ids.apply(s.doc)
	if now, ok := e.asked[doc.Get("id").Raw]; ok && !doc.Get("method").Exists() {
		line = withID(line, now)
	}
	e.laneOf(doc, true)
	if method := doc.Get("method").Str; method == "session/cancel" || method == "$/cancel_request" {
		for _, l := range e.lanes {
			l.cancelled[len(l.then.units)] = true
		}
	}
	_, err := e.in.Write(append(bytes.ReplaceAll(line, []byte{'\n'}, []byte{' '}), '\n'))
	if err != nil {
		return &Difference{Record: s.n, Where: "the bridge does not read any more: " + err.Error()}
	}
	return nil
}

// await waits for all expected messages; with end, for the bridge's end.
func (e *editor) await(ctx context.Context, end bool) error {
	timer := time.NewTimer(e.patience)
	defer timer.Stop()
	for {
		missing, err := e.compare(false)
		if err != nil || missing == nil && !end {
			return err
		}
		if missing == nil {
			missing = &Difference{}
		}
		select {
		case line, ok := <-e.lines:
			if ok {
				doc := gjson.ParseBytes(line)
				e.laneOf(doc, false).now.add(0, doc)
				timer.Reset(e.patience)
				continue
			}
			if end {
				_, err = e.compare(true)
				return err
			}
			missing.Where = "the bridge has ended"
		case <-timer.C:
			missing.Where = fmt.Sprintf("nothing has come for %v", e.patience)
			if end {
				missing.Where = "the bridge goes on after the end of its input"
			}
		case <-ctx.Done():
			return ctx.Err()
		}
		return missing
	}
}
