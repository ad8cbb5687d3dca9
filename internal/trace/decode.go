package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/tidwall/gjson"
)

// decode reads a line of a trace into r, overwrites all of r, and reports whether it is a record.
// It skips unknown members, which a newer program may have written.
func (r *Record) decode(line []byte) bool {
	*r = Record{}
	return json.Unmarshal(line, r) == nil && r.Kind != "" && r.Wire != ""
}

// Payload returns the recorded bytes, and whether they are complete.
func (r *Record) Payload() (b []byte, whole bool) {
	switch {
	case r.Size > 0:
		return []byte(r.Head), false
	case r.JSON != nil:
		return r.JSON, true
	case r.Base64 != nil:
		return r.Base64, true
	}
	return []byte(r.Text), true
}

// Block returns an event as it is on the wire, with its name, ID and comments, to the blank
// line. data is its payload.
func (r *Record) Block(data []byte) []byte {
	var b bytes.Buffer
	for line := range strings.Lines(r.Comment) {
		b.WriteString(strings.TrimSuffix(line, "\n") + "\n")
	}
	if r.Name != "" {
		b.WriteString("event: " + r.Name + "\n")
	}
	if r.LastID != "" {
		b.WriteString("id: " + r.LastID + "\n")
	}
	if r.Event > 0 {
		for line := range bytes.SplitSeq(data, []byte{'\n'}) {
			b.WriteString("data: " + string(line) + "\n")
		}
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// Document returns the payload if it is JSON, and whether all of it was recorded: of a large
// one the beginning was, which has the members that are needed.
func (r *Record) Document() (doc gjson.Result, whole bool) {
	switch {
	case r.Size > 0:
		return gjson.Parse(r.Head), false
	case r.JSON != nil:
		return gjson.ParseBytes(r.JSON), true
	}
	// RFC 7464 begins each text with a record separator, and some agents do in streams.
	text := strings.TrimPrefix(r.Text, "\x1e")
	if len(r.Base64) > 0 { // its bytes are no UTF-8
		text = strings.ToValidUTF8(string(r.Base64), "\uFFFD")
	}
	if !gjson.Valid(text) {
		return gjson.Result{}, true
	}
	return gjson.Parse(text), true
}

// Path returns the path of a request's URL, without its query; "" if that is no URL.
func (r *Record) Path() string {
	u, err := url.Parse(r.URL)
	if err != nil {
		return ""
	}
	return u.Path
}

// HeaderOf returns a field of the header; "" if it is not there.
func (r *Record) HeaderOf(name string) string {
	return strings.Join(http.Header(r.Header).Values(name), ", ")
}

// Length is the payload's length on the wire.
func (r *Record) Length() int64 {
	if r.Size > 0 {
		return r.Size
	}
	b, _ := r.Payload()
	return int64(len(b))
}

// A File reads records of a trace at given positions. It may be used from several
// goroutines, also while the trace is still being read.
type File struct{ f *os.File }

// File returns a File for the positions that the Reader reports, and which is to be closed
// in place of the Reader.
func (r *Reader) File() *File {
	r.hasFile = true
	return &File{r.file}
}

// Read reads the record at a position, and its line.
func (f *File) Read(at Position) (*Record, []byte, error) {
	line := make([]byte, at.Length)
	if _, err := f.f.ReadAt(line, at.Offset); err != nil && err != io.EOF {
		return nil, nil, fmt.Errorf("trace: %w", err)
	}
	r := new(Record)
	if !r.decode(line) {
		return nil, nil, errChanged
	}
	return r, line, nil
}

var errChanged = errors.New("trace: the file has changed")

func (f *File) Close() error { return f.f.Close() }
