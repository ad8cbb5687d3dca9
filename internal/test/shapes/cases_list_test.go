package shapes

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/agent"
	"github.com/a2astdio/a2astdio/internal/test/editor"
)

// A Case is an agent that was met, or is like one, and whose lines have no shape.
type Case struct {
	Name string
	// Extensions are those that its card declares. Only03: it cannot be said in A2A 1.0.
	Extensions []string
	Only03     bool
	Turns      [][]*agent.Step
	// Views are what a user reads of each turn: messages, with Break between them. Letters:
	// where messages end is not judged.
	Views   []string
	Letters bool
	// Data is how ACP, which has no data, shows it to the user behind the view.
	Data string
	// Items are what a record has of each turn; Parts is how many parts that are no text.
	Items [][]Item
	Parts []int
}

// Script is the case's agent.
func (c *Case) Script(v1 bool) *agent.Script {
	s := &agent.Script{V1: v1, Extensions: c.Extensions}
	for _, steps := range c.Turns {
		s.Turns = append(s.Turns, &agent.Turn{Steps: append([]*agent.Step{{Kind: agent.TaskEvent, State: agent.Submitted}}, steps...)})
	}
	return s
}

func say(id, text string) *agent.Step { return agent.Say(agent.Working, id, text) }

// art is a piece of an artifact, or the whole.
func art(id string, follows, last bool, parts ...agent.Part) *agent.Step {
	return &agent.Step{Kind: agent.ArtifactUpdate, Artifact: &agent.Artifact{ID: id, Parts: parts}, Append: follows, Last: last}
}

func text(s string) agent.Part { return agent.Part{Text: s} }
func data(n int) agent.Part    { return agent.Part{Data: map[string]any{"n": n}} }

// partial marks a step as Google's ADK does. in: the part, the artifact, or the event.
func partial(is bool, in string, s *agent.Step) *agent.Step {
	mark := map[string]any{"adk_partial": is}
	switch in {
	case "part":
		for i := range s.Artifact.Parts {
			s.Artifact.Parts[i].Metadata = mark
		}
	case "artifact":
		s.Artifact.Metadata = mark
	default:
		s.Metadata = mark
	}
	return s
}

// after lets a step come later.
func after(d time.Duration, s *agent.Step) *agent.Step {
	s.After = d
	return s
}

// joined lets a step come in one read with the one before.
func joined(s *agent.Step) *agent.Step {
	s.Joined = true
	return s
}

// unfinal is the end of a task that its agent does not mean.
func unfinal(state agent.State, id, words string) *agent.Step {
	s := agent.Say(state, id, words)
	s.Final = false
	return s
}

// growing are status messages under one ID, each with all of the text so far.
func growing(id string, texts ...string) (steps []*agent.Step) {
	for _, t := range texts {
		steps = append(steps, say(id, t))
	}
	return steps
}

func pieces(of string, texts ...string) (steps []*agent.Step) {
	for i, t := range texts {
		steps = append(steps, art(of, i > 0, false, text(t)))
	}
	return steps
}

