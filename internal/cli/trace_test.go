package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

// hostileLines are records that no recorder writes: values of other types, bytes that a
// terminal or a page would obey, numbers beyond all, depths, and JSON that is none.
func hostileLines() []string {
	evil := "</script><img src=x onerror=alert(1)>\x1b]0;x\x07\x1b[2J\u202e\u0085"
	quoted, _ := json.Marshal(evil)
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	record := func(kind, members string) string {
		return `{"n":2,"t":"2026-01-02T03:04:05.000000Z","us":7,"wire":"agent","dir":"in","kind":"` + kind + `"` + members + `}`
	}
	var list []string
	for _, kind := range []string{"message", "stderr", "request", "response", "event", "body", "end", "decision", "stop", "start", "eclipse"} {
		for _, members := range []string{
			`,"x":1,"id":1,"method":` + string(quoted) + `,"json":{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":` + string(quoted) + `}}`,
			`,"x":1,"json":{"result":{"task":{"id":5,"status":{"state":[]},"artifacts":{},"history":"x"}}}`,
			`,"x":9223372036854775807,"e":-9223372036854775808,"took":-1,"bytes":-5,"size":-1,"sha256":"x","head":` + string(quoted),
			`,"x":1,"url":"http://[::1","http":"\n","header":{"A\r\nB":["c\r\nd"],"":[]},"status":-1,"proto":"\u0000"`,
			`,"x":1,"json":` + deep, `,"json":]`, `,"json":}{`, `,"text":[}`, `,"text":{"a":"b","c":[1]}`, `,"base64":"!!!"`, `,"base64":5`,
			`,"from":[[1,2],[3],[],5,"x"]`, `,"from":{}`, `,"what":` + string(quoted) + `,"why":` + string(quoted) + `,"call":5,"attempt":1e400`,
			`,"name":` + string(quoted) + `,"comment":` + string(quoted) + `,"last_id":` + string(quoted) + `,"error":` + string(quoted) + `,"reason":` + string(quoted),
			`,"format":99999999999,"run":5,"part":-1,"mode":` + string(quoted) + `,"version":` + string(quoted),
			`,"mode":` + string(quoted) + `,"version":` + string(quoted) + `,"system":` + string(quoted),
			`,"n":-1,"us":-1`, `,"n":9223372036854775807,"us":9223372036854775807,"t":"9999-12-31T23:59:59.999999Z"`, `,"t":"0000-00-00T00:00:00Z"`,
		} {
			list = append(list, record(kind, members))
		}
	}
	return append(list, `{`, `[]`, `null`, `"`, "\x00", `{"n":`, deep, `{"n":2,"kind":"message"}`)
}

// traceWays are the commands that read a trace.
var traceWays = [][]string{{"show"}, {"show", "--record=2"}, {"check"}, {"export", "--har"}, {"export", "--html"}, {"export", "--redact"}}

// FuzzHostileTrace: whatever a trace has, each command that reads it ends, without a
// panic, and writes nothing that a terminal obeys, and JSON where it writes JSON. An
// input is for one command: all of them for each made the search nine times slower.
func FuzzHostileTrace(f *testing.F) {
	head := `{"n":1,"t":"2026-01-02T03:04:05.000000Z","us":0,"wire":"bridge","kind":"start","format":2,"mode":"bridge","run":"r","part":1,"limit":1048576}` + "\n"
	lines := hostileLines()
	for way := range traceWays {
		for some := range slices.Chunk(lines, 7) {
			f.Add(head+strings.Join(some, "\n"), byte(way))
		}
		f.Add(head+strings.Join(lines, "\n"), byte(way))
		for _, first := range lines {
			if strings.Contains(first, `"kind":"start"`) {
				f.Add(first, byte(way))
			}
		}
	}
	f.Fuzz(func(t *testing.T, doc string, number byte) {
		if len(doc) > 1<<20 {
			return
		}
		way := traceWays[int(number)%len(traceWays)]
		path := must.File(t, doc, t.TempDir(), "t.jsonl")
		status, out, stderr := runMain("", append(append([]string{"trace"}, way...), path)...)
		name := strings.Join(way, " ")
		if status != 0 && status != frame.ExitFailed {
			t.Fatalf("%s: status %d, %s, of %q", name, status, stderr, doc)
		}
		if err := tame(stderr); err != nil {
			t.Fatalf("%s: stderr: %v, of %q", name, err, doc)
		}
		switch way[len(way)-1] {
		case "show", "--record=2", "check":
			if err := tame(out); err != nil {
				t.Fatalf("%s: %v, of %q", name, err, doc)
			}
		case "--har", "--redact":
			if status == 0 && !jsonLines(out) {
				t.Fatalf("%s: no JSON: %q, of %q", name, out, doc)
			}
		case "--html":
			if strings.Contains(out, "onerror=alert") {
				t.Fatalf("the page has a trace's text in its HTML, of %q", doc)
			}
		}
	})
}

// tame reports what a terminal would obey.
func tame(s string) error {
	for _, r := range s {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || r == '\u202e') {
			return fmt.Errorf("%U in %q", r, s)
		}
	}
	return nil
}

func jsonLines(s string) bool {
	d := json.NewDecoder(strings.NewReader(s))
	for d.More() {
		var v any
		if d.Decode(&v) != nil {
			return false
		}
	}
	return true
}
