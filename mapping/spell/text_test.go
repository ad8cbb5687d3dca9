package spell

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// FuzzAppendText: copying the agent's own encoding shows the same text as
// encoding it anew.
func FuzzAppendText(f *testing.F) {
	for _, s := range []string{`"a"`, `"\u00e9\n"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\/"`, "\"\xff\""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var text string
		if json.Unmarshal([]byte(s), &text) != nil || !strings.HasPrefix(s, `"`) || !strings.HasSuffix(s, `"`) {
			return
		}
		copied := appendText(nil, &mapping.Step{Text: text, TextJSON: a2a.JSON(s)})
		var back string
		if err := json.Unmarshal(copied, &back); err != nil || back != text || !utf8.Valid(copied) {
			t.Fatalf("%q became %q (%v)", s, copied, err)
		}
	})
}

// TestOldJournalCalls: a call is loaded from a journal with the names of before.
func TestOldJournalCalls(t *testing.T) {
	line := `{"ID":"c","Shown":"s","Name":"write","DisplayName":"Write","Input":"{\"Name\":1}","Status":1,"Dialect":2,"Asks":true,` +
		`"Output":{"Diff":{"FileName":"f","FilePath":"/f","OldContent":"a","NewContent":"b","Formatted":"d"},"Data":"1"},"Error":{"StatusCode":3},` +
		`"Confirmation":{"Options":[{"ID":"o","Name":"Yes"}],"Execute":{"Command":"ls","WorkingDirectory":"/"},"MCP":{"ServerName":"m","ToolName":"t"}}}`
	old := "a"
	diff := &mapping.FileDiff{FileName: "f", FilePath: "/f", OldContent: &old, NewContent: "b", Formatted: "d"}
	want := &mapping.ToolCall{ID: "c", Shown: "s", Name: "write", DisplayName: "Write", Input: `{"Name":1}`, Status: mapping.ToolPending, Dialect: 2, Asks: true,
		Output: &mapping.ToolOutput{Diff: diff, Data: "1"}, Error: &mapping.ErrorDetails{StatusCode: 3}, Confirmation: &mapping.Confirmation{
			Options: []mapping.ConfirmationOption{{ID: "o", Name: "Yes"}}, Execute: &mapping.ExecuteDetails{Command: "ls", WorkingDirectory: "/"},
			MCP: &mapping.MCPDetails{ServerName: "m", ToolName: "t"}}}
	if c := readCall(line); !reflect.DeepEqual(c, want) {
		t.Errorf("it was loaded as %+v", c)
	}
	if steps, _ := new(Loader).Line([]byte(`{"as":"d","tool":"{\"tool_call_id\":\"d\",\"status\":9}"}`)); steps != nil {
		t.Errorf("a status that is none was loaded as %+v", steps)
	}
}

