package shapes

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/test/agent"
)

// Sentences are conversations of four answers. They repeat words, since an agent's answers
// do; one answer of each is a word or two.
var Sentences = [][]string{
	{"The cat and the dog and the bird saw the cat.", "No, no, no. The dog saw the dog, and the bird saw nothing.", "Yes.", "Yes. The train leaves at 9, and at 9 the train leaves."},
	{"ha ha ha, ha", "Bye bye", "11 plus 11 is 22, and 22 plus 22 is 44.", "I am what I am, and that is all that I am."},
	{"谢谢谢谢,谢谢你。", "妈妈看看妈妈。", "好", "好好学习,天天向上。"},
	{"Der Hund sah den Hund, und der Hund sah die Katze.", "Ja, ja, ja!", "Ja", "Ja\u2028wohl: der Hund sah\u0085den Hund."},
	{"قال الولد للولد إن الولد رأى الكلب.", "لا لا لا", "نعم", "نعم، الكلب رأى الكلب، والولد رأى الكلب."},
	{"👍👍 done 👍👍", "🎉 🎉 🎉", "👍", "The 👩‍💻 saw the 👩‍💻, and 👍 is 👍."},
	{"# Report\n\n## Summary\n\nThe build is green. The tests are green.\n\n- build: green\n- tests: green\n", "1. Open the file.\n2. Open the test.\n3. Close the file.\n", "No. No. No.", "See https://example.com/a?c=d&c=d and https://example.com/a?c=e&c=e, version 1.2.3, 1.2.30 or v1.2."},
	{"if a {\n\tif a {\n\t\ta = a + a\n\t}\n}", "x = x\nx = x\nx = x\n", "nil", "return nil // nil, nil\n\nreturn nil // nil, nil"},
}

// A Shape is how an agent puts its text on the wire.
type Shape struct {
	Carrier string // task, status, artifact, message: what an event is
	Form    string // delta, cumulative, whole, pieces+whole: what of the text is in it
	IDs     string // token, message, task, ever: how long an ID is used
	History string // none, ours, all; fresh: new IDs whenever it is written
	Tokens  string // words, chars, spaces, runes: see the function
	End     string // bare: by a state alone; last: with the last text
	OneTask bool   // all turns are in one task
}

func (s Shape) String() string {
	task := "task/turn"
	if s.OneTask {
		task = "one task"
	}
	return strings.Join([]string{s.Carrier, s.Form, "ID " + s.IDs, "history " + s.History, s.Tokens, s.End, task}, " | ")
}

// Shapes are all shapes whose history is one of those, without those that nobody makes.
func Shapes(histories ...string) (list []Shape) {
	each := func(values []string, f func(string)) {
		for _, v := range values {
			f(v)
		}
	}
	each([]string{"task", "status", "artifact", "message"}, func(carrier string) {
		each([]string{"delta", "cumulative", "whole", "pieces+whole"}, func(form string) {
			each([]string{"token", "message", "task", "ever"}, func(ids string) {
				each(histories, func(history string) {
					each([]string{"words", "chars", "spaces", "runes"}, func(tokens string) {
						each([]string{"bare", "last"}, func(end string) {
							for _, one := range []bool{false, true} {
								if s := (Shape{carrier, form, ids, history, tokens, end, one}); s.exists() {
									list = append(list, s)
								}
							}
						})
					})
				})
			})
		})
	})
	return list
}

func (s Shape) exists() bool {
	switch {
	case s.Carrier == "message" && (s.History != "none" || s.OneTask || s.End == "last"):
		return false // it has no task
	case s.Carrier == "artifact" && s.End == "last":
		return false // an artifact has no state
	case s.Carrier == "artifact" && s.IDs == "token" && (s.Form == "cumulative" || s.Form == "pieces+whole" || s.Tokens == "chars" || s.Tokens == "runes"):
		return false // who makes an artifact of each token (lynx, loomcycle) says no more; a word in two is chosen: see package shown
	case s.Form == "whole" && s.Tokens != "words":
		return false // the same as words
	}
	return true
}

// Tokens cuts a text as a model does: before spaces and CJK characters, or every two bytes; or
// as programs do that play a stream: behind each space, or every twelve characters.
func Tokens(text, how string) (list []string) {
	switch how {
	case "spaces":
		return slices.DeleteFunc(strings.SplitAfter(text, " "), func(s string) bool { return s == "" })
	case "runes":
		for some := range slices.Chunk([]rune(text), 12) {
			list = append(list, string(some))
		}
		return list
	case "chars":
		for len(text) > 0 {
			n := 0
			for i := 0; i < 2 && n < len(text); i++ {
				_, size := utf8.DecodeRuneInString(text[n:])
				n += size
				if text[0] >= utf8.RuneSelf {
					break // one character of those
				}
			}
			list = append(list, text[:n])
			text = text[n:]
		}
		return list
	}
	from := 0
	for i, r := range text {
		if i > from && (r == ' ' || r >= 0x2E80) {
			list = append(list, text[from:i])
			from = i
		}
	}
	return append(list, text[from:])
}

