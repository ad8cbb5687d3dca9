package peers

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// geminiSettings turn IDE mode on, and questions and telemetry off.
const geminiSettings = `{"ide":{"enabled":true,"hasSeenNudge":true},"security":{"auth":{"selectedType":"gemini-api-key"},"folderTrust":{"enabled":false}},
"general":{"enableAutoUpdate":false,"enableAutoUpdateNotification":false},"privacy":{"usageStatisticsEnabled":false},"ui":{"hideTips":true,"hideBanner":true}}`

// openGemini starts Gemini CLI in the workspace of p.
func openGemini(t *testing.T, p *companionPlaces, started *startedParams) *terminal {
	t.Helper()
	g := openTerminal(t, p, started, prepareGemini(t, p))
	g.see("Type your message")
	return g
}

// request waits for a request to the model that contains a text.
func (t *terminal) request(text string) string {
	t.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-time.After(50 * time.Millisecond) {
		files, _ := filepath.Glob(filepath.Join(t.dump, "req-*.json"))
		for _, f := range files {
			var all []string
			b := mustGet(os.ReadFile(f))(t.t)
			var request struct {
				Contents []struct{ Parts []struct{ Text string } }
			}
			_ = json.Unmarshal(b, &request) // it may be half written
			for _, c := range request.Contents {
				for _, p := range c.Parts {
					all = append(all, p.Text)
				}
			}
			if s := strings.Join(all, "\n"); strings.Contains(s, text) {
				return s
			}
		}
	}
	t.t.Fatalf("the model was not told %q", text)
	return ""
}

// The real Gemini CLI finds the companion, tells its model the open files, and lets the
// editor decide about its edits.
func TestCompanionGemini(t *testing.T) {
	t.Parallel()
	p := newPlaces(t)
	file := filepath.Join(p.workspace, "edit.txt")
	write(t, file, "alpha\nbeta\n")
	e := openCompanion(t, p)
	e.show(file, "beta is selected")
	g := openGemini(t, p, &e.started)

	g.see("1 open file")
	g.say("/ide status")
	g.see("Connected to Test Editor")

	// The open file is on the screen, and in the request.
	g.say(script("hello", p.workspace))
	g.see("from the fake model.")
	text := g.request("[[hello]]")
	contains(t, "the request", text, file)
	contains(t, "the request", text, "beta is selected")

	// The user changes an edit and accepts it in the editor: the file has the user's text.
	g.say(script("replace", p.workspace))
	d := wantDiff(t, "opened", e.opened)
	if d.FilePath != file || d.NewContent != "ALPHA\nbeta\n" {
		t.Errorf("the diff is %+v", d)
	}
	wantFile(t, "alpha\nbeta\n", file)
	e.accept(d, "ALPHA\nbeta\nby the user\n")
	g.see("Edited edit.txt.")
	wantFile(t, "ALPHA\nbeta\nby the user\n", file)

	// The next prompt has the new selection.
	other := filepath.Join(p.workspace, "other.txt")
	write(t, other, "other\n")
	e.show(file, "now this", other)
	g.see("2 open files")
	g.say(script("write", p.workspace))
	g.request("now this")
	d = wantDiff(t, "opened", e.opened)
	// A rejected edit is not written, and ends the turn.
	e.reject(d)
	g.see("Request cancelled.")
	g.see("Type your message")
	wantNoFile(t, d.FilePath)

	// An edit is answered in the terminal: the editor's diff is closed, and its text is
	// written.
	g.say(script("write", p.workspace))
	d = wantDiff(t, "opened", e.opened)
	g.see("Allow once")
	<-time.After(500 * time.Millisecond)
	g.press("\r")
	wantDiff(t, "closed", e.closed)
	g.see("Created hello.txt.")
	wantFile(t, "hello world\nleft\n", d.FilePath)

	// A killed CLI leaves no diff in the editor.
	write(t, file, "alpha\n")
	g.say(script("replace", p.workspace))
	wantDiff(t, "opened", e.opened)
	g.kill()
	wantDiff(t, "closed", e.closed)
}
