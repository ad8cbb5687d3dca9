package peers

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A madeAgent is made with somebody else's framework, and has a scripted model: frameworks/README.md.
type madeAgent struct {
	name            string
	start           func(t *testing.T) (url string)
	paths, versions []string
	turns           []madeTurn
}

// A madeTurn is a prompt, and what must come of it.
type madeTurn struct {
	prompt, text string // text is all of it, or what it has behind dots
	thoughts     string
	fails        string // what its error says
	cancel       bool   // by the user, at once
	policy       Policy // of the user's; it allows all if there is none
	asks         string // the one question that is asked
	call, output string // how the one call ends, and what it shows
}

// says wants the answer of a model that repeats what it is told.
func says(prompts ...string) (turns []madeTurn) {
	for _, p := range prompts {
		turns = append(turns, madeTurn{prompt: p, text: "You said " + p + ", which is the answer."})
	}
	return turns
}

// talk is natural text, with words and whole turns that come again.
var talk = says("the cat and the dog and the cat", "yes yes", "yes yes", "No, it is what it is: a list of\n- one\n- one")

var atRoot, best = []string{""}, []string{"auto"}

var madeAgents = []madeAgent{
	// Google's, in both modes of its server: each word once, thoughts as thoughts, calls as calls,
	// and its confirmation is asked for, and the agent does what the user picks.
	{adkGo, inGo("adkgo"), []string{"/run", "/event"}, []string{"1.0", "0.3"}, append(says("one", "one", "two"),
		madeTurn{prompt: "think", text: "Hello there, this is the answer.", thoughts: "I should greet."},
		madeTurn{prompt: "tool", text: "Looking it up. The tool weather said: 5 degrees in Oslo.", call: "completed", output: "5 degrees in Oslo"},
		madeTurn{prompt: "confirm", asks: "wipe: build", text: "...The tool wipe said: wiped build", call: "completed"},
		madeTurn{prompt: "confirm", asks: "wipe: build", policy: Reject, text: "...rejected", call: "failed"},
		madeTurn{prompt: "confirm", asks: "wipe: build", policy: Dismiss, text: "...rejected", call: "failed"},
		madeTurn{prompt: "fail", fails: "model quota exceeded"})},
	// The same for JavaScript: pieces that are said again as a whole, a tool, and a confirmation
	// whose answer its server does not take: it asks again. The turn ends then, and the next
	// prompt is answered, in a new conversation.
	{adkJS, inJS("adk-2.0.0"), atRoot, best, append(append(talk[:4:4],
		madeTurn{prompt: "tool", text: "The tool weather has answered.", call: "completed", output: "5 degrees in Oslo"},
		madeTurn{prompt: "confirm", asks: "wipe: build", fails: "it asks about wipe: build again"}),
		append(talk[:4:4], madeTurn{prompt: "fail", fails: "model refused"})...)},
	// Its artifact has the same ID in each task.
	{trpc, inGo("trpc"), atRoot, best, []madeTurn{{prompt: "yes", text: "You said yes."}, {prompt: "yes", text: "You said yes."}, {prompt: "yes and more", text: "You said yes and more."}}},
	// Each token comes with the whole task, under an ID that comes again; calls are in the history, without
	// their results; an error behind the failure.
	{inference, inOwnModule("inference", "adk"), atRoot, best, append(talk[:4:4],
		madeTurn{prompt: "tool", text: "Looking it up.The tool said: 5 degrees in Oslo.", call: "completed"}, // two messages
		madeTurn{prompt: "ask", text: "Let me ask.Which city?"}, madeTurn{prompt: "Rome", text: "You said Rome, which is the answer."},
		madeTurn{prompt: "fail", fails: "model refused"}, madeTurn{prompt: "yes", text: "You said yes, which is the answer."})},
	// Its tools are not on the wire.
	{strands, inJS("strands-1.19.0"), atRoot, best, append(says("one", "one"),
		madeTurn{prompt: "tool", text: "Running it. The tool has answered."}, madeTurn{prompt: "fail", fails: "model refused"})},
	// Its tasks begin with a filler.
	{mastra, inJS("mastra-1.71.0"), atRoot, best, talk},
	// A status message that is a text, the answer behind the last state, another context for each
	// message, and no tasks/cancel for what it works on.
	{reactive, inJS("reactive-0.9.0"), atRoot, best, append(talk[:4:4], madeTurn{prompt: "fail", fails: "agent: model refused"}, madeTurn{prompt: "slow", cancel: true})},
}

