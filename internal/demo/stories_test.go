package demo

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

var update = flag.Bool("update", false, "write testdata/conversations anew")

// TestConversations has those of testdata/conversations, in both versions of A2A but for those that name
// theirs. Their lines are
//
//	> WORDS           a message that begins a task
//	+ WORDS           one in the same task
//	! OPTION          an answer to each question; !1 and !2 answer the first or the second alone
//	first {…}         a message that begins a session, with these members, which are written as in 1.0
//	next {…}          one to the task; send {…} is not streamed
//	begin N WORDS     as >, but only N events are read; watch N subscribes to the task
//	rest              the events that were not read
//	call METHOD {…} PATH...  a request, by its name in 0.3, and what is at these paths of its result
//	raw BODY          a request; one in quotes is a Go string
//	card PATH...      what is at these paths of the card
//	file NAME         what the agent has written
//	extensions URIS, version VERSION  of what follows
//
// and behind each what the agent has answered: its events, or = and an error or a result. In them
// $1 and $2 are the calls that ask, $GOOD is the part that allows the first, and $PAGE the next page.
func TestConversations(t *testing.T) {
	for _, file := range must.Get(filepath.Glob("testdata/conversations/*.txt"))(t) {
		_, only, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".txt"), "-")
		for _, version := range []string{"0.3", "1.0"} {
			if only != "" && only != version {
				continue
			}
			t.Run(filepath.Base(file)+" "+version, func(t *testing.T) {
				converse(t, version, &Options{}, func(t *testing.T, c *client) {
					must.File(t, "", c.dir, "file")
					must.Golden(t, *update, file, c.play(string(must.Get(os.ReadFile(file))(t))))
				})
			})
		}
	}
}

var unsteady = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// play has a conversation, and tells it.
func (c *client) play(script string) string {
	var all strings.Builder
	for said := range strings.Lines(script) {
		how, what, _ := strings.Cut(strings.TrimSuffix(said, "\n"), " ")
		names := map[string]string{"$DIR": c.dir, "$TASK": c.taskID, "$CONTEXT": c.contextID, "$URI": ExtensionURI}
		for i, call := range c.asking() {
			names["$"+strconv.Itoa(i+1)] = call
		}
		what = os.Expand(what, func(name string) string {
			switch name {
			case "GOOD":
				return answerTo("proceed_once", c.first())
			case "PAGE":
				return fmt.Sprint(at(c.seen[len(c.seen)-1], "nextPageToken"))
			}
			return names["$"+name]
		})
		before := c.state()
		lines, known := c.does(how, what)
		if !known {
			continue // it is an answer
		}
		all.WriteString(said)
		if len(lines) == 1 && strings.HasPrefix(lines[0], "= -") { // a refusal changes nothing
			must.Equal(c.t, c.state(), before, said)
		}
		told := strings.Join(append(lines, ""), "\n")
		names["$TASK"], names["$CONTEXT"] = c.taskID, c.contextID
		if c.v1 && how != "raw" {
			names["message/send"], names["header X-"] = "SendMessage", "header "
		}
		for name, is := range names {
			if is != "" {
				told = strings.ReplaceAll(told, is, name)
			}
		}
		all.WriteString(unsteady.ReplaceAllString(told, "ID"))
	}
	return all.String()
}

// does is what is answered to a line; false: it is none of the client's.
func (c *client) does(how, what string) (lines []string, known bool) {
	switch words := strings.Fields(what); how {
	case "#", "":
	case ">":
		lines = c.stream(false, says(what)).rest()
	case "+":
		lines = c.stream(true, says(what)).rest()
	case "!":
		lines = c.stream(true, answers(what, c.asking()...)).rest()
	case "!1", "!2":
		lines = c.stream(true, answers(what, c.asking()[how[1]-'1'])).rest()
	case "first", "next":
		lines = c.stream(how == "next", what).rest()
	case "send":
		lines = answered(c.call("message/send", c.message(true, what)))
	case "begin":
		c.half = c.stream(false, says(words[1]))
		lines = c.half.read(must.Get(strconv.Atoi(words[0]))(c.t))
	case "watch":
		c.half = c.open(c.t.Context(), "tasks/resubscribe", map[string]any{"id": c.taskID})
		lines = c.half.read(must.Get(strconv.Atoi(what))(c.t))
	case "rest":
		lines = c.half.rest()
	case "call":
		method, rest, _ := strings.Cut(what, " ")
		var params json.RawMessage
		in := json.NewDecoder(strings.NewReader(rest))
		must.Do(c.t, in.Decode(&params))
		result, err := c.call(method, params)
		lines = answered(result, err, strings.Fields(rest[in.InputOffset():])...)
	case "raw":
		if text, err := strconv.Unquote(what); err == nil {
			what = text
		}
		lines = answered(c.raw(what))
	case "file":
		lines = []string{strconv.Quote(string(must.Get(os.ReadFile(filepath.Join(c.dir, what)))(c.t)))}
	case "card":
		resp := must.Get(c.http.Get(URL + ".well-known/agent-card.json"))(c.t)
		var card any
		must.Do(c.t, json.NewDecoder(resp.Body).Decode(&card))
		resp.Body.Close()
		lines = answered(card, "", words...)
	case "extensions":
		c.header.Set("A2A-Extensions", what)
		c.header.Set("X-A2A-Extensions", what)
	case "version":
		c.header.Set("A2A-Version", what)
	default:
		return nil, false
	}
	return lines, true
}

