package cli

import (
	"io"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDialectsTwice: each agent repeats its first task in a second one, with the same
// IDs of artifacts, messages and calls, which are unique only in their task. The user
// sees everything twice.
func TestDialectsTwice(t *testing.T) {
	files := conversations(t)
	played := 0
	for _, file := range files {
		r := readRecording(t, file)
		all := slices.Concat(r.turns...)
		if len(r.prompts) != 1 || len(r.says) != 1 || r.says[0] == "" || slices.Contains(all, "wait") || !strings.Contains(strings.Join(all, ""), `"t1"`) {
			continue
		}
		played++
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			twice := *r
			twice.prompts, twice.answers = slices.Concat(r.prompts, r.prompts), slices.Concat(r.answers, r.answers)
			twice.turns = slices.Clone(r.turns)
			for _, lines := range r.turns {
				var other []string
				for _, line := range lines {
					other = append(other, strings.NewReplacer(`"t1"`, `"t7"`, `"t1:`, `"t7:`).Replace(line))
				}
				twice.turns = append(twice.turns, other)
			}
			server := httptest.NewServer(&recordedAgent{recording: &twice})
			defer server.Close()
			want := oneSpace(r.says[0] + " " + r.says[0])
			if text := oneSpace(playACP(t, &twice, server.URL, io.Discard)); text != want {
				t.Errorf("ACP shows\n %q, the agent said\n %q", text, want)
			}
		})
	}
	if played < 20 {
		t.Errorf("only %d recordings can be played twice", played)
	}
}