// Cases are all of them.
func Cases() (all []*Case) {
	done := agent.Done(agent.Completed)
	one := func(name, view string, items []Item, steps ...any) *Case {
		c := &Case{Name: name, Turns: [][]*agent.Step{agent.List(append(steps, done)...)}, Views: []string{view}, Items: [][]Item{items}, Parts: []int{0}}
		all = append(all, c)
		return c
	}
	equalTexts(one)
	wholes(one)
	adk(one)
	finals(one)
	grow := growing("m", "Hel", "Hello w", "Hello world")
	one("status messages that grow under one ID", "Hello world", []Item{{"m", "Hello world"}}, grow)
	one("status messages that grow under one ID, at an agent with the extension", "Hello world", []Item{{"m", "Hello world"}}, grow).Extensions = []string{agent.DevTool}
	one("partials in status messages, then an artifact with the whole that goes on", "The cat saw the dog. And the bird.",
		[]Item{{"a", "The cat saw the dog. And the bird."}}, say("p1", "The cat"), say("p2", " saw the"), say("p3", " dog."),
		art("a", false, true, text("The cat saw the dog. And the bird."))).Letters = true
	one("the next word behind a sign-in link", "Sign in: http://x.test/"+Break+"Thanks.", []Item{{"m1", "Sign in: http://x.test/"}, {"m2", "Thanks."}},
		agent.Say(agent.AuthRequired, "m1", "Sign in: http://x.test/"), after(2*time.Second, say("m2", "Thanks.")))
	one("the next word behind a sign-in link, in tokens with IDs of their own", "Sign in: http://x.test/"+Break+"Thanks you.",
		[]Item{{"m1", "Sign in: "}, {"m2", "http://x.test/"}, {"m3", "Thanks"}, {"m4", " you."}},
		say("m1", "Sign in: "), agent.Say(agent.AuthRequired, "m2", "http://x.test/"), after(2*time.Second, say("m3", "Thanks")), say("m4", " you."))
	code := "```go\nf()\n```\nIt calls f." // as tokenizers cut it: Microsoft's agents, LangGraph, Strands for Python
	one("a code block in tokens with IDs of their own", code, []Item{{"m1", "```"}, {"m2", "go"}}, say("m1", "```"), say("m2", "go"), say("m3", "\nf()\n"), say("m4", "```"), say("m5", "\nIt calls f."))
	one("a code block in tokens, each an artifact", code, []Item{{"a1", "```"}, {"a2", "go"}}, art("a1", false, false, text("```")), art("a2", false, false, text("go")), art("a3", false, false, text("\nf()\n```")), art("a4", false, false, text("\nIt calls f.")))
	one("a code block in tokens that take each other's place", code, []Item{{"a", code}}, art("a", false, false, text("```go")), art("a", false, false, text("\nf()\n```")), art("a", false, false, text("\nIt calls f.")))
	one("two messages around a call", "I look"+Break+"Found it", []Item{{"m1", "I look"}, {"m2", "Found it"}},
		say("m1", "I look"), agent.Run("c1", "search", "three lines"), say("m2", "Found it")).Extensions = []string{agent.DevTool}
	// In task events, which are states. An artifact update is its turn's own: "Yes." and in the
	// next turn "Yes. It is." under one ID are two answers.
	over := &Case{Name: "an artifact that grows over several turns of one task", Letters: true, Views: []string{"The plan has one step.", " Then it has two.", " Three steps are enough."}, Parts: []int{0, 0, 0},
		Items: [][]Item{{{"a", "The plan has one step."}}, {{"a", " Then it has two."}}, {{"a", " Three steps are enough."}}}}
	said := ""
	for _, more := range over.Views {
		said += more
		grown := art("a", false, false, text(said))
		grown.Kind = agent.Nothing
		over.Turns = append(over.Turns, agent.List(grown, &agent.Step{Kind: agent.TaskEvent, State: agent.InputRequired}))
	}
	return append(all, over)
}

func equalTexts(one func(string, string, []Item, ...any) *Case) {
	none := "No issues found."
	c := one("three artifacts of equal text", none+Break+none+Break+none, []Item{{"review-0", none}, {"review-1", none}, {"review-2", none}},
		art("review-0", false, true, text(none)), art("review-1", false, true, text(none)), art("review-2", false, true, text(none)))
	c.Letters = true
	one("data parts of one artifact, two of them equal", "", []Item{}, art("a", false, false, data(1)), art("a", true, false, data(1)), art("a", true, true, data(2))).hasData(1, 1, 2)
	one("data parts in one event, two of them equal", "", []Item{}, art("a", false, true, data(1), data(1), data(2))).hasData(1, 1, 2)
	file := agent.Part{File: &agent.File{Name: "a.txt", Type: "text/plain", Content: []byte(none)}}
	one("a message, then a text file of the same text", none, []Item{{"m", none}}, say("m", none), art("a", false, true, file)).Parts = []int{1}
	one("two messages of equal text", "Done."+Break+"Done.", []Item{{"m1", "Done."}, {"m2", "Done."}},
		say("m1", "Done."), agent.Run("c1", "run", "x"), say("m2", "Done.")).Extensions = []string{agent.DevTool}
}

func (c *Case) hasData(numbers ...int) {
	c.Parts, c.Letters = []int{len(numbers)}, true
	for _, n := range numbers {
		c.Data += fmt.Sprintf("```json{\"n\":%d}```", n)
	}
}

func wholes(one func(string, string, []Item, ...any) *Case) {
	all := "The cat and the dog.\n\nThe dog and the cat."
	tokens := pieces("a", "The cat", " and the", " dog.", "\n\nThe dog", " and the", " cat.")
	items := []Item{{"a", all}, {"w", all}}
	one("a whole in two parts behind its pieces", all, items, tokens, art("w", false, true, text("The cat and the dog.\n\n"), text("The dog and the cat."))).Letters = true
	one("a whole with other white space behind its pieces", all, items, tokens, art("w", false, true, text("The cat and the dog. The dog and the cat.\n"))).Letters = true
	one("a whole with U+2028 and U+0085 behind its pieces", all, items, tokens, art("w", false, true, text("The cat and the dog.\u2028\u0085The dog and the cat."))).Letters = true
	one("a whole as a message that ends the task, behind pieces of an artifact", all, []Item{{"a", all}, {"w", all}}, tokens,
		&agent.Step{State: agent.Completed, Message: &agent.Message{ID: "w", Parts: agent.Text(all)}}).Letters = true
}

