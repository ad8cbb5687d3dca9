package replay

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/trace"
)

// defaultPatience bounds the wait for a recorded line.
const defaultPatience = 30 * time.Second

// EditorOptions say how to play the editor's side.
type EditorOptions struct {
	// Cwd replaces the sessions' directories; "": they stay as recorded.
	Cwd string
	// Patience bounds the wait for a recorded line; 0: half a minute.
	Patience time.Duration
}

// A Difference is a deviation of a bridge from the recording.
type Difference struct {
	Record int64 // of the trace
	Where  string
	Then   string // what was recorded
	Now    string
}

func (d *Difference) Error() string {
	text := fmt.Sprintf("record %d: %s", d.Record, d.Where)
	if d.Record == 0 {
		text = d.Where
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
// it in the recording. It returns the number of messages that agree, and a
// *[Difference] at the first that does not. It closes in at the end.
//
// It allows differences in IDs, times, how text is cut into pieces, and how often
// growing output is shown.
func PlayEditor(ctx context.Context, path string, in io.WriteCloser, out io.Reader, opts *EditorOptions) (same int, err error) {
	steps, err := loadEditor(path)
	if err != nil {
		return 0, err
	}
	e := &editor{opts: *opts, in: in, lines: make(chan []byte), ids: newIDs(), lanes: map[string]*lane{}, asked: map[string]string{}, requests: map[string]string{}}
	if e.opts.Patience <= 0 {
		e.opts.Patience = defaultPatience
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go e.read(ctx, out) // ends with out, or with the return
	defer in.Close()
	for i := range steps {
		if err := e.step(ctx, &steps[i]); err != nil {
			return e.same, err
		}
	}
	if err := e.await(ctx); err != nil {
		return e.same, err
	}
	in.Close()
	return e.same, e.rest(ctx)
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
	for {
		record, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if record.Kind == trace.KindStart && record.Redact {
			return nil, errors.New("trace: it was recorded with --trace-redact, so there is nothing to play")
		}
		if record.Kind != trace.KindMessage {
			continue
		}
		b, whole := record.Payload()
		if !whole {
			return nil, fmt.Errorf("trace: record %d was too large to be recorded", record.N)
		}
		any = any || record.Dir == trace.DirIn
		steps = append(steps, step{record.N, record.Dir == trace.DirIn, bytes.Clone(b)})
	}
	if !any {
		return nil, errors.New("trace: it has no message of an editor: trace replay without --editor plays its agent")
	}
	return steps, nil
}

type editor struct {
	opts  EditorOptions
	in    io.Writer
	lines chan []byte
	ids   *ids
	lanes map[string]*lane
	// requests maps the editor's requests to their lanes, by ID.
	requests map[string]string
	asked    map[string]string // IDs of the bridge's requests: recorded to current
	cwd      string
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

// step plays a message: it expects what the editor got, and sends what the editor said
// once all expected messages have come.
func (e *editor) step(ctx context.Context, s *step) error {
	doc := gjson.ParseBytes(s.doc)
	if !s.in {
		l := e.laneOf(doc, then)
		l.then = append(l.then, newUnit(s.n, e.moved(s.doc)))
		return nil
	}
	if err := e.await(ctx); err != nil {
		return err
	}
	if cwd := doc.Get("params.cwd").Str; cwd != "" && e.opts.Cwd != "" {
		e.cwd = cwd
	}
	line := e.ids.apply(e.moved(s.doc))
	if id := doc.Get("id").Raw; id != "" && !doc.Get("method").Exists() {
		if now, ok := e.asked[id]; ok {
			line = withID(line, now)
		}
	}
	e.laneOf(doc, sent)
	if method := doc.Get("method").Str; method == "session/cancel" || method == "$/cancel_request" {
		for _, l := range e.lanes {
			l.cancelled = true
		}
	}
	_, err := e.in.Write(append(bytes.ReplaceAll(line, []byte{'\n'}, []byte{' '}), '\n'))
	if err != nil {
		return &Difference{Record: s.n, Where: "the bridge does not read any more: " + err.Error()}
	}
	return nil
}

// moved replaces the recorded directory by the current one.
func (e *editor) moved(doc []byte) []byte {
	cwd := e.cwd
	if cwd == "" {
		if cwd = gjson.GetBytes(doc, "params.cwd").Str; cwd == "" {
			return doc
		}
	}
	if e.opts.Cwd == "" || len(cwd) < 2 {
		return doc
	}
	was, is := quote(cwd), quote(e.opts.Cwd)
	return bytes.ReplaceAll(doc, was[1:len(was)-1], is[1:len(is)-1])
}

// await waits for all expected messages.
func (e *editor) await(ctx context.Context) error {
	timer := time.NewTimer(e.opts.Patience)
	defer timer.Stop()
	for {
		missing, err := e.compare()
		if err != nil || missing == nil {
			return err
		}
		select {
		case line, ok := <-e.lines:
			if !ok {
				return &Difference{Record: missing.n, Where: "the bridge has ended", Then: clipLine(missing.raw)}
			}
			e.got(line)
			timer.Reset(e.opts.Patience)
		case <-timer.C:
			return &Difference{Record: missing.n, Where: fmt.Sprintf("nothing has come for %v", e.opts.Patience), Then: clipLine(missing.raw)}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// got takes a line of the bridge.
func (e *editor) got(line []byte) {
	l := e.laneOf(gjson.ParseBytes(line), now)
	l.now = append(l.now, newUnit(0, line))
}

// rest reads what follows the end of the input, which was not recorded.
func (e *editor) rest(ctx context.Context) error {
	timer := time.NewTimer(e.opts.Patience)
	defer timer.Stop()
	for {
		select {
		case line, ok := <-e.lines:
			if !ok {
				_, err := e.compare()
				if err == nil {
					err = e.extra()
				}
				return err
			}
			e.got(line)
		case <-timer.C:
			return &Difference{Where: "the bridge goes on after the end of its input"}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// extra reports what the bridge says beyond the recording.
func (e *editor) extra() error {
	for _, l := range e.lanes {
		if len(l.now) > 0 && !l.cancelled {
			return &Difference{Where: "the bridge says what was not recorded", Now: clipLine(l.now[0].raw)}
		}
	}
	return nil
}