// inGo is an agent of the module frameworks.
func inGo(name string) func(*testing.T) string {
	return func(t *testing.T) string { return serve(t, buildIn(t, "frameworks", "./"+name)) }
}

// inOwnModule is an agent of a module with many dependencies.
func inOwnModule(module, name string) func(*testing.T) string {
	return func(t *testing.T) string {
		if testing.Short() {
			t.Skip("a hundred modules: not with -short")
		}
		return serve(t, buildIn(t, module, "./"+name))
	}
}

// inJS installs and serves an agent of frameworks/js, made with a framework of up to 170 MB.
func inJS(framework string) func(*testing.T) string {
	return func(t *testing.T) string {
		if testing.Short() {
			t.Skip("up to 170 MB: not with -short")
		}
		needNode(t, 20)
		name, _, _ := strings.Cut(framework, "-")
		file := filepath.Join("frameworks", "js", name)
		return serve(t, "node", file+".mjs", installNPM(t, framework, file+".json"))
	}
}

// Each framework's agent has its conversation in the editor, its first turn in a shell, too.
// doctor finds what is wrong with it, and trace check nothing that is wrong with us.
func TestFrameworks(t *testing.T) {
	for _, a := range madeAgents {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			url := a.start(t)
			diagnose(t, a.name, url+a.paths[0])
			for _, path := range a.paths {
				for _, version := range a.versions {
					t.Run(path+" "+version, func(t *testing.T) { a.converse(t, "--agent", url+path, "--a2a-version", version) })
				}
			}
		})
	}
}

func (a *madeAgent) converse(t *testing.T, args ...string) {
	t.Parallel()
	trace := filepath.Join(t.TempDir(), "trace.jsonl")
	e := open(t, append(args, "--trace", trace)...)
	session := e.NewSession(t.TempDir())
	for _, turn := range a.turns {
		turn.take(t, e, session)
	}
	e.Close()
	notAccused(t, trace)
	first := a.turns[0]
	out := mustGet(exec.Command(binary, append(args, "send", first.prompt)...).Output())(t)
	equal(t, string(out), first.text+"\n")
}

const otherContext = "[The agent begins another conversation, or another task: it may not know what was said before.]\n\n"

func (w *madeTurn) take(t *testing.T, e *Editor, session string) {
	t.Helper()
	e.SetPolicy(w.policy)
	if w.policy == nil {
		e.SetPolicy(Allow)
	}
	turn := e.Prompt(session, w.prompt)
	if w.cancel {
		e.Cancel(session)
		turn.End("cancelled")
		return
	}
	o := turn.Wait()
	got := strings.ReplaceAll(strings.ReplaceAll(o.Text, otherContext, ""), "\n\n", " ") // paragraphs are messages
	part, some := strings.CutPrefix(w.text, "...")
	switch {
	case w.fails != "" && (o.Code == "" || !strings.Contains(o.Details, w.fails)), w.fails == "" && o.StopReason != "end_turn":
		t.Errorf("%s: %s: %s", w.prompt, o.summary(), o.Details)
	case w.fails == "" && !some && got != w.text, !strings.Contains(got, part) && w.fails == "":
		t.Errorf("%s: the agent says %q, want %q", w.prompt, got, w.text)
	case strings.TrimSpace(o.Thoughts) != w.thoughts && w.thoughts != "":
		t.Errorf("%s: the thoughts are %q", w.prompt, o.Thoughts)
	case len(o.Asked) > 0 != (w.asks != "") || len(o.Asked) > 1 || w.asks != "" && o.Asked[0].Title != w.asks:
		t.Errorf("%s: asked %d times: %s", w.prompt, len(o.Asked), o.summary())
	case w.call != "" && (len(o.Calls) != 1 || o.Calls[0].Status != w.call || !strings.Contains(o.Calls[0].Output(), w.output)):
		t.Errorf("%s: the calls are %s", w.prompt, o.summary())
	}
}

