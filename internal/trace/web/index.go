package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/check"
	"github.com/a2astdio/a2astdio/internal/trace/view"
)

const (
	maxProblems = 1000    // bounds the findings of a page
	maxRows     = 300_000 // bounds the rows of a page. A browser shows as many without effort
)

// An index is a trace for the page: its rows, its records' positions, its spans. One
// goroutine adds to it, any number read it.
type index struct {
	reader *trace.Reader
	max    int // of rows

	mu       sync.Mutex
	start    *trace.Record
	rows     [][]byte // encoded
	at       []trace.Position
	omitted  int // records that have no row
	build    *view.Builder
	check    *check.Checker
	findings []check.Finding // at most maxProblems
	notes    []string
	stopped  bool
	read     bool // all was read that the file has now
}

func newIndex(r *trace.Reader) *index {
	ix := &index{reader: r, max: maxRows, build: view.NewBuilder()}
	ix.check = check.New(&check.Options{Report: func(f *check.Finding) {
		if len(ix.findings) < maxProblems {
			ix.findings = append(ix.findings, *f)
		}
	}})
	return ix
}

// fill reads the trace, and follows it as it grows, until ctx ends or the file is full.
func (ix *index) fill(ctx context.Context) error {
	for {
		r, err := ix.reader.Next()
		switch {
		case err == nil:
			ix.add(r, ix.reader.Position())
			continue
		case err == io.EOF:
			ix.markRead()
			err = ix.reader.Wait(ctx)
		}
		if err != nil {
			ix.markRead() // the notes tell why
			return err
		}
	}
}

func (ix *index) add(r *trace.Record, at trace.Position) {
	it := view.Of(r)
	encoded, _ := json.Marshal(&it) // all of it can be encoded
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if r.Kind == trace.KindStart && ix.start == nil {
		ix.start = new(*r)
	}
	ix.check.Add(r)
	ix.stopped = r.Kind == trace.KindStop
	if len(ix.rows) >= ix.max {
		ix.omitted++
		return
	}
	ix.build.Add(&it)
	ix.rows, ix.at = append(ix.rows, encoded), append(ix.at, at)
}

// markRead notes that all was read that the file has now.
func (ix *index) markRead() {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	ix.read, ix.notes = true, ix.reader.Notes()
}

// head describes the trace as a whole.
type head struct {
	File     string        `json:"file"`
	Start    *trace.Record `json:"start"`
	Count    int           `json:"count"` // of rows so far
	Notes    []string      `json:"notes,omitempty"`
	Stopped  bool          `json:"stopped"`
	Read     bool          `json:"read"`
	Problems int           `json:"problems"` // the findings about the trace, with those that are not listed
}

func (ix *index) head(file string) head {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	h := head{File: file, Start: ix.start, Count: len(ix.rows), Notes: ix.notes, Stopped: ix.stopped, Read: ix.read, Problems: ix.check.Count()}
	if ix.omitted > 0 {
		h.Notes = append(slices.Clone(h.Notes), fmt.Sprintf("%d records more are not in this page, which has the first %d: trace show has all", ix.omitted, ix.max))
	}
	return h
}

// rowsFrom returns so many rows as a JSON array, from an index on; fewer at the end.
func (ix *index) rowsFrom(from, count int) []byte {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	from = min(max(from, 0), len(ix.rows))
	to := min(from+max(count, 0), len(ix.rows))
	return append(append([]byte{'['}, bytes.Join(ix.rows[from:to], []byte(",\n"))...), ']')
}

// position returns the position of a row's record.
func (ix *index) position(i int) (trace.Position, bool) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if i < 0 || i >= len(ix.at) {
		return trace.Position{}, false
	}
	return ix.at[i], true
}

func (ix *index) problems() []byte { return listJSON(ix, &ix.findings) }

func (ix *index) spans() []byte { return listJSON(ix, &ix.build.Spans) }

// listJSON returns a list of the index as a JSON array.
func listJSON[T any](ix *index, of *[]T) []byte {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if len(*of) == 0 {
		return []byte("[]")
	}
	b, _ := json.Marshal(*of) // all of it can be encoded
	return b
}
