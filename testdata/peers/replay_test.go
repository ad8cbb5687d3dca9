package peers

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// replaying serves the agent of a trace until the test ends, and returns its URL.
func replaying(t *testing.T, trace string, more ...string) (url string, notes *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command(binary, append(append([]string{"trace", "replay", "--listen", "127.0.0.1:0"}, more...), trace)...)
	notes = new(bytes.Buffer)
	cmd.Stderr = notes
	t.Cleanup(func() { // when it has ended
		if t.Failed() {
			t.Logf("trace replay: %s", notes)
		}
	})
	return serving(t, cmd), notes
}

// The Gemini server's long conversation was recorded. The replayed agent gives an
// editor the same conversation, at its own pace and without pauses.
func TestGeminiReplay(t *testing.T) {
	t.Parallel()
	trace, dir := filepath.Join(t.TempDir(), "t.jsonl"), workspace(t)
	e := open(t, "--agent", gemini(t), "--trace", trace)
	turn := e.Prompt(e.NewSession(dir), script("multi", dir))
	want, asked := turn.story(), len(turn.End("end_turn").Asked)
	e.Close()
	for _, how := range [][]string{nil, {"--speed", "max"}} {
		name := strings.Join(how, " ")
		url, _ := replaying(t, trace, how...)
		again := open(t, "--agent", url)
		turn := again.Prompt(again.NewSession(dir), script("multi", dir))
		wantStory(t, withoutIDs(turn.story()), withoutIDs(want))
		if n := len(turn.End("end_turn").Asked); n != asked || n == 0 {
			t.Errorf("%s: %d questions, and %d were recorded", name, n, asked)
		}
		again.Close()
	}
}

var anyID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// withoutIDs replaces IDs that differ each time, and keeps the turn's lines.
func withoutIDs(lines []string) []string {
	var all []string
	for _, l := range lines {
		if strings.Contains(l, `"available_commands_update"`) {
			continue // it comes at any time
		}
		all = append(all, anyID.ReplaceAllString(l, "ID"))
	}
	return all
}
