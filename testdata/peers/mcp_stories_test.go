package peers

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// An mcpStory is what a client does with our server: which tools are called, and what must come.
// It is the same whether a test calls them by an SDK, or a scripted model by a client that people
// install.
type mcpStory struct {
	name string
	of   string // SDKs or clients; both, if it is empty
	more string // of the configuration
	plot plot
	// limit is the client's own, for a call; an SDK has none.
	limit time.Duration
	// action and choose are what the person does who is asked, and how the option begins. Nobody
	// can be asked if there is no action.
	action, choose string
	interrupted    bool // by the user, when the message is sent
	restarted      bool // another client then waits for the task

	answers         []string // what each answer holds, as regular expressions
	chunks          int      // of the agent that counts: each once, in order
	sent, cancelled int      // messages, and tasks; of no interest if nothing is sent
	edit            string   // what becomes of hello.txt: written or refused
	check           func(t *testing.T, p *mcpPlace, answers []string)
}

const (
	inSDKs    = "SDKs"
	inClients = "clients"
	written   = "written"
	refused   = "refused"
)

var (
	edits = uses("send_message", object{"agent": "demo-agent", "text": "edit"})
	hello = uses("send_message", object{"agent": "demo-agent", "text": "hello"})
	enter = uses("send_message", object{"agent": "guarded-agent", "text": "hello"})
)

// counts sends the agent that counts: n chunks, ms apart.
func counts(n, ms int) step {
	return uses("send_message", object{"agent": "sdk-agent", "text": fmt.Sprintf("count %d %d", n, ms)})
}

var mcpStories = []mcpStory{
	{name: "answers of two agents", plot: scripted(uses("list_agents", object{}), hello, counts(3, 10)),
		answers: []string{`(?s)agent: demo-agent.*agent: sdk-agent`, `Hello from the a2astdio demo agent\.`, ``}, chunks: 3, sent: 2},
	{name: "a question in prose", of: inSDKs, plot: scripted(uses("send_message", object{"agent": "sdk-agent", "text": "ask"}), uses("send_message", object{"handle": theHandle, "text": "Paris"})),
		answers: []string{`which city\?`, `completed`}, sent: 2},
	{name: "a task longer than the client's limit", more: `mcp-wait = "1s"`, limit: 3 * time.Second, plot: waits(counts(40, 100)), chunks: 40, sent: 1,
		check: func(t *testing.T, _ *mcpPlace, answers []string) {
			if len(answers) < 3 {
				t.Errorf("there are %d answers", len(answers))
			}
		}},
	{name: "a limit that is shorter than our answers", of: inClients, limit: 3 * time.Second, plot: insists,
		check: func(t *testing.T, p *mcpPlace, answers []string) {
			if p.cancelsByLimit { // as a person would
				p.wantSent(t, 1, 1)
				return
			}
			wantChunks(t, 50, answers...)
			p.wantSent(t, 1, 0)
		}},
	{name: "the user interrupts", plot: scripted(counts(300, 100)), interrupted: true, sent: 1, cancelled: 1},
	{name: "a task that is cancelled when it has gone on", of: inSDKs, more: `mcp-wait = "1s"`, plot: scripted(counts(300, 100), uses("cancel_task", object{"handle": theHandle})),
		answers: []string{`state: working`, `cancel`}, sent: 1, cancelled: 1},
	{name: "a task that goes on when the client has ended", more: `mcp-wait = "1s"`, plot: scripted(counts(30, 200)), restarted: true, chunks: 30, sent: 1},
	{name: "an approval that nobody can give", plot: scripted(edits), answers: []string{`hello\.txt`}, edit: refused}, // what would have been done
	{name: "a sign-in", plot: scripted(enter), answers: []string{`sign in`}, check: signIns(0)},                       // how, or where
	{name: "a sign-in by a person", of: inSDKs, action: "accept", plot: scripted(enter, enter), answers: []string{`Hello from`, `Hello from`}, check: signIns(1)},
	{name: "files in and out", plot: scripted(
		uses("send_message", object{"agent": "demo-agent", "text": "hello", "files": []any{object{"path": "note.txt"}}}),
		uses("send_message", object{"agent": "sdk-agent", "text": "parts"})),
		answers: []string{`note\.txt`, `hello\.bin`}, sent: 2},
	{name: "a person accepts", action: "accept", choose: "allow once", plot: scripted(edits), answers: []string{`completed`}, edit: written},
	{name: "a person declines", action: "decline", plot: scripted(edits), answers: []string{`hello\.txt`}, edit: refused},
	{name: "a person looks away", of: inSDKs, action: "cancel", plot: scripted(edits), answers: []string{`hello\.txt`}, edit: refused},
	{name: "a person accepts, and picks nothing that was offered", of: inSDKs, action: "accept", choose: "something else", plot: scripted(edits), edit: refused},
}

// signIns demands a number of sign-ins.
func signIns(want int32) func(*testing.T, *mcpPlace, []string) {
	return func(t *testing.T, p *mcpPlace, _ []string) {
		equal(t, p.guarded.tokens.Load(), want, "sign-ins")
	}
}