// answered tells what is at the paths of a result, or an error.
func answered(result any, err string, paths ...string) []string {
	if err != "" {
		return []string{"= " + err}
	}
	told := "="
	for _, path := range paths {
		told += fmt.Sprint(" ", at(result, path))
	}
	return []string{told}
}

// state is what the agent holds, and how far the task is.
func (c *client) state() string {
	c.agent.mu.Lock()
	task, held := c.agent.tasks[c.taskID], fmt.Sprint(len(c.agent.tasks), " tasks, ", len(c.agent.sessions), " sessions")
	c.agent.mu.Unlock()
	if task != nil {
		held += ", " + task.view(nil).Status.State
	}
	return held
}

// textIn is the text of an event.
func textIn(e any) string {
	s, _ := at(e, "status.message.parts.0.text").(string)
	return s
}

// A slow reader delays neither the story nor another reader, and loses nothing.
func TestLongLosesNothing(t *testing.T) {
	converse(t, "0.3", &Options{Pace: -1}, func(t *testing.T, c *client) {
		r := c.stream(false, says("long"))
		r.next()
		synctest.Wait() // the story is over; its first reader has read one event
		got, _ := c.call("tasks/get", map[string]any{"id": c.taskID})
		var want strings.Builder
		for i := range longChunks {
			fmt.Fprintf(&want, "chunk %d\n", i+1)
		}
		if stateOf(got) != "completed" || at(got, "history.1.parts.0.text") != want.String() {
			t.Errorf("the story is %v, or its text is not whole", at(got, "status"))
		}
		var text strings.Builder
		for e := r.next(); e != nil; e = r.next() {
			text.WriteString(textIn(e))
		}
		must.Equal(t, text.String(), want.String(), "the stream's text is not whole")
	})
}

// A call may be answered as soon as it has been read that it asks, whatever comes behind it.
func TestAnsweredAtOnce(t *testing.T) {
	converse(t, "0.3", &Options{Pace: time.Hour}, func(t *testing.T, c *client) {
		for r := c.stream(false, says("edit")); c.first() == "none"; {
			r.next()
		}
		lines := c.stream(true, answers(optionOnce, c.first())).rest()
		must.Equal(t, lines[len(lines)-1], "completed (final)")
	})
}

// A client that leaves does not end its task. A returning one gets the rest once: what
// the snapshot has is not repeated.
func TestDisconnectAndResubscribe(t *testing.T) {
	converse(t, "0.3", &Options{}, func(t *testing.T, c *client) {
		ctx, cancel := context.WithCancel(t.Context())
		r := c.open(ctx, "message/stream", c.message(false, says("slow")))
		r.read(4)
		cancel()
		time.Sleep(10*time.Second + slowPace/2) // the client is away, in virtual time
		task := map[string]any{"id": c.taskID}
		r = c.open(t.Context(), "tasks/resubscribe", task)
		whole, _ := at(r.next(), "history.1.parts.0.text").(string)
		if n := strings.Count(whole, "\n"); n != 22 { // the second came at 0.5 s, the client is back at 10.75 s
			t.Errorf("the snapshot has %d lines of text", n)
		}
		for e := r.next(); e != nil; e = r.next() {
			whole += textIn(e)
		}
		for i := range slowChunks {
			must.Equal(t, strings.Count(whole, fmt.Sprintf("tick %d of", i+1)), 1, "tick", i+1)
		}
		must.Equal(t, c.open(t.Context(), "tasks/resubscribe", task).rest(), []string{"task completed"})
	})
}

// Closing the agent ends its stories, also those that wait for an answer, and
// cuts the streams without an end that was not one.
func TestCloseEndsStories(t *testing.T) {
	converse(t, "0.3", &Options{}, func(t *testing.T, c *client) {
		c.stream(false, says("shell")).rest()
		r := c.stream(false, says("slow"))
		r.next()
		c.agent.Close()
		lines := r.rest()
		must.True(t, !strings.Contains(strings.Join(lines, ""), "final"), "the stream says that it ended", lines)
		_, err := c.call("message/send", c.message(false, says("hello")))
		must.Has(t, err, "closed")
	}) // which closes it once more
}

// TestWords: the first word of the prompt, or of any of its text parts, selects the
// story, also within tags. A mere mention selects none.
func TestWords(t *testing.T) {
	for _, row := range must.Table[struct {
		In   string
		Want bool
	}](t, "testdata/prompts.txt") {
		prompt, want := row.In, row.Want
		m := &message{}
		for text := range strings.SplitSeq(prompt, "|") {
			m.Parts = append(m.Parts, part{Text: &text})
		}
		agent := New(&Options{Pace: -1})
		task := newTask(agent.newSession())
		must.Do(t, agent.create(task, m.story(), m))
		must.Do(t, task.settled(t.Context(), agent.ctx, 0))
		must.Equal(t, task.view(nil).Status.State == stateInputRequired, want, prompt)
		agent.Close()
	}
}
