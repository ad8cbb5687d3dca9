package stdio

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

// FuzzLines: after any input a valid request is answered; every line that comes out is
// one valid JSON object; notifications and answers get no line; each request gets exactly
// one, in order, with its id byte for byte. The test reads lines by encoding/json alone.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1,"<"]}}`,
		`{"jsonrpc":"2.0","method":"m"}`,
		"\ufeff{\"id\":-1.5e3,\"method\":\"m\"}\r\n\r\n{\"id\":\"\\u0000raw:x\",\"method\":\"m\"}",
		`[]` + "\n" + `[{"id":1,"method":"m"}]` + "\n5\nnull\n{}",
		`{"id":null,"method":"m"}` + "\n" + `{"id":{},"method":"m"}` + "\n" + `{"id":1,"method":2}`,
		`{"id":null,"error":{}}` + "\n" + `{"id":0,"result":1e999}` + "\n" + `{"result":null}`,
		`{"id":1,"method":"m","result":null,"ERROR":1}` + "\n" + `{"id":1,"method":"m","error":1}`,
		`{"id":7,"method":"m","params":{` + "\n" + "{\"id\":7,\"method\":\"\xff\"}",
		`{"id":7,"method":"m","params":` + strings.Repeat("[", 1001),
		`{"id":7,"method":"m","params":"` + strings.Repeat("x", fuzzLine),
		`{"id":1,"\u0069d":2,"method":"m"}`, `{"jsonrpc":2,"id":1,"method":"m"}`,
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, slowly bool) {
		const after, afterID = `{"jsonrpc":"2.0","id":"after","method":"m"}`, `"after"`
		in := string(data) + "\n" + after
		var want []string
		for line := range strings.Lines(strings.TrimPrefix(string(data), "\ufeff")) {
			if id, replied := expect(strings.TrimSuffix(line, "\n")); replied {
				want = append(want, id)
			}
		}
		want = append(want, afterID)

		var r io.Reader = strings.NewReader(in)
		if slowly {
			r = iotest.HalfReader(r)
		}
		got := talk(t, r, fuzzLine)
		if len(got) != len(want) {
			t.Fatalf("%d lines came out, %d expected:\n%s", len(got), len(want), strings.Join(got, "\n"))
		}
		for i, line := range got {
			var reply map[string]json.RawMessage
			if err := json.Unmarshal([]byte(line), &reply); err != nil || !utf8.ValidString(line) {
				t.Fatalf("%q: %v", line, err)
			}
			id, result := string(reply["id"]), reply["result"] != nil
			if result == (reply["error"] != nil) || string(reply["jsonrpc"]) != `"2.0"` || len(reply) != 3 {
				t.Errorf("not a reply: %s", line)
			}
			switch {
			case want[i] == anyID:
				if id != "null" && !bytes.Contains(data, []byte(id)) || result {
					t.Errorf("made up: %s", line)
				}
			case id != want[i]:
				t.Errorf("reply %d has id %s, want %s", i, id, want[i])
			}
		}
	})
}

const (
	// fuzzLine is short, so that the fuzzer finds the limit.
	fuzzLine = 8 << 10

	// anyID stands for the id of an error reply to a line that is not JSON or is too
	// long: the reply may have an id or not.
	anyID = "any"
)

// expect returns the id of the reply that line deserves, if any.
func expect(line string) (id string, replied bool) {
	if len(line) > fuzzLine {
		return anyID, true
	}
	if line = strings.Trim(line, " \t\r"); line == "" {
		return "", false
	}
	if !json.Valid([]byte(line)) || !utf8.ValidString(line) || depth(line) > rawjson.MaxDepth {
		return anyID, true
	}
	var m map[string]json.RawMessage
	if json.Unmarshal([]byte(line), &m) != nil || m == nil {
		return "null", true
	}
	id = "null"
	if raw := string(m["id"]); raw != "" && strings.IndexByte(`"-0123456789`, raw[0]) >= 0 {
		id = raw
	}
	set := func(key string) bool { return m[key] != nil && string(m[key]) != "null" }
	switch {
	case m["method"] == nil && (m["result"] != nil || m["error"] != nil):
		return "", false // an answer, and we never ask
	case m["method"] == nil, m["method"][0] != '"', set("result"), set("error"):
		return id, true
	case m["jsonrpc"] != nil && stringOf(m["jsonrpc"]) != "2.0":
		return id, true
	}
	return id, m["id"] != nil
}

func stringOf(raw json.RawMessage) (s string) {
	_ = json.Unmarshal(raw, &s) // anything else is not "2.0" either
	return s
}

func depth(line string) (deepest int) {
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	for depth := 0; ; {
		t, err := d.Token()
		switch {
		case err == io.EOF:
			return deepest
		case err != nil: // deeper than the decoder goes
			return math.MaxInt
		case t == json.Delim('[') || t == json.Delim('{'):
			depth++
			deepest = max(deepest, depth)
		case t == json.Delim(']') || t == json.Delim('}'):
			depth--
		}
	}
}

// TestMaxPerSecond: no second has more lines than the limit, from all senders together; a
// reply does not wait; a sender that gives up has sent nothing; and closing ends the wait.
func TestMaxPerSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &writer{}
		s := NewConn(strings.NewReader(""), w, &Options{MaxPerSecond: 10})
		if !s.Blocked() {
			t.Error("whoever sends is not told to merge")
		}
		began := time.Now()
		for range 11 {
			must.Do(t, s.Send(t.Context(), []byte("a\n")))
		}
		must.Equal(t, time.Since(began), time.Second, "for eleven lines")
		began = time.Now()
		if err := s.Send(t.Context(), []byte("b\nb\nb\nb\nb\n")); err != nil || time.Since(began) != 500*time.Millisecond {
			t.Errorf("five lines that came together took %v, and not half a second: %v", time.Since(began), err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Millisecond)
		defer stop()
		must.Equal(t, s.Send(ctx, []byte("d\n")), context.DeadlineExceeded, "a send that was given up")
		closed := make(chan error, 1)
		go func() { closed <- s.Send(t.Context(), []byte("e\n")) }() // ends with Close
		synctest.Wait()
		s.Close()
		must.Equal(t, <-closed, errClosed, "a send that waits, when the connection is closed")
		synctest.Wait()
		must.Equal(t, strings.Join(w.writes, ""), strings.Repeat("a\n", 11)+strings.Repeat("b\n", 5))
	})
}
