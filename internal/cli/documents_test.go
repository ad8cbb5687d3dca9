package cli

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

// TestReadmeEditor: the command in README.md serves an editor without any settings.
func TestReadmeEditor(t *testing.T) {
	ownPlaces(t)
	var settings struct {
		Servers map[string]struct {
			Type, Command string
			Args          []string
			Env           map[string]string
		} `json:"agent_servers"`
	}
	readme := string(must.Get(os.ReadFile(filepath.Join("..", "..", "README.md")))(t))
	block := regexp.MustCompile("(?ms)^```json\n([^`]*agent_servers.*?)^```").FindStringSubmatch(readme)
	must.Do(t, json.Unmarshal([]byte(block[1]), &settings))
	agent := settings.Servers["My agent"]
	must.True(t, agent.Type == "custom" && agent.Command == "a2astdio" && len(agent.Env) == 0, agent)
	ask := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}` + "\n"
	status, stdout, stderr := runMain(ask, agent.Args...)
	must.True(t, status == 0 && stderr == "" && strings.Contains(stdout, `"protocolVersion":1`), status, stdout, stderr)
}

// shownCommand is a call of ours in a document, alone in its line or behind a prompt, a
// pipe or a variable's value.
var shownCommand = regexp.MustCompile(`(?m)^(?: *|    |.*\| |[A-Z_0-9]+=\S+ )(?:\$ )?a2astdio ([^\n]*)$`)

// notShown is no command line in a help, but prose, or the form of one.
var notShown = regexp.MustCompile(`(?ms)^Usage:\n.*?\n\n|^a2astdio [^\n]*|[^\n]*\bCOMMAND\b[^\n]*`)

// block is of code.
var block = regexp.MustCompile("(?ms)^ *```.*?^ *```")

// TestShownCommands: the commands and options that documents and help show exist.
func TestShownCommands(t *testing.T) {
	files := must.Get(filepath.Glob(filepath.Join("..", "..", "docs", "*.md")))(t)
	texts := map[string]string{}
	for _, file := range append(files, filepath.Join("..", "..", "README.md")) {
		text := must.Get(os.ReadFile(file))(t)
		texts[file] = strings.Join(block.FindAllString(string(text), -1), "\n")
	}
	eachCommand(func(words []string, _ *cli.Command, _ []*frame.Option) {
		texts["the help of "+strings.Join(words, " ")] = notShown.ReplaceAllString(helpOf(t, words), "")
	})
	found := 0
	for where, text := range texts {
		for _, m := range shownCommand.FindAllStringSubmatch(text, -1) {
			line := m[1]
			for _, end := range []string{"   ", " #", " |", " >", " <", " &", " ;", ";", " -- ", " 2>"} {
				line, _, _ = strings.Cut(line, end)
			}
			found++
			status, _, stderr := runMain("", append(wordsOf(line), "--help")...)
			must.Equal(t, status, 0, where, line, stderr)
		}
	}
	must.True(t, found >= 100, found, "are found")
}

// wordsOf are the words of a line, roughly as a shell has them.
func wordsOf(line string) (words []string) {
	for _, m := range regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^\s'"])+`).FindAllString(line, -1) {
		words = append(words, strings.NewReplacer(`"`, "", `'`, "").Replace(m))
	}
	return words
}

// TestAgentsTable: docs/agents.md states the evidence for each agent. The tests and
// recordings that it names exist, and are of the stated kind. No recording is of an
// agent that it does not name.
func TestAgentsTable(t *testing.T) {
	doc := must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "agents.md")))(t)
	recordings, err := filepath.Glob(filepath.Join("..", "..", "testdata", "recordings", "dialects", "*.txt"))
	if err != nil || len(recordings) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	peers := ""
	files, _ := filepath.Glob(filepath.Join("..", "..", "testdata", "peers", "*_test.go"))
	for _, file := range files {
		b := must.Get(os.ReadFile(file))(t)
		peers += string(b)
	}
	named := map[string]bool{}
	rows := 0
	for line := range strings.Lines(string(doc)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 6 || strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| agent ") {
			continue
		}
		rows++
		agent, rests := strings.TrimSpace(cells[0]), cells[4]
		interop, recorded := false, false
		for name := range strings.SplitSeq(cells[5], ",") {
			name = strings.TrimSpace(name)
			if strings.HasPrefix(name, "Test") {
				interop = true
				must.Equal(t, regexp.MustCompile(`(?m)^func `+name+`\w*\(`).MatchString(peers), true, agent, "there is no test", name)
				continue
			}
			named[name] = true
			recorded = recorded || slices.ContainsFunc(recordings, func(file string) bool { return strings.HasPrefix(filepath.Base(file), name+"-") })
		}
		is := func(word string) bool { return strings.Contains(rests, word) }
		if is("interop") != interop || is("recorded") != (recorded || strings.HasPrefix(agent, "Gemini")) || !is("interop") && !is("recorded") {
			t.Errorf("%s rests on %q: its tests are %q", agent, rests, cells[5])
		}
	}
	must.Equal(t, rows < 10, false, rows)
	for _, file := range recordings {
		of := func(name string) bool { return strings.HasPrefix(filepath.Base(file), name+"-") }
		must.Equal(t, slices.ContainsFunc(slices.Collect(maps.Keys(named)), of), true, file, "is of no agent in the table")
	}
}