// saying is a text in an event.
type saying struct {
	id, text    string
	append, all bool
}

// ids makes the IDs of a conversation.
type ids struct {
	Shape
	n    int
	turn int
}

func (i *ids) next(whole bool) string {
	switch {
	case i.IDs == "token":
		i.n++
		return fmt.Sprintf("m%d", i.n)
	case i.IDs == "message" && whole && i.Form == "pieces+whole":
		return fmt.Sprintf("w%d", i.turn)
	case i.IDs == "message":
		return fmt.Sprintf("m%d", i.turn)
	case i.IDs == "task" && !i.OneTask:
		return fmt.Sprintf("m-task%d", i.turn)
	}
	return "response"
}

// sayings are the texts of an answer.
func (i *ids) sayings(text string) (list []saying) {
	tokens := Tokens(text, i.Tokens)
	sum := ""
	for n, token := range tokens {
		switch sum += token; i.Form {
		case "delta", "pieces+whole":
			list = append(list, saying{i.next(false), token, n > 0 && i.IDs != "token", false})
		case "cumulative":
			list = append(list, saying{i.next(false), sum, false, false})
		}
	}
	if i.Form == "whole" || i.Form == "pieces+whole" {
		list = append(list, saying{i.next(true), text, false, true})
	}
	return list
}

// Histories are an agent's, by their names in a shape.
var Histories = map[string]agent.History{"none": agent.HistoryNone, "ours": agent.HistoryOurs, "all": agent.HistoryAll, "fresh": agent.HistoryFresh}

// Script is an agent of this shape that answers with these texts.
func (s Shape) Script(v1 bool, answers []string) *agent.Script {
	script := &agent.Script{V1: v1, History: Histories[s.History]}
	end := agent.Completed
	if s.OneTask {
		end = agent.InputRequired
	}
	names := &ids{Shape: s}
	for n, text := range answers {
		names.turn = n
		turn := &agent.Turn{}
		if s.Carrier != "message" {
			turn.Steps = append(turn.Steps, &agent.Step{Kind: agent.TaskEvent, State: agent.Working})
		}
		list := names.sayings(text)
		for i, x := range list {
			step := s.step(x)
			if s.End == "last" && i == len(list)-1 {
				step.State, step.Final = end, true
			}
			turn.Steps = append(turn.Steps, step)
		}
		if s.End == "bare" && s.Carrier != "message" {
			last := agent.Done(end)
			if s.Carrier == "task" {
				last.Kind = agent.TaskEvent
			}
			turn.Steps = append(turn.Steps, last)
		}
		script.Turns = append(script.Turns, turn)
	}
	return script
}

// A Voice says texts in a shape, each as a message or an artifact of its own.
type Voice struct{ names ids }

// NewVoice returns a voice. IDs that outlive a message would make one of all texts.
func NewVoice(s Shape) *Voice { return &Voice{ids{Shape: s}} }

// Say is a text as the agent's steps.
func (v *Voice) Say(text string) (steps []*agent.Step) {
	v.names.turn++
	for _, x := range v.names.sayings(text) {
		steps = append(steps, v.names.step(x))
	}
	return steps
}

// step is the event of a saying.
func (s Shape) step(x saying) *agent.Step {
	kind := map[string]agent.Kind{"task": agent.TaskEvent, "status": agent.StatusUpdate, "artifact": agent.ArtifactUpdate, "message": agent.Direct}[s.Carrier]
	step := &agent.Step{Kind: kind, State: agent.Working}
	if s.Carrier == "artifact" {
		step.Artifact, step.Append, step.Last = &agent.Artifact{ID: x.id, Parts: agent.Text(x.text)}, x.append, x.all
	} else {
		step.Message = &agent.Message{ID: x.id, Parts: agent.Text(x.text)}
	}
	return step
}

// An Item is what a record has of a message or an artifact of a turn.
type Item struct{ ID, Text string }

// Items are the messages or artifacts of each turn, with their whole texts.
func (s Shape) Items(answers []string) (turns [][]Item) {
	names := &ids{Shape: s}
	for n, text := range answers {
		names.turn = n
		var items []Item
		for _, x := range names.sayings(text) {
			last := len(items) - 1
			switch {
			case last < 0 || items[last].ID != x.id:
				items = append(items, Item{x.id, x.text})
			case strings.HasPrefix(x.text, items[last].Text) && s.Form != "delta":
				items[last].Text = x.text // its growth, or its whole
			default:
				items[last].Text += x.text
			}
		}
		turns = append(turns, items)
	}
	return turns
}
