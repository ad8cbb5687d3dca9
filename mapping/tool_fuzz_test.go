package mapping_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A toolScript plays events of tool calls to a Fold, and compares what it shows with the same
// calls without what is known of their texts.
type toolScript struct {
	t    *testing.T
	fold *mapping.Fold
	acp  spell.ACP
	// shown are the calls that steps have shown, with what they said then: what
	// grows must not change them.
	shown []*mapping.ToolCall
	said  []string
	last  map[string]*mapping.ToolCall // by the agent's ID
	n     int                          // of messages
	// views are the bytes of the event in hand, to be overwritten after it.
	views [][]byte
}

func newToolScript(t *testing.T) *toolScript {
	return &toolScript{t: t, fold: speaking(), last: map[string]*mapping.ToolCall{}, acp: spell.ACP{Session: "s", Cwd: "/home/dev"}}
}

// view makes a string that lives as long as the event, as a stream's do.
func (s *toolScript) view(text string) string {
	b := []byte(text)
	s.views = append(s.views, b)
	return rawjson.View(b)
}

// message makes a message of data parts. They are taken from the list one by one,
// which has a byte for each.
func (s *toolScript) message(values []string) a2a.Message {
	var parts []a2a.Part
	for _, v := range values {
		data := a2a.JSON(s.view(v))
		parts = append(parts, a2a.Part{Kind: a2a.PartData, Data: data, Raw: data})
	}
	list := partsBy(strings.Repeat(".", len(parts)), func(left string, p *a2a.Part) (string, bool) {
		*p = parts[len(parts)-len(left)]
		return left[1:], true
	})
	s.n++
	return a2a.Message{ID: fmt.Sprint("m", s.n), Role: a2a.RoleAgent, Parts: list}
}

func (s *toolScript) data(values ...string) {
	s.play(&a2a.Event{Kind: a2a.EventMessage, Message: s.message(values), HasMessage: true})
}

// idOf is the ID of the call in a data part.
func idOf(value string) string {
	for _, name := range []string{"tool_call_id", "toolCallId", "request.callId"} {
		if id := gjson.Get(value, name); id.Exists() {
			return id.String()
		}
	}
	return "c"
}

// plain is a copy of a call of which nothing is known but what it says.
func plain(c *mapping.ToolCall) *mapping.ToolCall {
	d := new(mapping.ToolCall)
	from, to := reflect.ValueOf(*c), reflect.ValueOf(d).Elem()
	for i := range from.NumField() {
		if from.Type().Field(i).IsExported() {
			to.Field(i).Set(from.Field(i))
		}
	}
	return d
}

func (s *toolScript) snapshot(values ...string) {
	s.play(&a2a.Event{Kind: a2a.EventTask, History: seq([]a2a.Message{s.message(values)})})
}

func (s *toolScript) live(id, text string, encode func(string) string) {
	part := a2a.Part{Kind: a2a.PartText, Text: s.view(text), TextJSON: a2a.JSON(s.view(encode(text)))}
	ev := &a2a.Event{Kind: a2a.EventArtifact, Append: true, Artifact: a2a.Artifact{ID: "tool-" + id + "-output", Parts: onePart(&part)}}
	if call := s.last[id]; call != nil {
		s.play(ev)
		if got, want := s.last[id].OutputSoFar, trimmed(text); !call.Status.Ended() && want != "" && got != want {
			s.t.Fatalf("the output is %q, want %q", got, want)
		}
	}
}

// play folds an event, and compares what it shows.
func (s *toolScript) play(ev *a2a.Event) {
	t := s.t
	var got []mapping.Step
	for _, step := range s.fold.Event(shown.Live, ev, nil) {
		if step.Kind == mapping.StepTool {
			got = append(got, step)
		}
	}
	for i := range got {
		g := &got[i]
		w := *g
		w.Tool = plain(g.Tool)
		if old := s.last[g.Tool.ID]; g.New != (old == nil || old.Shown != g.Tool.Shown) {
			t.Fatalf("call %s is new: %v", g.Tool.Shown, g.New)
		}
		if line, want := s.acp.Append(nil, got[i:i+1]), s.acp.Append(nil, []mapping.Step{w}); !bytes.Equal(line, want) {
			t.Fatalf("ACP:\n%s\nwant\n%s", line, want)
		}
		s.again(g.Tool, w.Tool)
		s.last[strings.Clone(g.Tool.ID)] = g.Tool
		s.shown, s.said = append(s.shown, g.Tool), append(s.said, strings.Clone(g.Tool.OutputSoFar))
	}
	for _, b := range s.views {
		for i := range b {
			b[i] = '#'
		}
	}
	s.views = nil
	for i, c := range s.shown {
		if c.OutputSoFar != s.said[i] || c.OutputJSON() != "" && c.OutputJSON() != string(rawjson.AppendEscaped(nil, c.OutputSoFar)) {
			t.Fatalf("what was shown has changed: %q, was %q, escaped %q", c.OutputSoFar, s.said[i], c.OutputJSON())
		}
	}
}

