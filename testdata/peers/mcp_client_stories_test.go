package peers

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A clientStory is what a client does with our server, with a scripted model.
type clientStory struct {
	name string
	more string // of the configuration
	tell func(t *testing.T, c *mcpProgram, p *mcpPlace) *scriptedModel
}

// run runs a client with a plot until it ends.
func (c *mcpProgram) run(t *testing.T, p *mcpPlace, next plot) *scriptedModel {
	t.Helper()
	m := startScripted(t, next)
	p.model = m.url
	c.start(t, p, "Do it.").wait()
	return m
}

// waits goes on calling wait_task while the task goes on.
func waits(first step) plot {
	return func(answers []string) step {
		n := len(answers)
		switch {
		case n == 0:
			return first
		case goesOn(answers[n-1]):
			m := handleWords.FindStringSubmatch(answers[0])
			if m == nil {
				return step{text: "There is no handle."}
			}
			return uses("wait_task", object{"handle": m[1]})
		}
		return step{text: lastWords}
	}
}

// counts sends the agent that counts: n chunks, ms apart.
func counts(n, ms int) step {
	return uses("send_message", object{"agent": "sdk-agent", "text": fmt.Sprintf("count %d %d", n, ms)})
}

var edits = uses("send_message", object{"agent": "demo-agent", "text": "edit"})

var clientStories = []clientStory{
	{"answers of two agents", "", func(t *testing.T, c *mcpProgram, p *mcpPlace) *scriptedModel {
		m := c.run(t, p, scripted(uses("list_agents", object{}), uses("send_message", object{"agent": "demo-agent", "text": "hello"}), counts(3, 10)))
		answers := m.heard()
		if len(answers) != 3 {
			t.Fatalf("the model was told %q", answers)
		}
		contains(t, "the agents", answers[0], "sdk-agent")
		contains(t, "the answer", answers[1], "Hello from the a2astdio demo agent.")
		wantChunks(t, 3, answers[2])
		p.wantSent(t, 2, 0)
		return m
	}},
	{"a task longer than the client's limit", "mcp-wait = \"2s\"", func(t *testing.T, c *mcpProgram, p *mcpPlace) *scriptedModel {
		p.limit = 6 * time.Second
		m := c.run(t, p, waits(counts(50, 200)))
		wantChunks(t, 50, m.heard()...)
		p.wantSent(t, 1, 0)
		return m
	}},
	{"a limit that is shorter than our answers", "", func(t *testing.T, c *mcpProgram, p *mcpPlace) *scriptedModel {
		p.limit = 3 * time.Second
		m := c.run(t, p, func(answers []string) step {
			n := len(answers)
			switch {
			case n == 0:
				return counts(50, 200)
			case n == 1:
				return uses("list_agents", object{})
			case !strings.Contains(answers[n-1], "chunk-49") && n < 10:
				if m := handleWords.FindStringSubmatch(answers[1]); m != nil {
					return uses("wait_task", object{"handle": m[1]})
				}
			}
			return step{text: lastWords}
		})
		if c.cancelsByLimit { // as a person would
			p.wantSent(t, 1, 1)
			return m
		}
		wantChunks(t, 50, m.heard()...)
		p.wantSent(t, 1, 0)
		return m
	}},
	{"the user interrupts", "", func(t *testing.T, c *mcpProgram, p *mcpPlace) *scriptedModel {
		m := startScripted(t, scripted(counts(300, 100)))
		p.model, p.terminal = m.url, true
		r := c.start(t, p, "Do it.")
		within(t, "the message is sent", func() bool { return p.sent(t, sendings...) == 1 })
		<-time.After(time.Second) // the agent has the task
		r.terminal.press("\x03")
		within(t, "the task is cancelled", func() bool { return p.sent(t, cancellings...) == 1 })
		r.wait()
		p.wantSent(t, 1, 1)
		return m
	}},
	{"a task that goes on when the client has ended", "mcp-wait = \"1s\"", func(t *testing.T, c *mcpProgram, p *mcpPlace) *scriptedModel {
		first := c.run(t, p, scripted(counts(60, 200))).heard()
		if len(first) != 1 {
			t.Fatalf("the model was told %q", first)
		}
		m := c.run(t, p, waits(uses("wait_task", object{"handle": handleIn(t, first[0])})))
		wantChunks(t, 60, append(first, m.heard()...)...)
		p.wantSent(t, 1, 0)
		return m
	}},
	{"an approval that nobody can give", "", func(t *testing.T, c *mcpProgram, p *mcpPlace) *scriptedModel {
		m := c.run(t, p, scripted(edits))
		wantNoFile(t, p.work, "hello.txt")
		if answers := m.heard(); len(answers) != 1 {
			t.Errorf("the model was told %q", answers)
		} else {
			contains(t, "the answer", answers[0], "hello.txt")
		}
		return m
	}},
	{"a sign-in", "", func(t *testing.T, c *mcpProgram, p *mcpPlace) *scriptedModel {
		m := c.run(t, p, scripted(uses("send_message", object{"agent": "guarded-agent", "text": "hello"})))
		if answers := m.heard(); len(answers) != 1 {
			t.Errorf("the model was told %q", answers)
		} else {
			contains(t, "the answer", answers[0], "sign in") // or where, if the client can open a page
		}
		return m
	}},
	{"files in and out", "", func(t *testing.T, c *mcpProgram, p *mcpPlace) *scriptedModel {
		m := c.run(t, p, scripted(uses("send_message", object{"agent": "demo-agent", "text": "hello", "files": []any{object{"path": "note.txt"}}}),
			uses("send_message", object{"agent": "sdk-agent", "text": "parts"})))
		answers := m.heard()
		if len(answers) != 2 {
			t.Fatalf("the model was told %q", answers)
		}
		contains(t, "the answer", answers[0], "note.txt")
		contains(t, "the answer", answers[1], "hello.bin")
		return m
	}},
	{"a person accepts", "", func(t *testing.T, c *mcpProgram, p *mcpPlace) *scriptedModel {
		m := c.asksPerson(t, p, c.accepts)
		if _, err := os.Stat(filepath.Join(p.work, "hello.txt")); err != nil {
			t.Errorf("the edit was accepted: %v", err)
		}
		return m
	}},
	{"a person declines", "", func(t *testing.T, c *mcpProgram, p *mcpPlace) *scriptedModel {
		m := c.asksPerson(t, p, c.declines)
		wantNoFile(t, p.work, "hello.txt")
		return m
	}},
}

