package stdio

import (
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// Any value is written as one line of JSON.
func TestWriteObject(t *testing.T) {
	tests := []struct{ in, want string }{
		{"{\n \"id\": 1,\r\n \"result\": {}\n}", `{"id":1,"result":{}}`},
		{`{"id":1,"result":"a < b && c > d \\u003c \\\\u003c \u003c \" \u0001"}`, `{"id":1,"result":"a < b && c > d \\u003c \\\\u003c < \" \u0001"}`},
		{"{\"id\":1,\"result\":\"\xff\"}", "{\"id\":1,\"result\":\"\ufffd\"}"},
		{`[]`, ""},
		{`null`, ""},
		{`{`, ""},
	}
	for _, test := range tests {
		w := &writer{}
		s := NewConn(strings.NewReader(""), w, nil)
		err := s.WriteObject(raw(test.in))
		must.Do(t, s.Flush(t.Context()))
		s.Close()
		if got := strings.Join(w.writes, ""); got != test.want+"\n" && test.want != "" {
			t.Errorf("got %q, want %q", got, test.want)
		} else if (err != nil) != (test.want == "") {
			t.Errorf("%s: %v", test.in, err)
		}
	}
}

type raw string

func (r raw) MarshalJSON() ([]byte, error) { return []byte(r), nil }