// notAccused wants a trace in which nothing of the bridge's is wrong.
func notAccused(t *testing.T, trace string) {
	t.Helper()
	out, _ := exec.Command(binary, "trace", "check", trace).Output() // its exit status is about the agent
	for line := range strings.Lines(string(out)) {
		equal(t, strings.Contains(line, ": bridge: "), false, line)
	}
	if _, err := os.Stat(trace); err != nil || len(out) == 0 {
		t.Errorf("no trace was checked: %v", err)
	}
}

// builds has each program that was built, by module and name: a link takes seconds.
var builds sync.Map

// buildIn builds a program of a nested module, once for all tests.
func buildIn(t *testing.T, module, name string) string {
	t.Helper()
	once, _ := builds.LoadOrStore(module+" "+name, sync.OnceValues(func() (string, error) {
		file := filepath.Join(programs, strings.NewReplacer("/", "-", ".", "").Replace(module+name))
		build := exec.Command("go", "build", "-o", file, name)
		build.Dir = module
		if out, err := build.CombinedOutput(); err != nil {
			return "", fmt.Errorf("building %s of %s: %v\n%s", name, module, err, out)
		}
		return file, nil
	}))
	return mustGet(once.(func() (string, error))())(t)
}

// knownFindings are the rows of frameworks/findings.txt.
func knownFindings(t *testing.T) (rows [][]string) {
	for line := range strings.Lines(string(readFile(t, filepath.Join("frameworks", "findings.txt")))) {
		if line[0] != '#' {
			rows = append(rows, strings.Split(strings.TrimSpace(line), "\t"))
		}
	}
	return rows
}

const adkGo, adkJS, trpc, mastra, reactive, strands = "ADK for Go", "ADK for JavaScript", "trpc-a2a-go", "Mastra", "Reactive Agents", "Strands"
const inference = "inference-gateway"

// doctor --prompt finds nothing at the demo, and at agents of the SDKs, but knownFindings and each
// of these. (TestFrameworks asks for the others.)
func TestDoctorSDKs(t *testing.T) {
	for _, name := range []string{"demo", goV2, goV03, jsV1, jsV03} {
		t.Run(name, func(t *testing.T) { diagnose(t, name, sdkServer(t, name)) })
	}
}

// diagnose holds what doctor finds at an agent against knownFindings.
func diagnose(t *testing.T, name, url string) {
	t.Helper()
	out, err := exec.Command(binary, "--agent", url, "--workspace", t.TempDir(), "doctor", "-o", "json", "--prompt", "hello").Output()
	var report struct {
		Findings []struct{ Weight, What, Text string }
	}
	if jsonErr := json.Unmarshal(out, &report); jsonErr != nil {
		t.Fatalf("%v, %v: %s", err, jsonErr, out)
	}
	seen := map[string]bool{}
	for _, f := range report.Findings {
		known := false
		for _, k := range knownFindings(t) {
			if (k[0] == "*" || k[0] == name) && k[1] == f.Weight && strings.HasPrefix(f.Text, k[2]) {
				known, seen[k[2]] = true, true
			}
		}
		equal(t, known, true, f.Weight, f.What, f.Text)
	}
	for _, k := range knownFindings(t) {
		if k[0] == name && !seen[k[2]] {
			t.Errorf("it is not found any more that %s: %s", k[3], k[2])
		}
	}
}