// FuzzJournalCall: a call is loaded as it was, whichever of its fields are set (with seed 0 all are), and as it has become,
// also where it has changed inside a character.
func FuzzJournalCall(f *testing.F) {
	texts := []string{"a", `{"a":"é\n"}`, `{"a":"è\n"}`, "éé", "èé", "ꀩ", "", "<&>\r\n\t\x00\x7f", "\u2028\u2029世🌍", `"\`, "\b", "\f"}
	for i := range 700 {
		first, second := texts[i%len(texts)], texts[i/len(texts)%len(texts)]
		f.Add(uint64(0), first, second)
		f.Add(uint64(i), first, second)
	}
	f.Fuzz(func(t *testing.T, seed uint64, first, second string) {
		var j Journal
		var l Loader
		skip := rand.New(rand.NewPCG(seed, 0))
		for _, text := range []string{first, second} {
			c := &mapping.ToolCall{}
			fill(t, reflect.ValueOf(c).Elem(), func() bool { return seed > 0 && skip.IntN(3) == 0 }, strings.ToValidUTF8(text, ""))
			c.ID, c.Shown = "c", "s"
			line := j.Append(nil, []mapping.Step{{Kind: mapping.StepTool, Tool: c}})
			if steps, _ := l.Line(line); len(steps) != 1 || !reflect.DeepEqual(steps[0].Tool, c) {
				t.Errorf("%+v was written as %s", c, line)
			}
		}
	})
}

// fill fills the fields of a value that are not skipped.
func fill(t *testing.T, v reflect.Value, skip func() bool, text string) {
	switch {
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				fill(t, f, skip, text)
			}
		}
	case skip():
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), skip, text)
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(t, v.Index(i), skip, text)
		}
	case v.Kind() == reflect.String:
		v.SetString(text)
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(-1)
	case v.CanUint():
		v.SetUint(uint64(mapping.ToolExecuting))
	default:
		t.Fatalf("no journal has a %s", v.Type())
	}
}

// TestPromptNames: a file that is sent has its own name, not that of its URI.
func TestPromptNames(t *testing.T) {
	for uri, want := range map[string]string{"file:///tmp/a%20b.png": "a b.png", "zed:///a%20b.png": "a%20b.png", "": ""} {
		parts, err := Prompt([]acp.ContentBlock{{Type: "image", Data: "aGk=", MimeType: "image/png", URI: uri}}, nil)
		must.Do(t, err)
		must.Equal(t, parts[0].File.Name, want, uri, parts)
	}
}

// TestMCPHeld: all that waits to be taken counts, and has a bound, also if nobody takes it.
func TestMCPHeld(t *testing.T) {
	m := &MCP{}
	uri := "https://agent.example/" + strings.Repeat("x", 1_000)
	for range 10_000 {
		m.Append([]mapping.Step{{Kind: mapping.StepPart, Part: &a2a.Part{Kind: a2a.PartFile, File: a2a.File{URI: uri}}}})
	}
	if size := m.Size(); size < 100_000 || size > mcpMost {
		t.Errorf("%d bytes wait", size)
	}
	if text, content := m.Take(1 << 20); m.Size() != 0 || len(content) == 0 || !strings.HasPrefix(text, "[Much has come") {
		t.Errorf("%d bytes wait when all was taken; %d of content, and %.100s", m.Size(), len(content), text)
	}
}

// TestMCPKeeps: what waits is no view of the event that has told it.
func TestMCPKeeps(t *testing.T) {
	raw := []byte("report.bin application/x")
	name, media, _ := strings.Cut(rawjson.View(raw), " ")
	m := &MCP{}
	m.Append([]mapping.Step{{Kind: mapping.StepPart, Part: &a2a.Part{Kind: a2a.PartFile, File: a2a.File{Name: name, MediaType: media, Bytes: "/w=="}}}})
	clear(raw)
	_, content := m.Take(1 << 20)
	if link, _ := json.Marshal(content); string(link) != `[{"type":"resource_link","name":"report.bin","uri":"a2a:///report.bin","mimeType":"application/x"}]` {
		t.Errorf("%s", link)
	}
}

// TestJournalParts: each file of an artifact is loaded with the artifact's name, by which it is shown.
func TestJournalParts(t *testing.T) {
	var j Journal
	var l Loader
	file := mapping.Step{Kind: mapping.StepPart, MessageID: "a", ArtifactID: "a", Shown: "a", Name: "report", Part: &a2a.Part{Kind: a2a.PartFile}}
	for line := range bytes.Lines(j.Append(nil, []mapping.Step{file, file})) {
		steps, _ := l.Line(line)
		must.Equal(t, steps[0].Name, "report", string(line))
	}
}

// TestJournalThoughts: a thought is loaded with the words that it was shown with, whatever its data is, and
// also as journals had it that have them beside the data.
func TestJournalThoughts(t *testing.T) {
	for data, want := range map[string]string{
		`{"subject":"a","description":"b"}`:                                    "a|b",
		"{ \"description\" : \"b\\n\\u00e9\",\n\"sub\\u006aect\" : \"a\" }":    "a|b\né",
		`{"subject":"a","subject":"b","description":1,"description":"c"}`:      "b|c",
		`{"subject":"a","subject":null,"x":{"description":"b","subject":"c"}}`: "a|",
		"": "|b",
	} {
		subject, description, _ := strings.Cut(want, "|")
		var j Journal
		var l Loader
		lines := j.Append(nil, []mapping.Step{{Kind: mapping.StepThought, MessageID: "m", Shown: "m", Subject: subject, Description: description, Data: a2a.JSON(data)}})
		if data != "" {
			lines = fmt.Appendf(lines, `{"say":"thought","subject":%q,"text":%q,"data":%s}`+"\n", subject, description, strings.ReplaceAll(data, "\n", ""))
		}
		for line := range bytes.Lines(lines) {
			steps, _ := l.Line(line)
			must.Equal(t, steps[0].Subject+"|"+steps[0].Description, want, string(line))
		}
	}
}
