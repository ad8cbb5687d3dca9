package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
)

var errNoRecord = errors.New("this is no record of a trace")

// Decode reads a line of a trace into r, and overwrites all of r. JSON and ID are views
// of the line. It skips unknown members, which a newer program may have written.
func (r *Record) Decode(line []byte) error {
	*r = Record{}
	if !gjson.ValidBytes(line) {
		return errNoRecord
	}
	s := rawjson.View(line)
	if !rawjson.IsObject(s) {
		return errNoRecord
	}
	var err error
	rawjson.Walk(s, 0, func(key string, at int) int {
		end := rawjson.SkipValue(s, at)
		if err == nil {
			err = r.set(key, s[at:end], line[at:end])
		}
		return end
	})
	if err != nil || r.Kind == "" || r.Wire == "" {
		return errNoRecord
	}
	return nil
}

// fields are the indices of a Record's members, by their names in JSON.
var fields = sync.OnceValue(func() map[string]int {
	of := map[string]int{}
	t := reflect.TypeFor[Record]()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		of[name] = i
	}
	return of
})

// set sets a member. It is several times faster than encoding/json, which reads a line
// twice.
func (r *Record) set(key, value string, raw []byte) error {
	i, ok := fields()[key]
	if !ok {
		return nil
	}
	switch f := reflect.ValueOf(r).Elem().Field(i); f.Kind() {
	case reflect.String:
		f.SetString(strings.Clone(rawjson.Text(value))) // most are short, and outlive the line
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(value, 10, 64)
		f.SetInt(n)
		return err
	default:
		member := f.Addr().Interface()
		if view, ok := member.(*json.RawMessage); ok {
			*view = raw
			return nil
		}
		return json.Unmarshal(raw, member)
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

// Clone returns a copy that outlives the line.
func (r *Record) Clone() *Record {
	c := *r
	c.ID, c.JSON = append(json.RawMessage(nil), r.ID...), append(json.RawMessage(nil), r.JSON...)
	return &c
}
