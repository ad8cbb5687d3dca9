package config

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

// FuzzLoad: what is accepted of a user's file is TOML, and has the values that a full
// TOML decoder finds. A refusal names a line.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		manyAgents(2), "agent='w'\n[agents]\nw={url='u:',headers={A='b'}}", "[agents.w]\nurl='u:'\n[agents.w.headers]\nA='b'\n[agents.v]\ncommand='x'",
		"agents.w.url='u:'\nagents.w.headers.A='b'", "trace=~/.bashrc", "[agents.w.agent-settings]\na.b=1\na.c=2", "\xff", "[[agents]]", "agent=\"\"\"\nx\"\"\"",
		"[agents.w]\nurl='u:'\nheaders={A='b'}\n[agents.w.headers]\nB='c'", "agents=1", "[agents]\n[agents]", "'' = 1", "[agents.'']",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := write(t, t.TempDir()+"/"+FileName, text)
		c, list, err := List(&Options{File: path})
		if err != nil {
			for line := range strings.Lines(err.Error()) {
				if strings.HasPrefix(line, path) {
					return
				}
			}
			t.Fatalf("%q: no line of the file: %v", text, err)
		}
		var want struct {
			Agent  *string
			Mode   *string
			Agents map[string]map[string]any
		}
		if err := toml.Unmarshal([]byte(text), &want); err != nil {
			t.Fatalf("%q is taken, and is no TOML: %v", text, err)
		}
		if v := find(c.values, "mode"); (v == nil) != (want.Mode == nil) || v != nil && v.Text != *want.Mode {
			t.Fatalf("%q: mode %v", text, v)
		}
		if len(list) != len(want.Agents) {
			t.Fatalf("%q: %d agents, not %d", text, len(list), len(want.Agents))
		}
		for _, a := range list {
			sameAgent(t, text, &a, want.Agents[a.Name])
		}
	})
}

func sameAgent(t *testing.T, text string, got *Named, want map[string]any) {
	for i := range keys {
		if keys[i].In&Agent == 0 || keys[i].In&Top != 0 {
			continue
		}
		v, w := got.Value(keys[i].Name), want[keys[i].Name]
		if (v == nil) != (w == nil) {
			t.Fatalf("%q: %s is %v, want %v", text, keys[i].Name, v, w)
		}
		if v == nil {
			continue
		}
		var has any = v.Text
		switch keys[i].Kind {
		case KindList:
			has = v.List
		case KindHeaders:
			headers := map[string]string{}
			for _, h := range v.Headers {
				headers[h.Name] = h.Value
			}
			has = headers
		case KindObject:
			has = json.RawMessage(v.Text)
		case KindBool:
			has = v.Text == "true"
		case KindLocation:
			if s, _ := w.(string); s != demo && !strings.Contains(s, "://") {
				continue // made absolute
			}
		}
		a, errA := json.Marshal(has)
		b, errB := json.Marshal(w)
		if errA != nil || errB != nil || string(a) != string(b) && !dates(text) && string(a) != "null" {
			t.Fatalf("%q: %s is %s (%v), want %s (%v)", text, keys[i].Name, a, errA, b, errB)
		}
	}
}

// dates: TOML's dates have no one spelling in JSON, nor has an empty list.
func dates(text string) bool { return strings.Contains(text, "agent-settings") }

// TestNearest: a typing error leads back to its key, another word leads nowhere.
func TestNearest(t *testing.T) {
	var names []string
	for _, k := range Keys() {
		names = append(names, k.Name)
	}
	for word, want := range map[string]string{
		"tmieout": "timeout", "time-out": "timeout", "idle_timeout": "idle-timeout", "header": "headers", "urls": "url", "uri": "url",
		"extentions": "extensions", "forward_mcp": "forward-mcp", "x": "", "password": "", "comand": "command", "loglevel": "log-level", "": "",
		strings.Repeat("timeout", 1000): "",
	} {
		if got := nearest(word, names); got != want {
			t.Errorf("%.20q: %q, want %q", word, got, want)
		}
	}
}

// TestKeys: each key has all its members, and the parser accepts its example.
func TestKeys(t *testing.T) {
	for _, k := range Keys() {
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
		if _, _, err := List(files(t, text, "")); err != nil {
			t.Errorf("%s: %v", k.Name, err)
		}
	}
	if _, err := os.Stat("key.go"); err != nil || len(keys) > 64 {
		t.Error("which keys are set is kept in 64 bits")
	}
}