// tell tells the story to a client, which has a conversation by a plot and returns the tools'
// answers, and demands what must come.
func (s *mcpStory) tell(t *testing.T, p *mcpPlace, client func(next plot) (answers []string)) {
	t.Helper()
	answers := client(s.plot)
	if s.restarted {
		answers = append(answers, client(waits(uses("wait_task", object{"handle": handleIn(answers)})))...)
	}
	if len(s.answers) > 0 && len(answers) != len(s.answers) {
		t.Fatalf("the answers are %q", answers)
	}
	for i, want := range s.answers {
		equal(t, regexp.MustCompile(want).MatchString(answers[i]), true, "answer", i+1, want, answers[i])
	}
	if s.chunks > 0 {
		wantChunks(t, s.chunks, answers...)
	}
	if s.sent > 0 {
		p.wantSent(t, s.sent, s.cancelled)
	}
	switch s.edit {
	case written:
		wantFile(t, greeting, p.work, "hello.txt")
	case refused:
		wantNoFile(t, p.work, "hello.txt")
	}
	if s.check != nil {
		s.check(t, p, answers)
	}
}

// interrupt does what a user does who has seen enough, when the agent has the task.
func (p *mcpPlace) interrupt(t *testing.T, cancel func()) {
	t.Helper()
	within(t, "the message is sent", func() bool { return p.sent(t, sendings...) == 1 })
	<-time.After(time.Second)
	cancel()
	within(t, "the task is cancelled", func() bool { return p.sent(t, cancellings...) == 1 })
}

// A plot says what is done after the answers of the tools so far.
type plot func(answers []string) step

// A step is a call of a tool of our server, or else the last words.
type step struct {
	tool string
	args object
	text string
}

func uses(tool string, args object) step { return step{tool: tool, args: args} }

// lastWords is what the model says when the plot is over.
const lastWords = "That is all."

// theHandle stands for the handle that the first answer has.
const theHandle = "(the handle)"

// scripted calls tools one after the other.
func scripted(steps ...step) plot {
	return func(answers []string) step {
		if len(answers) == len(steps) {
			return step{text: lastWords}
		}
		s := steps[len(answers)]
		if s.args["handle"] == theHandle {
			s.args = object{"handle": handleIn(answers), "text": s.args["text"]}
		}
		return s
	}
}

// waits goes on calling wait_task while the task goes on.
func waits(first step) plot {
	return func(answers []string) step {
		n := len(answers)
		switch {
		case n > 0 && !strings.Contains(answers[n-1], "state: working\n"):
			return step{text: lastWords}
		case n == 0 || first.tool == "wait_task":
			return first
		}
		return uses("wait_task", object{"handle": handleIn(answers)})
	}
}

// insists counts, and if it is not told all of it, looks for the task and waits for it.
func insists(answers []string) step {
	switch n := len(answers); {
	case n == 0:
		return counts(50, 200)
	case n == 1:
		return uses("list_agents", object{})
	case !strings.Contains(answers[n-1], "chunk-49") && n < 10 && handleIn(answers) != "":
		return uses("wait_task", object{"handle": handleIn(answers)})
	}
	return step{text: lastWords}
}

var handleWords = regexp.MustCompile(`\b(?:handle|under way): (\S+)`)

// handleIn is the first handle in some answers, empty if there is none: no task has that.
func handleIn(answers []string) string {
	if m := handleWords.FindStringSubmatch(strings.Join(answers, "\n")); m != nil {
		return m[1]
	}
	return ""
}

// wantChunks demands the first n chunks of the agent's counting, once each, in order.
func wantChunks(t *testing.T, n int, answers ...string) {
	t.Helper()
	var want []string
	for i := range n {
		want = append(want, fmt.Sprintf("chunk-%d", i))
	}
	got := regexp.MustCompile(`chunk-\d+`).FindAllString(strings.Join(answers, "\n"), -1)
	equal(t, strings.Join(got, " "), strings.Join(want, " "))
}

// The official SDKs, in each version of MCP, get the same. The versions before the newest two
// differ in the first line, and in what is asked.
func TestMCPSDKs(t *testing.T) {
	agents := startMCPAgents(t)
	for _, sdk := range mcpSDKs {
		for i, version := range sdk.versions {
			for _, story := range mcpStories {
				if story.of == inClients || i > 1 && story.name != "answers of two agents" && story.edit == "" {
					continue
				}
				t.Run(sdk.name+"/"+version+"/"+story.name, func(t *testing.T) {
					t.Parallel()
					p := agents.place(t, story.more)
					story.tell(t, p, func(next plot) []string { return story.bySDK(t, p, sdk.connect, version, next) })
				})
			}
		}
	}
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
			for _, story := range mcpStories {
				if story.of == inSDKs {
					continue
				}
				t.Run(story.name, func(t *testing.T) {
					p, said := agents.place(t, story.more), ""
					story.tell(t, p, func(next plot) []string {
						m := story.byClient(t, p, c, next)
						said = m.record()
						return m.heard()
					})
					fmt.Fprintf(&record, "\n# %s\n\n%s", story.name, p.neutral(said))
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