// again: in A2A lines a call is written as the development-tool extension has it, so that it
// can be read: then it says the same, but for members that we have added.
func (s *toolScript) again(call, plain *mapping.ToolCall) {
	line, want := callLine(call), callLine(plain)
	if !bytes.Equal(line, want) || !json.Valid(line) {
		s.t.Fatalf("A2A lines:\n%s\nwant\n%s", line, want)
	}
	if plain.Extra = ""; plain.Status.Ended() {
		plain.OutputSoFar = ""
	}
	if plain.Asks {
		return // with an option that rejects
	}
	line = callLine(plain)
	ev := dataEvent(string(line))
	ev.Kind = a2a.EventMessage
	steps := speaking().Event(shown.Live, ev, nil)
	if len(steps) != 1 || steps[0].Kind != mapping.StepTool {
		s.t.Fatalf("nothing is read from\n%s\n%+v", line, steps)
	}
	if back := callLine(steps[0].Tool); !bytes.Equal(back, line) {
		s.t.Fatalf("read from A2A lines:\n%s\nwant\n%s", back, line)
	}
}

// callLine is how A2A lines have a call.
func callLine(c *mapping.ToolCall) []byte {
	line := (&spell.Lines{}).Append(nil, []mapping.Step{{Kind: mapping.StepTool, Tool: c}})
	return []byte(gjson.GetBytes(line, "params.toolCall").Raw)
}

// padding is what calls.TrimScreen takes off, end what is at the end of a screen.
var padding, end = regexp.MustCompile(` +(\n|\z)`), regexp.MustCompile(`\n*\z`)

// trimmed is calls.TrimScreen by regular expressions.
func trimmed(s string) string {
	if !strings.Contains(s, "  \n") && !strings.HasSuffix(s, "  ") {
		return s
	}
	return end.ReplaceAllString(padding.ReplaceAllString(s, "$1"), "") + "\n"
}

// encodings are ways in which agents write a string.
func encodings() []func(string) string {
	return []func(string) string{
		func(s string) string { return string(rawjson.AppendString(nil, s)) },
		func(s string) string { b, _ := json.Marshal(s); return string(b) }, // with HTML's escapes
		func(s string) string {
			var b strings.Builder
			for _, r := range s {
				if r < 0x80 && r >= ' ' && r != '"' && r != '\\' {
					b.WriteRune(r)
				} else if r < 0x10000 {
					fmt.Fprintf(&b, `\u%04x`, r)
				} else {
					fmt.Fprintf(&b, `\u%04X\u%04x`, 0xD800+(r-0x10000)>>10, 0xDC00+(r-0x10000)&0x3FF)
				}
			}
			return `"` + b.String() + `"`
		},
	}
}

