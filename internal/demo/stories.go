package demo

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
)

const (
	slowPace   = 500 * time.Millisecond // slow enough to cancel it, cut it, or leave it
	slowChunks = 60
	longChunks = 10_000 // more than any buffer between a story and an editor holds
)

// A tale is a story in the list.
type tale struct {
	word        string
	description string
	tell        func(args []string) story
}

func tales() []tale {
	plain := func(s story) func([]string) story { return func([]string) story { return s } }
	return []tale{
		{"hello", "a thought and a streamed text", plain(hello)},
		{"edit", "asks to edit a file (edit FILE), and writes your version of it", edit},
		{"shell", "asks to run a command, and shows its output as it grows", plain(shell)},
		{"many", "asks for an edit and a command at once", many},
		{"ask", "asks a question in prose", plain(ask)},
		{"form", "asks a question that editors with forms show in one", plain(form)},
		{"mcp", "asks to call a tool of an MCP server", plain(mcp)},
		{"generic", "asks for something of no special kind", plain(generic)},
		{"todos", "works off a list of todos", plain(todos)},
		{"error", "calls a tool that fails", plain(toolError)},
		{"fail", "fails", plain(fail)},
		{"slow", "talks for 30 seconds", plain(slow)},
		{"long", "sends 10,000 chunks of text", plain(long)},
		{"hidden", "asks to run a command with characters that are invisible", plain(hidden)},
	}
}

// named returns the story that the first word names, nil if it names none.
func named(words []string) story {
	if len(words) == 0 {
		return nil
	}
	word := strings.ToLower(strings.Trim(words[0], ".,!?:\"'"))
	for _, t := range tales() {
		if t.word == word {
			return t.tell(words[1:])
		}
	}
	return nil
}

// story returns a prompt's story: by the first word of any of its text parts, since clients
// put files and context before or behind the user's text, or wrap that in tags.
func (m *message) story() story {
	for _, p := range m.Parts {
		if p.Text == nil {
			continue
		}
		for _, text := range untagged(*p.Text) {
			if t := named(strings.Fields(text)); t != nil {
				return t
			}
		}
	}
	return help
}

// untagged returns the texts between the tags of a text that begins with one; otherwise
// the text itself.
func untagged(text string) []string {
	if !strings.HasPrefix(strings.TrimSpace(text), "<") {
		return []string{text}
	}
	var all []string
	for piece := range strings.SplitSeq(text, "<") {
		_, after, _ := strings.Cut(piece, ">")
		all = append(all, after)
	}
	return all
}

func hello(r *run) {
	r.think("Greeting", "Somebody says hello, so I say hello.")
	r.say("Hello", " from", " the", " a2astdio", " demo", " agent.")
}

func help(r *run) {
	r.think("Looking for a story", "The first word of the prompt is not the name of one.")
	chunks := []string{"Hello.", " I tell stories,", " by the first word of a prompt:\n"}
	for _, t := range tales() {
		chunks = append(chunks, fmt.Sprintf("- %s: %s\n", t.word, t.description))
	}
	r.say(chunks...)
}

func ask(r *run) {
	r.say("Which colour shall it be?")
	r.listen(nil)
	r.say("So it", " is ", r.prompt.text(), ".")
}

// form asks in the message of the state, where A2A has what a task waits for. Clients that
// have forms show that in one; what ask says before it pauses they show as text.
func form(r *run) {
	r.listen(r.task.text(uuid.NewString(), "Which name shall it have?"))
	r.say("So it", " is called ", r.prompt.text(), ".")
}

func slow(r *run) {
	r.talk(slowPace, numbered(slowChunks, fmt.Sprintf("tick %%d of %d\n", slowChunks))...)
}

func long(r *run) { r.talk(0, numbered(longChunks, "chunk %d\n")...) }

// numbered returns so many chunks. Their numbers tell where one was lost.
func numbered(count int, format string) (chunks []string) {
	for i := range count {
		chunks = append(chunks, fmt.Sprintf(format, i+1))
	}
	return chunks
}

func fail(r *run) {
	r.say("I will try.")
	r.emit(event{kind: kindStateChange, err: "the demo agent fails because it was asked to"}, 0)
	r.fail(errors.New("the demo agent failed, as it was asked to"))
}
