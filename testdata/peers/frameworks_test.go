package peers

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Agents of Google's ADK for Go, in both modes of its server and both versions of A2A:
// each word once, thoughts as thoughts, calls as calls.
func TestADKGo(t *testing.T) {
	t.Parallel()
	url := serve(t, buildIn(t, "frameworks", "adkgo"))
	for _, mode := range []string{"/run", "/event"} {
		for _, version := range []string{"1.0", "0.3"} {
			t.Run(mode[1:]+" "+version, func(t *testing.T) {
				t.Parallel()
				e := open(t, "--agent", url+mode, "--a2a-version", version)
				session := e.NewSession(t.TempDir())
				for _, word := range []string{"one", "one", "two"} { // repeated text is shown twice
					o := e.Prompt(session, word).End("end_turn")
					wantText(t, o, "You said "+word+", which is the answer.")
				}
				o := e.Prompt(session, "think").End("end_turn")
				wantText(t, o, "Hello there, this is the answer.")
				if strings.TrimSpace(o.Thoughts) != "I should greet." {
					t.Errorf("the thoughts are %q", o.Thoughts)
				}
				o = e.Prompt(session, "tool").End("end_turn")
				wantText(t, o, "Looking it up. The tool weather said: 5 degrees in Oslo.")
				if len(o.Calls) != 1 || o.Calls[0].Status != "completed" || !strings.Contains(o.Calls[0].Output(), "5 degrees in Oslo") {
					t.Errorf("the calls are %s", o.summary())
				}
				o = e.Prompt(session, "fail").Wait()
				if o.Code == "" || !strings.Contains(o.Details, "model quota exceeded") {
					t.Errorf("the failure is %s: %s", o.summary(), o.Details)
				}
				e.Close()
			})
		}
	}
}

// The editor asks for ADK's confirmation, and the agent does what the user picks.
func TestADKGoConfirmation(t *testing.T) {
	t.Parallel()
	url := serve(t, buildIn(t, "frameworks", "adkgo"))
	for _, mode := range []string{"/run", "/event"} {
		for _, answer := range []struct {
			name    string
			policy  Policy
			says    string
			becomes string
		}{{"yes", Allow, "wiped build", "completed"}, {"no", Reject, "rejected", "failed"}, {"dismissed", Dismiss, "rejected", "failed"}} {
			t.Run(mode[1:]+" "+answer.name, func(t *testing.T) {
				t.Parallel()
				e := open(t, "--agent", url+mode)
				e.SetPolicy(answer.policy)
				o := e.Prompt(e.NewSession(t.TempDir()), "confirm").End("end_turn")
				if len(o.Asked) != 1 || o.Asked[0].Title != "wipe: build" {
					t.Fatalf("asked %d times: %s", len(o.Asked), o.summary())
				}
				if !strings.Contains(o.Text, "The tool wipe said: ") || !strings.Contains(o.Text, answer.says) {
					t.Errorf("the agent says %q, want %q in it", o.Text, answer.says)
				}
				if len(o.Calls) != 1 || o.Calls[0].Status != answer.becomes {
					t.Errorf("the calls: %s", o.summary())
				}
				e.Close()
			})
		}
	}
}

// wantText compares an agent's text, ignoring paragraphs.
func wantText(t *testing.T, o *Outcome, want string) {
	t.Helper()
	if got := strings.Fields(o.Text); !slices.Equal(got, strings.Fields(want)) {
		t.Errorf("the agent says %q, want %q", o.Text, want)
	}
}

// buildIn builds a server of a nested module.
func buildIn(t *testing.T, module, name string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	build := exec.Command("go", "build", "-o", file, "./"+name)
	build.Dir = module
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building %s of %s: %v\n%s", name, module, err, out)
	}
	return file
}

// jsAgent installs and serves an agent of frameworks/js, made with a framework of up to 170 MB.
func jsAgent(t *testing.T, framework string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("up to 170 MB: not with -short")
	}
	needNode(t, 20)
	name, _, _ := strings.Cut(framework, "-")
	file := filepath.Join("frameworks", "js", name)
	return serve(t, "node", file+".mjs", installNPM(t, framework, file+".json"))
}

// trpc-a2a-go: three prompts in one session; the second answer repeats the first. Its
// artifact has the same ID in each task.
func TestTRPC(t *testing.T) {
	t.Parallel()
	e := open(t, "--agent", serve(t, buildIn(t, "frameworks", "trpc")))
	session := e.NewSession(t.TempDir())
	for _, prompt := range []string{"yes", "yes", "yes and more"} {
		wantText(t, e.Prompt(session, prompt).End("end_turn"), "You said "+prompt+".")
	}
	e.Close()
}

// Strands for TypeScript, whose tools are not on the wire.
func TestStrands(t *testing.T) {
	t.Parallel()
	e := open(t, "--agent", jsAgent(t, "strands-1.19.0"))
	session := e.NewSession(t.TempDir())
	for _, word := range []string{"one", "one"} {
		wantText(t, e.Prompt(session, word).End("end_turn"), "You said "+word+", which is the answer.")
	}
	wantText(t, e.Prompt(session, "tool").End("end_turn"), "Running it. The tool has answered.")
	if o := e.Prompt(session, "fail").Wait(); o.Code == "" || !strings.Contains(o.Details, "model refused") {
		t.Errorf("the failure is %s: %s", o.summary(), o.Details)
	}
	e.Close()
}

// Mastra, whose tasks begin with a filler.
func TestMastra(t *testing.T) {
	t.Parallel()
	trace := filepath.Join(t.TempDir(), "trace.jsonl")
	e := open(t, "--agent", jsAgent(t, "mastra-1.71.0"), "--trace", trace)
	talk(t, e, e.NewSession(t.TempDir()))
	e.Close()
	notAccused(t, trace)
}
