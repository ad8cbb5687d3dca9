package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/tidwall/gjson"
)

var errNoRecord = errors.New("this is no record of a trace")

// Decode reads a line of a trace into r, and overwrites all of r. It skips unknown members,
// which a newer program may have written.
func (r *Record) Decode(line []byte) error {
	*r = Record{}
	if json.Unmarshal(line, r) != nil || r.Kind == "" || r.Wire == "" {
		return errNoRecord
	}
	return nil
}

// Payload returns the recorded bytes, and whether they are complete.
func (r *Record) Payload() (b []byte, whole bool) {
	switch {
	case r.SHA256 != "":
		return []byte(r.Head), false
	case r.JSON != nil:
		return r.JSON, true
	case r.Base64 != nil:
		return r.Base64, true
	}
	return []byte(r.Text), true
}

// Block returns an event as it is on the wire, with its name, ID and comments. data is
// its payload.
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

// Document returns the payload if it is JSON.
func (r *Record) Document() gjson.Result {
	if r.JSON != nil {
		return gjson.ParseBytes(r.JSON)
	}
	if r.Text != "" && gjson.Valid(r.Text) {
		return gjson.Parse(r.Text)
	}
	return gjson.Result{}
}

// Length is the payload's length on the wire.
func (r *Record) Length() int64 {
	if r.Size > 0 {
		return r.Size
	}
	b, _ := r.Payload()
	return int64(len(b))
}
