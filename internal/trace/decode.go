package trace

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

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

func (r *Record) set(key, value string, raw []byte) (err error) {
	if field := r.number(key); field != nil {
		*field, err = strconv.ParseInt(value, 10, 64)
		return err
	}
	if field := r.string(key); field != nil {
		// A copy: most are short, and outlive the line.
		*field = string([]byte(rawjson.Text(value)))
		return nil
	}
	switch key {
	case "t":
		r.Time, err = time.Parse(time.RFC3339Nano, rawjson.Text(value))
	case "id":
		r.ID = raw
	case "json":
		r.JSON = raw
	case "base64":
		r.Base64, err = base64.StdEncoding.DecodeString(rawjson.Text(value))
	case "header":
		err = json.Unmarshal(raw, &r.Header)
	case "from":
		err = json.Unmarshal(raw, &r.From)
	case "masked":
		r.Masked = value == "true"
	case "redact":
		r.Redact = value == "true"
	case "status", "attempt", "format", "part":
		var n int
		n, err = strconv.Atoi(value)
		switch key {
		case "status":
			r.Status = n
		case "attempt":
			r.Attempt = n
		case "format":
			r.Format = n
		default:
			r.Part = n
		}
	}
	return err
}

func (r *Record) number(key string) *int64 {
	switch key {
	case "n":
		return &r.N
	case "us":
		return &r.Micros
	case "x":
		return &r.Exchange
	case "e":
		return &r.Event
	case "size":
		return &r.Size
	case "bytes":
		return &r.Bytes
	case "took":
		return &r.Took
	case "limit":
		return &r.Limit
	case "records":
		return &r.Records
	}
	return nil
}

func (r *Record) string(key string) *string {
	fields := [...]struct {
		name  string
		field *string
	}{
		{"wire", &r.Wire}, {"dir", &r.Dir}, {"kind", &r.Kind}, {"method", &r.Method}, {"http", &r.HTTP}, {"url", &r.URL},
		{"proto", &r.Proto}, {"name", &r.Name}, {"last_id", &r.LastID}, {"comment", &r.Comment}, {"text", &r.Text},
		{"sha256", &r.SHA256}, {"head", &r.Head}, {"reason", &r.Reason}, {"error", &r.Error}, {"what", &r.What},
		{"why", &r.Why}, {"session", &r.Session}, {"task", &r.Task}, {"call", &r.Call}, {"option", &r.Option},
		{"outcome", &r.Outcome}, {"by", &r.By}, {"program", &r.Program}, {"version", &r.Version}, {"system", &r.System},
		{"mode", &r.Mode}, {"run", &r.Run},
	}
	for i := range fields {
		if fields[i].name == key {
			return fields[i].field
		}
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
