package shown

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

var update = flag.Bool("update", false, "rewrite testdata")

// TestRules shows what the rules make of conversations, in testdata: what comes, and behind "=" what people read, a
// message as the editor names it, without repetitions. What comes is, a line each:
//
//	m1 "text"            an item, live: "m1" a message, "a1" an artifact, "n1" one with a name, "c1" of one name with others,
//	                     "t1" a thought; with + behind it, it appends. Its parts are divided by "|"
//	m1 completed "text"  it comes with a state; "- working" is a state alone
//	turn, call           a turn begins, a tool call is shown
//	sent                 our message goes out; in a task "ours" is that
//	answered             our answer to a question does, which no task has
//	cut, killed          the stream is cut; another process has loaded what was shown; "killed, packed": from few lines
//	state                the task of the lines below, live; "task STATE" asked for
//	in place             the editor can show an item in place of itself
func TestRules(t *testing.T) {
	for _, file := range must.Get(filepath.Glob("testdata/*.txt"))(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			cases := strings.Split(string(must.Get(os.ReadFile(file))(t)), "\n\n")
			for i, text := range cases {
				text, _, _ = strings.Cut(strings.TrimSuffix(text, "\n"), "\n= ")
				name, said, _ := strings.Cut(text, "\n")
				t.Run(name, func(t *testing.T) { cases[i] = text + playRules(t, said) })
			}
			must.Golden(t, *update, file, strings.Join(cases, "\n\n")+"\n")
		})
	}
}

// TestKilled: behind a cut another process shows what the one that was killed would have shown, where all that it
// knew is in its journal: states are not, nor what a task repeats that came live.
func TestKilled(t *testing.T) {
	for _, file := range must.Get(filepath.Glob("testdata/*.txt"))(t) {
		for _, text := range strings.Split(string(must.Get(os.ReadFile(file))(t)), "\n\n") {
			text, _, _ = strings.Cut(text, "\n= ")
			name, said, _ := strings.Cut(text, "\n")
			if !strings.Contains(said, "\nstate\n") && !strings.Contains(said, "\n- ") {
				for _, how := range []string{"killed", "killed, packed"} {
					killed := strings.ReplaceAll(said, "\ncut\n", "\n"+how+"\ncut\n")
					must.Equal(t, playRules(t, killed), playRules(t, said), name, how)
				}
			}
		}
	}
}

// A ruled is a conversation that is played.
type ruled struct {
	*Shown
	view    view
	journal []Step
}

func (r *ruled) show(x *Step) {
	if x.Op == Replace && r.InPlace {
		r.view = slices.DeleteFunc(r.view, func(l line) bool { return l.name == x.ID })
	}
	r.view.show(x)
	kept := *x
	if kept.Text, kept.Part = strings.Clone(x.Text), nil; x.Part != nil && x.Part.Kind != a2a.PartText {
		part := *x.Part
		kept.Part = &part
	}
	r.journal = append(r.journal, kept)
}

// begin begins, with what another process has shown.
func (r *ruled) begin(journal []Step) {
	was := r.Shown
	if r.Shown = New(r.show); was != nil {
		r.Traits = was.Traits // of the editor
	}
	r.Task("task")
	r.Begin()
	for i := range journal {
		switch x := &journal[i]; x.Kind {
		case User:
			r.Begin()
		case Foreign:
			r.Break()
		default:
			r.Restore(x)
		}
	}
}

// packed has one step for the neighbouring texts of a message behind its first, as a line of the journal may.
func packed(journal []Step) (list []Step) {
	for _, x := range journal {
		if n := len(list) - 1; n > 0 && list[n-1].ID == x.ID && list[n-1].Name == x.Name && x.Op == Grow && x.Part == nil && x.Kind == Message && list[n].Kind == x.Kind && list[n].Part == nil &&
			list[n].ID == x.ID && list[n].Name == x.Name && list[n].Repeats == x.Repeats {
			list[n].Text += x.Text
		} else {
			list = append(list, x)
		}
	}
	return list
}