// asksPerson runs a client at a terminal, with an edit that a person answers by keys.
func (c *mcpProgram) asksPerson(t *testing.T, p *mcpPlace, keys []string) *scriptedModel {
	t.Helper()
	if len(keys) == 0 {
		t.Skip(c.name + " cannot ask a person")
	}
	m := startScripted(t, scripted(edits))
	p.model, p.person = m.url, true
	r := c.start(t, p, "Do it.")
	if c.typed {
		within(t, "the client has our tools", func() bool { return p.heard(t, "tools/list") > 0 })
		for _, key := range []string{"Do it.", "\r"} {
			<-time.After(2 * time.Second)
			r.terminal.press(key)
		}
	}
	if c.before != "" {
		r.terminal.shows(c.before)
		<-time.After(time.Second)
		r.terminal.press("\r")
	}
	r.terminal.shows("asks for your approval")
	for _, key := range keys {
		<-time.After(time.Second) // it takes what comes together for a paste
		r.terminal.press(key)
	}
	within(t, "the model is told", func() bool { return len(m.heard()) == 1 })
	return m
}

// Real clients with a scripted model. Each story's record, what the model has said and has been
// told, is in testdata/screens.
func TestMCPClients(t *testing.T) {
	for _, c := range mcpPrograms {
		t.Run(c.name, func(t *testing.T) {
			c.installed(t)
			agents := startMCPAgents(t)
			var record strings.Builder
			fmt.Fprintf(&record, "%s %s\n", c.name, c.version)
			for _, story := range clientStories {
				t.Run(story.name, func(t *testing.T) {
					p := agents.place(t, story.more)
					m := story.tell(t, c, p)
					fmt.Fprintf(&record, "\n# %s\n\n%s", story.name, p.neutral(m.record()))
				})
			}
			if *update && !t.Failed() {
				write(t, filepath.Join("..", "screens", "mcp-"+c.editor+".txt"), record.String())
			}
		})
	}
}

// neutral is a text without what differs from run to run.
func (p *mcpPlace) neutral(text string) string {
	text = strings.NewReplacer(p.work, "WORKSPACE", p.home, "HOME").Replace(text)
	text = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`).ReplaceAllString(text, "ID")
	text = regexp.MustCompile(`(marks |</?)[0-9a-f]{8}\b`).ReplaceAllString(text, "${1}MARK")
	text = regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(text, "HOST")
	text = regexp.MustCompile(`Wall time: [\d.]+`).ReplaceAllString(text, "Wall time: 1.0")
	return regexp.MustCompile(`(?m) +$`).ReplaceAllString(text, "")
}
