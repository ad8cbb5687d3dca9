package ask

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// TestOptionMeaning: what testdata/options.txt says of options, by their IDs and names.
func TestOptionMeaning(t *testing.T) {
	want := ""
	for line := range strings.Lines(string(must.Get(os.ReadFile("testdata/options.txt"))(t))) {
		option, ok := strings.CutPrefix(strings.TrimSpace(line), "#")
		if ok || option == "" {
			continue
		}
		if !strings.HasPrefix(line, "\t") {
			want = option
			continue
		}
		id, name, _ := strings.Cut(option, ":")
		kind, _, certain := optionMeaning(id, strings.TrimSpace(name))
		if !certain && kind == "allow_once" {
			kind = "uncertain"
		}
		must.Equal(t, kind, want, option)
	}
}

// TestOptionsOrder: all that is offered stays, the narrowest first, rejections last; a
// rejection is added where none is certain.
func TestOptionsOrder(t *testing.T) {
	for _, row := range must.Table[[2]string](t, "testdata/order.txt") {
		in, want := row[0], row[1]
		c := &calls.ToolCall{Confirmation: &calls.Confirmation{}}
		for _, id := range strings.Fields(in) {
			c.Confirmation.Options = append(c.Confirmation.Options, calls.ConfirmationOption{ID: id})
		}
		var got []string
		q := NewQuestion(c, nil, false)
		for _, o := range q.Options {
			got = append(got, o.ID)
		}
		must.Equal(t, strings.Join(got, " "), want, in)
		if r := q.Reject(); !r.rejects() {
			t.Errorf("%s: the rejection is %+v", in, r)
		}
	}
}

// TestManyTimes: what an agent says in one question again and again is read in a time that grows as its
// length. (It was the square: half a minute for each of these.)
func TestManyTimes(t *testing.T) {
	const n = 60_000
	began := time.Now()
	c := &calls.ToolCall{Confirmation: &calls.Confirmation{Execute: &calls.ExecuteDetails{Command: "ls"}}}
	for i := range n {
		id := strconv.Itoa(i)
		c.Confirmation.Options = append(c.Confirmation.Options, calls.ConfirmationOption{ID: id}, calls.ConfirmationOption{ID: "same", Name: id, Description: id})
	}
	if q := NewQuestion(c, nil, false); len(q.Options) != n+2 {
		t.Errorf("%d options", len(q.Options))
	}
	for _, key := range []string{"cwd", "env", "x"} {
		c := &calls.ToolCall{Input: a2a.JSON(`{"a":1` + strings.Repeat(`,"`+key+`":"y"`, 2*n) + `}`), Confirmation: c.Confirmation}
		if lines := Lines(c, nil); len(lines) < 3 {
			t.Errorf("%+v", lines)
		}
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

// FuzzOptions: a program never picks an option in which a word says the contrary, or which
// reaches further than asked. The user can pick every option.
func FuzzOptions(f *testing.F) {
	f.Add("proceed_once", "Allow", "cancel", "Reject")
	f.Add("approved", "", "denied", "")
	f.Add("no", "No sandbox", "yes", "Sandbox")
	f.Add("allow_all", "Reject", "reject", "Allow")
	f.Fuzz(func(t *testing.T, id1, name1, id2, name2 string) {
		c := &calls.ToolCall{Confirmation: &calls.Confirmation{Options: []calls.ConfirmationOption{{ID: id1, Name: name1}, {ID: id2, Name: name2}}}}
		q := NewQuestion(c, nil, false)
		for _, o := range c.Confirmation.Options {
			if _, ok := q.Pick(o.ID); ok != (o.ID != "") {
				t.Fatalf("%q can be picked: %t", o.ID, ok)
			}
		}
		says := func(o Option, words []string) bool {
			return saysOneOf(optionWords(o.ID), words) || saysOneOf(optionWords(o.Name), words)
		}
		if o, ok := q.AllowOnce(); ok && (says(o, rejectWords) || saysOneOf(optionWords(o.ID+" "+o.Name), []string{"always", "all", "everything", "session"})) {
			t.Fatalf("%+v would be picked to allow a call once", o)
		}
		if o := q.Reject(); !o.CancelsTask && says(o, allowWords) && !says(o, negations) && !says(o, []string{"disallow"}) {
			t.Fatalf("%+v would be picked to reject", o)
		}
	})
}

func saysOneOf(words, of []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(of, w) })
}

// TestOptionDescriptions: a description that reaches further than the option's name counts.
func TestOptionDescriptions(t *testing.T) {
	for description, certain := range map[string]bool{"": true, "Run this call only.": true, "Allow, and do not ask again": false,
		"You won't be asked again": false, "Allows all commands": false, "Until the session ends": false, "For this and future calls": false} {
		if o := NewOption(calls.ConfirmationOption{ID: "allow", Name: "Allow once", Description: description}); o.Certain != certain {
			t.Errorf("%q: %+v", description, o)
		}
	}
	if o := NewOption(calls.ConfirmationOption{ID: "always", Name: "Always", Description: "Until the session ends"}); !o.Certain {
		t.Errorf("%+v", o)
	}
}