// playRules plays a conversation, and returns what was shown.
func playRules(t *testing.T, said string) string {
	r := &ruled{}
	r.begin(nil)
	lines := strings.Split(said, "\n")
	for i, l := range lines {
		word, rest, _ := strings.Cut(l, " ")
		switch {
		case strings.HasPrefix(l, "\t"):
		case l == "turn":
			r.Begin()
			r.journal = append(r.journal, Step{Kind: User})
		case l == "call":
			r.Break()
			r.journal = append(r.journal, Step{Kind: Foreign})
		case l == "sent":
			r.Sent(ourID, "")
		case l == "answered":
			r.Sent("answer", "") // it has data, and no text
		case l == "cut":
			r.Cut()
		case l == "killed":
			r.begin(slices.Clone(r.journal))
		case l == "killed, packed":
			r.begin(packed(r.journal))
		case l == "in place":
			r.InPlace = true
		case l == "state":
			r.State(heldOf(t, lines[i+1:]))
		case word == "task":
			from := len(r.view)
			if r.Snapshot(a2a.State(rest), heldOf(t, lines[i+1:])) {
				r.view = slices.Insert(r.view, from, line{"gap", ""})
			}
		default:
			x := wordOf(t, l)
			r.SetState(a2a.State(x.state), false, false)
			if x.id != "-" {
				r.Live(x.item())
			}
		}
	}
	r.End(false)
	return r.view.text()
}

// A word is an item.
type word struct{ id, state, parts string }

func wordOf(t *testing.T, l string) (x word) {
	x.id, l, _ = strings.Cut(l, " ")
	x.state, l, _ = strings.Cut(l, `"`)
	x.state = strings.TrimSpace(x.state)
	if x.id != "-" {
		x.parts = must.Get(strconv.Unquote(`"` + l))(t)
	}
	return x
}

// ourID is the ID of what the user has said.
const ourID = "ours"

// heldOf are the items of the lines that a task holds.
func heldOf(t *testing.T, lines []string) (held []Item) {
	for _, l := range lines {
		l, ok := strings.CutPrefix(l, "\t")
		if !ok {
			break
		}
		x := wordOf(t, l)
		in := *x.item()
		if x.id == ourID {
			in.Kind = User
		}
		held = append(held, in)
	}
	return held
}

func (x word) item() *Item {
	id, appends := strings.CutSuffix(x.id, "+")
	in := &Item{Kind: Message, ID: id, Append: appends, Parts: textParts(strings.Split(x.parts, "|")...)}
	if a2a.State(x.state).Terminal() || a2a.State(x.state).Waits() {
		in.Role = End
	}
	switch id[0] {
	case 'a', 'c', 'n':
		in.Kind, in.Last, in.Role = Artifact, in.Role == End, Said
		in.Name = map[byte]string{'c': "current_result", 'n': id}[id[0]]
	case 't':
		in.Kind = Thought
	}
	return in
}

// A view is what people read.
type view []line

type line struct{ name, text string }

func (v *view) show(s *Step) {
	text := strings.Clone(s.Text)
	if s.Part != nil && s.Part.Kind != a2a.PartText {
		text = "<" + string(s.Part.Data) + ">"
	}
	switch {
	case s.Op == Gap:
		*v = append(*v, line{"gap", ""})
	case s.Repeats:
	default:
		*v = append(*v, line{s.Name, text})
	}
}

// text has a line for each message as it comes.
func (v view) text() string {
	var b strings.Builder
	for i, l := range v {
		if i > 0 && v[i-1].name == l.name {
			continue
		}
		if b.WriteString("\n= " + l.name); l.name == "gap" {
			continue
		}
		text := ""
		for j := i; j < len(v) && v[j].name == l.name; j++ {
			text += v[j].text
		}
		fmt.Fprintf(&b, " %q", text)
	}
	return b.String()
}

// TestNames: a name is given out once, and IDs that are used once stay what they are.
func TestNames(t *testing.T) {
	s := New(nil)
	for _, row := range [][2]string{{"a", "a"}, {"a~1", "a~1"}, {"a", "a~2"}, {"a", "a~3"}, {"a~1", "a~1~1"}, {"b", "b"}} {
		must.Equal(t, s.TakeName(Artifact, row[0]), row[1], row[0])
	}
}