func adk(one func(string, string, []Item, ...any) *Case) {
	all := "The cat and the dog and the cat."
	tokens := []string{"The cat", " and the", " dog and", " the cat."}
	var told []*agent.Step // as Python's default does, where the model streams
	for i, t := range append(tokens, all) {
		s := say(fmt.Sprintf("m%d", i), t)
		s.Metadata = map[string]any{"adk_author": "root"}
		told = append(told, s)
	}
	one("ADK for Python's pieces and whole, with nothing that marks them, and an artifact of it", all, []Item{{"m4", all}, {"a", all}}, told, art("a", false, true, text(all)))
	for _, in := range []string{"part", "artifact", "event"} {
		for with, uris := range map[string][]string{"": nil, ", with another extension": {"https://example.test/other/v1"}, ", with the tools' extension": {agent.DevTool}} {
			var steps, java []*agent.Step
			for i, t := range tokens {
				steps = append(steps, partial(true, in, art("a", false, false, text(t))))
				java = append(java, partial(true, in, art("a", i > 0, false, text(t))))
			}
			name := "ADK's pieces and whole, marked in the " + in + with
			items := []Item{{"a", all}}
			one(name, all, items, steps, partial(false, in, art("a", false, true, text(all)))).Extensions = uris
			one(name+", in parts", all, items, steps, partial(false, in, art("a", false, true, text("The cat and the "), text("dog and the cat.")))).Extensions = uris
			one(name+", with other white space", all, items, steps, partial(false, in, art("a", false, true, text("The cat and the\u2028dog and the cat.\n")))).Extensions = uris
			one(name+", appended as by ADK for Java", all, items, java, partial(false, in, art("a", true, true, text(all)))).Extensions = uris
		}
	}
}

func finals(one func(string, string, []Item, ...any) *Case) {
	items := []Item{{"m1", "One."}, {"m2", "Two."}}
	for _, state := range []agent.State{agent.Completed, agent.Failed} {
		view := "One." + Break + "Two."
		if state == agent.Failed {
			view = "Two."
		}
		for _, how := range []struct {
			name string
			step func() *agent.Step
		}{
			{"then more", func() *agent.Step { return say("m2", "Two.") }},
			{"then more in one read", func() *agent.Step { return joined(say("m2", "Two.")) }},
			{"then more 0.6 s later", func() *agent.Step { return after(600*time.Millisecond, say("m2", "Two.")) }},
		} {
			c := one(string(state)+" with final false, "+how.name, view, items, unfinal(state, "m1", "One."), how.step())
			c.Only03, c.Letters = true, true
			if state == agent.Failed {
				c.Items = [][]Item{items[1:]}
			}
		}
	}
}

// TestCases plays the cases over all protocols.
func TestCases(t *testing.T) {
	wrong := 0
	for _, c := range Cases() {
		for _, version := range []string{"0.3", "1.0"} {
			if version == "1.0" && c.Only03 {
				continue
			}
			for _, p := range []editor.Protocol{editor.ACP, editor.ACP2, editor.Lines} {
				var found []string
				for n, turn := range play(t, c.Script(version == "1.0"), p) {
					for _, what := range c.judge(n, turn, p == editor.Lines) {
						found = append(found, fmt.Sprintf("turn %d: %s", n, what))
					}
				}
				if len(found) > 0 {
					wrong++
					t.Errorf("%s (%s, %s): %s", c.Name, version, p, strings.Join(found, "; "))
				}
			}
		}
	}
	t.Logf("wrong: cases: %d", wrong)
}

// judge says what is wrong with a turn.
func (c *Case) judge(n int, turn *editor.Turn, lines bool) (wrong []string) {
	_, view, gaps := View(turn.Shown)
	want := c.Views[n]
	got := view
	if c.Letters {
		want, got = Letters(strings.ReplaceAll(want, Break, "")), Letters(strings.ReplaceAll(got, Break, ""))
	}
	if lines { // where a message ends is in the record
		want, got = Letters(want), Letters(got)
	} else {
		want += c.Data
	}
	if turn.Err != "" {
		wrong = append(wrong, turn.Err)
	}
	if got != want || gaps > 0 {
		wrong = append(wrong, fmt.Sprintf("the user reads %q, and should read %q (%d gaps)", got, want, gaps))
	}
	parts := 0
	for _, s := range turn.Shown {
		if s.Kind == editor.Part {
			parts++
		}
	}
	if lines {
		if class := JudgeRecord(Record(turn.Shown), c.Items[n]); class != "" {
			wrong = append(wrong, fmt.Sprintf("%s: %q", class, Record(turn.Shown)))
		}
	}
	if lines && parts != c.Parts[n] {
		wrong = append(wrong, fmt.Sprintf("%d parts, and should have %d", parts, c.Parts[n]))
	}
	return wrong
}