// TestVisible: characters that do not show are made visible.
func TestVisible(t *testing.T) {
	for _, row := range must.Table[[2]string](t, "testdata/visible.txt") {
		in, want := row[0], row[1]
		must.Equal(t, Visible(in), want, in)
	}
}

// TestBlanks: what is to be done shows which blanks are none to what runs it; prose has them as they are.
func TestBlanks(t *testing.T) {
	for want, c := range map[string]*calls.ToolCall{
		`ls\u{A0}-la \u{3000}|{` + "\n  " + `"args": "x\u{2003}y z"` + "\n}|so\u202f: a\u3000b|": {Description: "so\u202f: a\u3000b", Input: "{\"args\":\"x\u2003y z\"}",
			Confirmation: &calls.Confirmation{Execute: &calls.ExecuteDetails{Command: "ls\u00a0-la \u3000"}}},
		`a\u{A0}b|` + "Envoyer\u00a0?|{\n  \"to\": \"山田\u3000太郎\"\n}|": {Name: "a\u00a0b", Input: "{\"to\":\"山田\u3000太郎\"}",
			Confirmation: &calls.Confirmation{Generic: &calls.GenericDetails{Description: "Envoyer\u00a0?"}}},
	} {
		text := ""
		for _, l := range Lines(c, nil) {
			text += l.Text + "|"
		}
		must.Equal(t, text, want)
	}
}

// TestIsInInput: a command that its tool's input does not name is not in it, whatever is said beside.
func TestIsInInput(t *testing.T) {
	for _, more := range []a2a.JSON{"", `{"at":1}`} {
		for input, want := range map[a2a.JSON]bool{`{"command":"ls"}`: true, `{"cmd":"rm"}`: false, `{}`: false} {
			c := &calls.ToolCall{Input: input, Extra: more, Confirmation: &calls.Confirmation{Execute: &calls.ExecuteDetails{Command: "ls"}, Unread: more}}
			must.Equal(t, IsInInput(c), want, input, "beside", more)
		}
	}
}

// TestWarnings: an option's name that mixes scripts, and an input that holds another text
// than the change, are warned of.
func TestWarnings(t *testing.T) {
	for _, row := range []struct{ option, input, want string }{
		{"Allow", `{"content":"new\n"}`, ""}, {"Allow", `{"content":"new"}`, ""}, {"Allow", `{"other":"x"}`, ""}, {"Да (yes)", "", ""},
		{"All\u043ew", "", "a word mixes Latin and Cyrillic letters"},
		{"Allow", `{"content":"rm -rf"}`, "the tool's input holds another text than the change"},
	} {
		c := &calls.ToolCall{Name: "write", Input: a2a.JSON(row.input), Confirmation: &calls.Confirmation{
			Edit: &calls.FileDiff{FilePath: "/w/f", NewContent: "new\n"}, Options: []calls.ConfirmationOption{{ID: "allow", Name: row.option}}}}
		got := ""
		for _, w := range warnings(c) {
			got += strings.TrimPrefix(w.Label, "warning: ")
		}
		must.Equal(t, got, row.want, row)
		if _, ok := EditOnly(c); ok && row.want != "" {
			t.Errorf("%+v: it is allowed as an edit", row)
		}
	}
}

// sequences are those that terminals act on (ECMA-48, and xterm's strings).
var sequences = regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]?|[\\]PX^_](?s:.*?)(?:\x07|\x1b\\\\|\\z)|[ -/]*[0-~]?)")

// FuzzWithoutEscapes: no escape character is left, text without one stays as it is, and the
// result is that of the reference, which follows the standard's text.
func FuzzWithoutEscapes(f *testing.F) {
	for _, s := range []string{
		"plain", "\x1b[31mred\x1b[0m", "\x1b[1;38;5;200mx", "\x1b]0;title\x07y", "\x1b]8;;http://e\x1b\\link\x1b]8;;\x1b\\",
		"\x1b(Bx", "\x1bMx", "\x1b[?25hx", "\x1b", "\x1b[", "\x1b[3", "\x1b]8;;never", "\x1b[\x1b[0m", "\x1bé",
		"Stra\u00c3\u009fe, \u00e2\u0080\u009dthe end", "\u009b31m",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := WithoutEscapes(text)
		if strings.ContainsRune(got, escape) {
			t.Errorf("%q keeps an escape: %q", text, got)
		}
		if !strings.ContainsRune(text, escape) && got != text {
			t.Errorf("%q becomes %q", text, got)
		}
		must.Equal(t, got, sequences.ReplaceAllString(text, ""), text)
	})
}
