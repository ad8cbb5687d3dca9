package config

import (
	"slices"
	"strings"
	"testing"
)

// FuzzWorkspace: whatever a cloned repository has, it chooses an agent of the user's and
// a mode that is no laxer, or nothing.
func FuzzWorkspace(f *testing.F) {
	for _, seed := range []string{"agent='work'\nmode='default'", "mode='yolo'", "[agents.work]\nurl='u:'", "agents.work.command='x'", "mode.x='default'",
		"trace=~/.bashrc", "\xff", "[[agent]]", "agent=\"\"\"\nwork\"\"\"", "'' = 1", "agent = 'work'\n[mode]"} {
		f.Add(seed)
	}
	const user = "mode='accept-edits'\nagent='other'\n[agents.work]\nurl='u:work'\nmode='yolo'\n[agents.other]\nurl='u:other'\n"
	f.Fuzz(func(t *testing.T, text string) {
		opts := files(t, user, text)
		c, err := Load(opts)
		if err != nil {
			for line := range strings.Lines(err.Error()) {
				if !strings.HasPrefix(line, opts.Workspace) && !strings.HasPrefix(line, "and ") {
					t.Fatalf("%q: it is not said which file: %v", text, err)
				}
			}
			return
		}
		if !slices.Contains([]string{"work", "other"}, c.Agent) || laxness(c.Value("mode").Text) > laxness("accept-edits") {
			t.Fatalf("%q: %s, %+v", text, c.Agent, c.Value("mode"))
		}
		for _, v := range c.values {
			if v.From.Workspace && v.Key.Name != "mode" {
				t.Fatalf("%q: it has set %s", text, v.Key.Name)
			}
		}
	})
}

// TestKeys: each key has all its members, and its example is taken.
func TestKeys(t *testing.T) {
	for k := range Keys() {
		if k.Help == "" || k.Example == "" || (k.Kind == KindWord) != (k.Words != nil) {
			t.Errorf("%s is not whole: %+v", k.Name, k)
		}
		text := k.Name + " = " + k.Example + "\n[agents.work]\nurl='u:'\n"
		if k.In&Top == 0 {
			text = "[agents.work]\n" + k.Name + " = " + k.Example + "\n"
			if k.Name != "url" && k.Name != "command" {
				text += "url = 'u:'\n"
			}
		}
		opts := files(t, text, "")
		opts.Agent = "work"
		if c, err := Load(opts); err != nil || c.Value(k.Name) == nil {
			t.Errorf("%s: %v", k.Name, err)
		}
	}
}

// TestCredentialsAreOfAnAgent: credentials must not be in a workspace's file, whose author may not be
// the user; nor at the top, for all agents.
func TestCredentialsAreOfAnAgent(t *testing.T) {
	for k := range Keys() {
		for _, prefix := range []string{"token", "credential", "oauth", "client-", "insecure"} {
			if strings.HasPrefix(k.Name, prefix) && k.In != Agent {
				t.Errorf("%s may stand elsewhere than with an agent", k.Name)
			}
		}
		if k.Name == "ca-file" && k.In&Workspace != 0 {
			t.Error("a workspace may say whom to trust")
		}
	}
}
