package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

// block returns the first block of README.md in a language that contains a text.
func block(t *testing.T, language, containing string) string {
	t.Helper()
	readme := must.Get(os.ReadFile(filepath.Join("..", "..", "README.md")))(t)
	for _, m := range regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```").FindAllStringSubmatch(string(readme), -1) {
		if m[1] == language && strings.Contains(m[2], containing) {
			return m[2]
		}
	}
	t.Fatalf("README.md has no block in %q with %q", language, containing)
	return ""
}

// TestReadmeEditor: the command in README.md serves an editor without any settings.
func TestReadmeEditor(t *testing.T) {
	for _, name := range []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "LocalAppData", "AppData"} {
		t.Setenv(name, t.TempDir())
	}
	var settings struct {
		Servers map[string]struct {
			Type, Command string
			Args          []string
			Env           map[string]string
		} `json:"agent_servers"`
	}
	must.Do(t, json.Unmarshal([]byte(block(t, "json", "agent_servers")), &settings))
	agent := settings.Servers["My agent"]
	if agent.Type != "custom" || agent.Command != "a2astdio" || len(agent.Env) > 0 {
		t.Errorf("%+v", agent)
	}
	ask := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}` + "\n"
	if status, stdout, stderr := runMain(ask, agent.Args...); status != 0 || stderr != "" || !strings.Contains(stdout, `"protocolVersion":1`) {
		t.Errorf("status %d, %s, %s", status, stdout, stderr)
	}
}

// shownCommand is a call of ours in a document, alone in its line or behind a prompt, a
// pipe or a variable's value.
var shownCommand = regexp.MustCompile(`(?m)^(?: *|    |.*\| |[A-Z_0-9]+=\S+ )(?:\$ )?a2astdio ([^\n]*)$`)

// usageSection is not a command line, but its form.
var usageSection = regexp.MustCompile(`(?ms)^Usage:\n.*?\n\n`)

// TestShownCommands: the commands and options that documents and help show exist.
func TestShownCommands(t *testing.T) {
	files := must.Get(filepath.Glob(filepath.Join("..", "..", "docs", "*.md")))(t)
	texts := map[string]string{}
	for _, file := range append(files, filepath.Join("..", "..", "README.md")) {
		text := must.Get(os.ReadFile(file))(t)
		texts[file] = string(text)
	}
	eachCommand(func(words []string, _ *cli.Command, _ []frame.Option) {
		texts["the help of "+strings.Join(words, " ")] = helpOf(t, words)
	})
	found := 0
	for where, text := range texts {
		text = usageSection.ReplaceAllString(text, "")
		for _, m := range shownCommand.FindAllStringSubmatch(text, -1) {
			line := m[1]
			for _, end := range []string{" #", " |", " >", " <", " &", " ;", ";", " -- ", " 2>"} {
				line, _, _ = strings.Cut(line, end)
			}
			found++
			if status, _, stderr := runMain("", append(wordsOf(line), "--help")...); status != 0 {
				t.Errorf("%s: a2astdio %s: %s", where, line, stderr)
			}
		}
	}
	if found < 150 {
		t.Errorf("%d commands were found", found)
	}
}

// wordsOf are the words of a line, roughly as a shell has them.
func wordsOf(line string) (words []string) {
	for _, m := range regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^\s'"])+`).FindAllString(line, -1) {
		words = append(words, strings.NewReplacer(`"`, "", `'`, "").Replace(m))
	}
	return words
}
