package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

const (
	slowPace   = 500 * time.Millisecond // slow enough to cancel it, cut it, walk away from it
	slowChunks = 60
	longChunks = 10_000 // more than any buffer between a story and an editor holds
)

// A tale is a story as it is listed.
type tale struct {
	word        string
	description string
	tell        func(args []string) story
}

// tales lists the stories by the word that picks them.
func tales() []tale {
	plain := func(s story) func([]string) story { return func([]string) story { return s } }
	return []tale{
		{"hello", "a thought and a streamed text", plain(hello)},
		{"edit", "asks to edit a file (edit FILE), and does", edit},
		{"modify", "asks to edit a file and takes your version of it", modify},
		{"shell", "asks to run a command, and shows its output as it grows", plain(shell)},
		{"many", "asks for an edit and a command at once", many},
		{"ask", "asks a question in prose", plain(ask)},
		{"mcp", "asks to call a tool of an MCP server", plain(mcp)},
		{"generic", "asks for something of no special kind", plain(generic)},
		{"todos", "works off a list of todos", plain(todos)},
		{"error", "calls a tool that fails", plain(toolError)},
		{"fail", "fails", plain(fail)},
		{"slow", "talks for 30 seconds", plain(slow)},
		{"long", "sends 10,000 chunks of text", plain(long)},
	}
}

// pick returns the story of a prompt: by its first word, or hello with a list of
// the words.
func pick(words []string) story {
	if len(words) == 0 {
		return help
	}
	word := strings.ToLower(strings.Trim(words[0], ".,!?:\"'"))
	for _, t := range tales() {
		if t.word == word {
			return t.tell(words[1:])
		}
	}
	return help
}

func hello(ctx context.Context, r *run) error {
	if err := r.think(ctx, "Greeting", "Somebody says hello, so I say hello."); err != nil {
		return err
	}
	return r.say(ctx, "Hello", " from", " the", " a2astdio", " demo", " agent.")
}

func help(ctx context.Context, r *run) error {
	if err := r.think(ctx, "Looking for a story", "The first word of the prompt is not the name of one."); err != nil {
		return err
	}
	chunks := []string{"Hello.", " I tell stories,", " by the first word of a prompt:\n"}
	for _, t := range tales() {
		chunks = append(chunks, fmt.Sprintf("- %s: %s\n", t.word, t.description))
	}
	return r.say(ctx, chunks...)
}

func ask(ctx context.Context, r *run) error {
	reply, err := r.listen(ctx, "Which colour shall it be?")
	if err != nil {
		return err
	}
	return r.say(ctx, "So it", " is ", reply.text(), ".")
}

func slow(ctx context.Context, r *run) error {
	id := r.task.newID()
	for i := 1; i <= slowChunks; i++ {
		chunk := fmt.Sprintf("tick %d of %d\n", i, slowChunks)
		if err := r.emit(event{kind: kindText, message: r.task.text(id, chunk, everyone)}); err != nil {
			return err
		}
		if err := rest(ctx, slowPace); err != nil {
			return err
		}
	}
	return nil
}

// long numbers its chunks, so that a loss can be counted and named.
func long(ctx context.Context, r *run) error {
	id := r.task.newID()
	for i := 1; i <= longChunks; i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.emit(event{kind: kindText, message: r.task.text(id, fmt.Sprintf("chunk %d\n", i), everyone)}); err != nil {
			return err
		}
	}
	return nil
}

func fail(ctx context.Context, r *run) error {
	if err := r.say(ctx, "I will try."); err != nil {
		return err
	}
	if err := r.emit(event{kind: kindStateChange, err: "the demo agent fails because it was asked to"}); err != nil {
		return err
	}
	return errors.New("the demo agent failed, as it was asked to")
}

// failing is the story of a task that could not begin.
func failing(err error) story {
	return func(context.Context, *run) error { return err }
}

// options returns the choices of every confirmation request.
func options() []confirmationOption {
	return []confirmationOption{
		{optionOnce, "Allow once", "Run this call only."},
		{optionAlways, "Always allow", "Run this tool without asking, until the session ends."},
		{optionCancel, "Reject", "Do not run it."},
	}
}
