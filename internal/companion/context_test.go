package companion

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// TestContext: what the editor says, and what a CLI is shown of it. @a to @z are
// files that exist.
func TestContext(t *testing.T) {
	long := strings.Repeat("é", maxSelectedText)
	room := maxSelectedText - len(truncated)
	cut := long[:room-room%2] + truncated // é has two bytes
	var twelve, ten []string
	for i := range 12 {
		twelve = append(twelve, fmt.Sprintf(`{"path":"@%c","timestamp":%d}`, 'a'+i, i))
		if i >= 2 {
			ten = append([]string{fmt.Sprintf(`{"path":"@%c","timestamp":%d}`, 'a'+i, i)}, ten...)
		}
	}
	open := func(files ...string) string {
		return `{"workspaceState":{"openFiles":[` + strings.Join(files, ",") + `]}}`
	}
	for name, c := range map[string]struct{ said, shown string }{
		"nothing":      {`{}`, `{}`},
		"none is open": {open(), open()},
		"trust alone":  {`{"workspaceState":{"isTrusted":false}}`, `{"workspaceState":{"isTrusted":false}}`},
		"nulls": {`{"workspaceState":{"isTrusted":null,"openFiles":[{"path":"@a","timestamp":1,"isActive":null,"cursor":null,"selectedText":null}]}}`,
			open(`{"path":"@a","timestamp":1}`)},
		"unknown members": {`{"x":1,"workspaceState":{"y":2,"openFiles":[{"path":"@a","timestamp":1.5,"z":3}]}}`,
			open(`{"path":"@a","timestamp":1.5}`)},
		"the last focused first": {open(`{"path":"@a","timestamp":1}`, `{"path":"@b","timestamp":3}`, `{"path":"@c","timestamp":2}`),
			open(`{"path":"@b","timestamp":3}`, `{"path":"@c","timestamp":2}`, `{"path":"@a","timestamp":1}`)},
		"milliseconds stay whole": {open(`{"path":"@a","timestamp":1763769600123}`), open(`{"path":"@a","timestamp":1763769600123}`)},
		"virtual files are left out": {open(`{"path":"@none","timestamp":9}`, `{"path":"untitled:1","timestamp":8}`, `{"path":"@","timestamp":7}`,
			`{"path":"","timestamp":6}`, `{"path":"@a\u0000","timestamp":5}`, `{"path":"@a","timestamp":1}`), open(`{"path":"@a","timestamp":1}`)},
		"the active file": {open(`{"path":"@a","timestamp":5,"isActive":true,"cursor":{"line":1,"character":2},"selectedText":"s"}`),
			open(`{"path":"@a","timestamp":5,"isActive":true,"cursor":{"line":1,"character":2},"selectedText":"s"}`)},
		"the active file gets the highest timestamp": {open(`{"path":"@a","timestamp":5}`, `{"path":"@b","timestamp":1,"isActive":true}`),
			open(`{"path":"@b","timestamp":6,"isActive":true}`, `{"path":"@a","timestamp":5}`)},
		"also among equals": {open(`{"path":"@a","timestamp":5}`, `{"path":"@b","timestamp":5,"isActive":true}`),
			open(`{"path":"@b","timestamp":6,"isActive":true}`, `{"path":"@a","timestamp":5}`)},
		"one is active, and it alone has a cursor": {
			open(`{"path":"@a","timestamp":1,"isActive":true,"cursor":{"line":1,"character":1}}`,
				`{"path":"@b","timestamp":2,"isActive":true}`, `{"path":"@c","timestamp":0,"cursor":{"line":1,"character":1},"selectedText":"s"}`),
			open(`{"path":"@b","timestamp":2,"isActive":true}`, `{"path":"@a","timestamp":1}`, `{"path":"@c","timestamp":0}`)},
		"an active file that is virtual": {open(`{"path":"@none","timestamp":9,"isActive":true}`, `{"path":"@a","timestamp":1}`),
			open(`{"path":"@a","timestamp":1}`)},
		"ten files": {open(twelve...), open(ten...)},
		"the active one is among the ten": {open(append(twelve, `{"path":"@z","timestamp":-1,"isActive":true}`)...),
			open(append([]string{`{"path":"@z","timestamp":12,"isActive":true}`}, ten[:9]...)...)},
		"a long selection is cut between characters": {
			open(`{"path":"@a","timestamp":5,"isActive":true,"selectedText":"` + long + `"}`),
			open(`{"path":"@a","timestamp":5,"isActive":true,"selectedText":"` + cut + `"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			at := filesIn(t.TempDir())
			s := serverOf(t, &scriptedEditor{})
			say(t, s, MethodContextUpdate, at(c.said))
			shown, err := json.Marshal(s.Context())
			if err != nil || string(shown) != at(c.shown) {
				t.Errorf("%v\n got %s\nwant %s", err, shown, at(c.shown))
			}
		})
	}
}

// filesIn makes the files @a to @z in dir, and returns what puts dir for @.
func filesIn(dir string) func(string) string {
	for c := 'a'; c <= 'z'; c++ {
		if err := os.WriteFile(filepath.Join(dir, string(c)), nil, 0o600); err != nil {
			panic(err)
		}
	}
	prefix, _ := json.Marshal(dir + string(filepath.Separator))
	return func(s string) string { return strings.ReplaceAll(s, "@", strings.Trim(string(prefix), `"`)) }
}

// TestContextWrong: a context that would end a CLI's connection is refused, with a
// sentence that says what is wrong, and the one before it stays.
func TestContextWrong(t *testing.T) {
	at := filesIn(t.TempDir())
	s := serverOf(t, &scriptedEditor{})
	const before = `{"workspaceState":{"openFiles":[{"path":"@a","timestamp":1}]}}`
	say(t, s, MethodContextUpdate, at(before))
	file := func(members string) string { return `{"workspaceState":{"openFiles":[{"path":"@a",` + members + `}]}}` }
	for said, want := range map[string]string{
		`[]`:                                   "they must be an object",
		`7`:                                    "they must be an object",
		`{"workspaceState":7}`:                 "workspaceState must not be a JSON number",
		file(`"timestamp":"1"`):                "workspaceState.openFiles.timestamp must not be a JSON string",
		file(`"timestamp":null`):               "needs a timestamp",
		file(`"isActive":true`):                "needs a timestamp",
		file(`"timestamp":1e999`):              "timestamp must not be a JSON number 1e999",
		file(`"timestamp":1,"isActive":"yes"`): "isActive must not be a JSON string",
		file(`"timestamp":1,"selectedText":7`): "selectedText must not be a JSON number",
		file(`"timestamp":1,"cursor":{"line":0,"character":1}`):   "begin with 1",
		file(`"timestamp":1,"cursor":{"line":1,"character":0}`):   "begin with 1",
		file(`"timestamp":1,"cursor":{"line":1}`):                 "begin with 1",
		file(`"timestamp":1,"cursor":{"line":1.5,"character":1}`): "whole numbers",
		file(`"timestamp":1,"cursor":{"line":"1","character":1}`): "cursor.line must not be a JSON string",
		file(`"timestamp":1,"cursor":[1,1]`):                      "cursor must not be a JSON array",
		`{"workspaceState":{"isTrusted":"true"}}`:                 "isTrusted must not be a JSON string",
		`{"workspaceState":{"openFiles":{"path":"@a"}}}`:          "openFiles must not be a JSON object",
		`{"workspaceState":{"openFiles":["@a"]}}`:                 "openFiles must not be a JSON string",
		`{"workspaceState":{"openFiles":[null]}}`:                 "needs a timestamp",
		`{"workspaceState":{"openFiles":[{"timestamp":1,"path":7`: "",
	} {
		_, err := s.Handle(MethodContextUpdate, json.RawMessage(at(said)))
		if err == nil || !errors.Is(err, ErrParams) || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "editor: ide/contextUpdate: wrong params: ") {
			t.Errorf("%s: %v, want %q", said, err, want)
		}
	}
	if shown, _ := json.Marshal(s.Context()); string(shown) != at(before) {
		t.Errorf("the context is %s now", shown)
	}
}

// TestContextPace: a thousand updates a second cost a CLI 20 notifications a
// second, and the last one always arrives.
func TestContextPace(t *testing.T) {
	at := filesIn(t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		s := serverOf(t, &scriptedEditor{})
		var cli scriptedCLI
		s.hub.join(&cli)
		update := func(i int) {
			say(t, s, MethodContextUpdate, at(fmt.Sprintf(`{"workspaceState":{"openFiles":[{"path":"@a","timestamp":%d}]}}`, i)))
		}
		n := 0
		for second := range 3 {
			for range 1000 {
				n++
				update(n)
				time.Sleep(time.Millisecond)
			}
			contexts, _ := cli.heard()
			if len(contexts) == 0 || len(contexts) > 20 {
				t.Errorf("second %d: %d contexts", second, len(contexts))
			}
		}
		// A burst that ends at any time: its last update is the last one shown.
		for _, pause := range []time.Duration{0, 1, contextInterval - 1, contextInterval, contextInterval + 1, time.Second} {
			time.Sleep(pause)
			n++
			update(n)
			time.Sleep(2 * contextInterval)
			synctest.Wait()
			contexts, _ := cli.heard()
			if want := at(fmt.Sprintf(`{"workspaceState":{"openFiles":[{"path":"@a","timestamp":%d}]}}`, n)); len(contexts) == 0 || contexts[len(contexts)-1] != want {
				t.Errorf("after a pause of %v: %q, want %s at the end", pause, contexts, want)
			}
		}
		// The same again is no news, but for a CLI that comes later.
		update(n)
		var late scriptedCLI
		s.hub.join(&late)
		time.Sleep(time.Second)
		synctest.Wait()
		if contexts, _ := cli.heard(); len(contexts) != 0 {
			t.Errorf("nothing has changed, and it was told %q", contexts)
		}
		if contexts, _ := late.heard(); len(contexts) != 1 {
			t.Errorf("the CLI that came later was told %q", contexts)
		}
	})
}

// FuzzContext: of whatever an editor says, a CLI is told nothing that its schema
// refuses, and nothing in which it would find no active file if there is one; and
// what is shown is shown the same when it is said again.
func FuzzContext(f *testing.F) {
	dir := f.TempDir()
	at := filesIn(dir)
	for _, seed := range []string{`{}`, `null`, `{"workspaceState":{"isTrusted":true,"openFiles":[{"path":"@a","timestamp":1,"isActive":true,"selectedText":"x","cursor":{"line":1,"character":1}},{"path":"@b","timestamp":1e300,"isActive":true},{"path":"@c","timestamp":-1}]}}`} {
		f.Add([]byte(at(seed)))
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		s := &Server{hub: newHub(&scriptedEditor{}, nil)}
		if _, err := s.Handle(MethodContextUpdate, said); err != nil {
			if !errors.Is(err, ErrParams) {
				t.Fatal(err)
			}
			return
		}
		shown := must.Get(json.Marshal(s.Context()))(t)
		strictContext(t, shown)
		if _, err := s.Handle(MethodContextUpdate, shown); err != nil {
			t.Fatalf("%s: %v", shown, err)
		}
		if again, _ := json.Marshal(s.Context()); string(again) != string(shown) {
			t.Fatalf("shown as\n%s\nand then as\n%s", shown, again)
		}
	})
}