// FuzzToolCalls is the law of reading tool calls: what is compared instead of
// read, shared instead of copied, and appended instead of made anew gives the same
// steps and the same lines.
//
// Two calls and a text are given; the script's bytes say what happens: the low
// three bits which event, the others how much of the text it has.
func FuzzToolCalls(f *testing.F) {
	const call = `{"request":{"callId":"c","name":"run_shell_command","args":{"command":"make"}},"status":"executing","tool":{"kind":"execute"}}`
	const rfc = `{"tool_call_id":"c","status":"EXECUTING","tool_name":"sh","x_y":[1],"live_content":"ab"}`
	const text = "make: `x`\n``` \" \\ \u2028\b 世界🌍 ends\n\n  \nand more"
	all := []byte{0, 0, 1, 1, 0, 2, 11, 19, 27, 27, 91, 131, 3, 200, 252, 4, 100, 204, 5, 93, 125, 253, 6, 7, 0, 1}
	f.Add(call, rfc, text, all, byte(0))
	f.Add(call, strings.Replace(rfc, "EXECUTING", "SUCCEEDED", 1), text, all, byte(1))
	f.Add(call, `{"toolCallId":"d","status":2,"output":{"diff":{"filePath":"a","newContent":"b","oldContent":"c"}},"error":{"message":"no","type":"t","statusCode":3}}`, text, all, byte(2))
	f.Add(`{"tool_call_id":"e","status":1,"confirmation_request":{"options":[{"id":"yes","name":"Yes"}],"mcp_details":{"server_name":"s"}}}`, call, "", all, byte(0))
	// Step by step through rows of backticks, and through a screen's padding.
	grows := []byte{0}
	for n := range byte(32) {
		grows = append(grows, n<<3|3)
	}
	for how := range byte(3) {
		f.Add(call, rfc, "a``b``` ``````` c`` \n``x````", grows, how)
		f.Add(call, rfc, "ab  \ncd ef  \n  gh\n\n  i     j", grows, how)
	}
	// What is longer, and begins in another way; then the RFC's text, which is no
	// screen, and a screen that goes on from there.
	f.Add(call, rfc, "abcdefghijklmnopqrstuvwxyz", []byte{0, 2<<3 | 3, 5<<3 | 4, 1<<3 | 3, 3<<3 | 4}, byte(0))
	f.Add(call, rfc, "ab  \ncd ef gh\n\n", []byte{0, 2<<3 | 3, 3<<3 | 4, 12<<3 | 5, 31<<3 | 3, 31<<3 | 5}, byte(0))
	// Two calls that only differ in a long schema, and by the answer alone.
	schema := `,"description":"` + strings.Repeat("x", 300) + `"}}`
	one, other := call[:len(call)-2]+schema, strings.Replace(call[:len(call)-2], `"kind":"execute"`, `"kind":"edit"`, 1)+schema
	f.Add(one, other, text, []byte{0, 0, 1, 1, 0, 1, 2}, byte(0))
	asks := strings.Replace(call, "executing", "awaiting_approval", 1)
	f.Add(asks, strings.Replace(asks, `"tool"`, `"outcome":"proceed_once","tool"`, 1), text, []byte{0, 1, 0, 1, 1}, byte(0))
	for _, p := range recordedCalls(f) {
		f.Add(p, call, text, []byte{0, 0, 2, 131, 0, 1, 7}, byte(0))
	}
	f.Fuzz(func(t *testing.T, a, b, text string, script []byte, how byte) {
		for _, s := range []string{a, b} {
			// Transport lets nothing else through.
			if !gjson.Valid(s) || !utf8.ValidString(s) || len(s) > 20000 || strings.Count(s, ":") > 1000 || strings.Contains(strings.ToLower(s), `\ud`) {
				return
			}
		}
		if !utf8.ValidString(text) || len(script) > 60 || len(text) > 5000 {
			return
		}
		encode := encodings()[int(how)%len(encodings())]
		s := newToolScript(t)
		id := idOf(a)
		for _, op := range script {
			n := len(text) * int(op>>3) / 31
			for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
				n--
			}
			switch op & 7 {
			case 0:
				s.data(a)
			case 1:
				s.data(b)
			case 2:
				s.data(a, b, a)
			case 3:
				s.live(id, text[:n], encode)
			case 4:
				s.live(id, text[n:], encode)
			case 5:
				s.data(`{"tool_call_id":` + string(rawjson.AppendString(nil, id)) + `,"status":"EXECUTING","live_content":` + encode(text[:n]) + `}`)
			case 6:
				s.data(strings.Replace(a, `"executing"`, `"success"`, 1))
			case 7:
				s.snapshot(a, b, a)
			}
		}
	})
}

// recordedCalls are the data parts that real agents sent, shortened where they
// are the same again.
func recordedCalls(tb testing.TB) (list []string) {
	files, err := filepath.Glob("../testdata/recordings/*/*/*.jsonl")
	if err != nil || len(files) == 0 {
		tb.Fatalf("%d recordings, %v", len(files), err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		b := must.Get(os.ReadFile(file))(tb)
		for line := range bytes.Lines(b) {
			for _, p := range gjson.GetBytes(line, "data.result.status.message.parts").Array() {
				data := p.Get("data").Raw
				if p.Get("data.request").Exists() && !seen[data] {
					seen[data] = true
					list = append(list, data)
				}
			}
		}
	}
	return list
}

// TestRecordedCalls plays what real agents sent.
func TestRecordedCalls(t *testing.T) {
	s := newToolScript(t)
	list := recordedCalls(t)
	for i, data := range list {
		s.data(data)
		s.data(data, list[i/2])
	}
	s.snapshot(list...)
	s.data(`{"request":{"callId":"live","name":"sh"},"status":"executing","liveOutput":"so far"}`) // no recording has that
	if got := s.last["live"]; got == nil || got.OutputSoFar != "so far" {
		t.Errorf("%+v", got)
	}
	if len(s.shown) < 50 {
		t.Errorf("only %d calls were shown", len(s.shown))
	}
}
