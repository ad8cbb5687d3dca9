package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// TestV1: 0.3 becomes 1.0, with all unknown members; 1.0 stays unchanged, but for the order of its members.
func TestV1(t *testing.T) {
	for in, want := range map[string]string{
		`{"kind":"status-update","taskId":"t","final":true,"status":{"state":"input-required","message":{"kind":"message","role":"agent","parts":[{"kind":"text","text":"a","metadata":{"kind":"kept"}}],"x":1}},"metadata":{"kind":"kept"}}`: `{"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"role":"ROLE_AGENT","parts":[{"text":"a","metadata":{"kind":"kept"}}],"x":1}},"metadata":{"kind":"kept"}}}`,
		`{"kind":"artifact-update","artifact":{"artifactId":"a","parts":[{"kind":"file","file":{"name":"n","mimeType":"m","uri":"u"}},{"kind":"data","data":{"kind":"kept"}}]},"lastChunk":true}`:                                             `{"artifactUpdate":{"artifact":{"artifactId":"a","parts":[{"filename":"n","mediaType":"m","url":"u"},{"data":{"kind":"kept"}}]},"lastChunk":true}}`,
		`{"kind":"message","role":"user","parts":null}`:                                                          `{"message":{"role":"ROLE_USER"}}`,
		`{"id":"t","status":{"state":"made-up"},"artifacts":7}`:                                                  `{"task":{"id":"t","status":{"state":"made-up"},"artifacts":7}}`,
		`{"task":{"id":"t","status":{"state":"TASK_STATE_WORKING"},"history":[{"role":"ROLE_USER"}]}}`:           `{"task":{"id":"t","status":{"state":"TASK_STATE_WORKING"},"history":[{"role":"ROLE_USER"}]}}`,
		`{"statusUpdate":{"taskId":"t","status":{"state":3}}}`:                                                   `{"statusUpdate":{"taskId":"t","status":{"state":3}}}`,
		`{"artifactUpdate":{"artifact":{"parts":[{"raw":"AA==","filename":"f"}]},"somethingElse":{"kind":"x"}}}`: `{"artifactUpdate":{"artifact":{"parts":[{"raw":"AA==","filename":"f"}]},"somethingElse":{"kind":"x"}}}`,
		`{"task":{"id":"t","status":{"state":"TASK_STATE_CANCELLED","update":{"role":"ROLE_AGENT","content":[{"data":{"data":{"k":1}}},{"file":{"fileWithBytes":"QUE9PQ==","mimeType":"m"}}]}}}}`: `{"task":{"id":"t","status":{"state":"TASK_STATE_CANCELED","message":{"role":"ROLE_AGENT","parts":[{"data":{"k":1}},{"raw":"AA==","mediaType":"m"}]}}}}`,
		`{"unheardOf":{"kind":"x"}}`: `{"unheardOf":{"kind":"x"}}`,
		`7`:                          `7`,
	} {
		var ordered any
		if err := json.Unmarshal([]byte(want), &ordered); err != nil {
			t.Fatal(err)
		}
		sorted, _ := json.Marshal(ordered)
		if got := string(v1Event(a2a.JSON(in))); got != string(sorted) {
			t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
		}
	}
}

func TestFileName(t *testing.T) {
	for in, want := range map[string]string{
		"a.txt": "a.txt", "../../etc/passwd": "passwd", `..\..\x.exe`: "x.exe", "/": "", "..": "", ".": "", "a/..": "",
		".bashrc": "_bashrc", "-rf": "_rf", "a\x00b\x1b[2J.txt": "a_b_[2J.txt",
		"a:b": "a_b", "trailing. . ": "trailing", "\u202etxt.exe": "_txt.exe", "\xff": "_", "ü.md": "ü.md", "": "",
		strings.Repeat("é", 300) + ".tar": strings.Repeat("é", 98) + ".tar",
	} {
		if got := fileName(in); got != want {
			t.Errorf("%q: %q, not %q", in, got, want)
		}
	}
}

func TestEscaper(t *testing.T) {
	var b strings.Builder
	const in = "{\"a\":\"\u009b2J\u202e\u007f ü\"}\n"
	if n, err := (escaper{&b}).Write([]byte(in)); n != len(in) || err != nil || b.String() != `{"a":"\u009b2J\u202e\u007f ü"}`+"\n" {
		t.Errorf("%d %v %q", n, err, b.String())
	}
}

func TestPage(t *testing.T) {
	var p page
	p.field("name", "a value \x1b[31mthat is long enough to be broken between its words, as a terminal has eighty columns\nand more")
	p.text(2, "  kept blanks")
	want := "name          a value ␛[31mthat is long enough to be broken between its words,\n" +
		"              as a terminal has eighty columns\n              and more\n    kept blanks\n"
	if p.String() != want {
		t.Errorf("got\n%s\nwant\n%s", p.String(), want)
	}
}