// strictContext is the CLIs' schema (gemini-cli, packages/core/src/ide/types.ts),
// and what they make of the order (ideContext.ts).
func strictContext(t *testing.T, text []byte) {
	t.Helper()
	var c map[string]any
	must.Do(t, json.Unmarshal(text, &c))
	state, ok := c["workspaceState"].(map[string]any)
	if !ok && c["workspaceState"] != nil {
		t.Fatalf("workspaceState is %v", c["workspaceState"])
	}
	for name, v := range state {
		if _, is := v.(bool); name == "isTrusted" && !is {
			t.Fatalf("isTrusted is %v", v)
		}
	}
	files, _ := state["openFiles"].([]any)
	if len(files) > maxOpenFiles {
		t.Fatalf("%d files", len(files))
	}
	for i, f := range files {
		f := f.(map[string]any)
		_, isPath := f["path"].(string)
		timestamp, isNumber := f["timestamp"].(float64)
		text, _ := f["selectedText"].(string)
		_, hasCursor := f["cursor"]
		active, _ := f["isActive"].(bool)
		if !isPath || !isNumber || len(text) > maxSelectedText || !active && (text != "" || hasCursor) || active && i > 0 {
			t.Fatalf("file %d of %s", i, files)
		}
		if first := files[0].(map[string]any)["timestamp"].(float64); timestamp > first {
			t.Fatalf("file %d is newer than the first: %s", i, files)
		}
	}
}
