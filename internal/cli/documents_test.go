package cli

import (
	"encoding/json"
	"net/url"
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
				if !regexp.MustCompile(`(?m)^func ` + name + `\w*\(`).MatchString(peers) {
					t.Errorf("%s: there is no test %s", agent, name)
				}
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
	if rows < 10 {
		t.Errorf("the table has %d rows", rows)
	}
	for _, file := range recordings {
		found := false
		for name := range named {
			found = found || strings.HasPrefix(filepath.Base(file), name+"-")
		}
		if !found {
			t.Errorf("%s is of no agent in the table", file)
		}
	}
}

var registryDir = filepath.Join("..", "..", "packaging", "acp-registry")

// A registryEntry is what the ACP registry knows of an agent (its agent.schema.json).
type registryEntry struct {
	ID, Name, Version, Description string
	Repository                     string
	Authors                        []string
	LicenseURL                     string `json:"license_url"`
	License                        string
	Distribution                   struct {
		Binary map[string]struct{ Archive, Cmd string }
	}
}

// TestRegistryEntry: the entry has what the registry's schema and check ask for, and
// nothing that they do not know.
func TestRegistryEntry(t *testing.T) {
	text := must.Get(os.ReadFile(filepath.Join(registryDir, "agent.json")))(t)
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	var e registryEntry
	must.Do(t, d.Decode(&e))
	if !regexp.MustCompile(`^[a-z][a-z0-9-]*$`).MatchString(e.ID) || e.Name == "" || e.Description == "" {
		t.Errorf("id %q, name %q, description %q", e.ID, e.Name, e.Description)
	}
	// The folder that packaging/acp-registry/README.md names is its ID.
	if readme, err := os.ReadFile(filepath.Join(registryDir, "README.md")); err != nil || !strings.Contains(string(readme), "into the folder `"+e.ID+"` of") {
		t.Errorf("the ID %s is not the folder's name: %v", e.ID, err)
	}
	for _, at := range []string{e.Repository, e.LicenseURL} {
		if u, err := url.Parse(at); err != nil || u.Scheme != "https" || u.Host == "" {
			t.Errorf("%q is no https URL", at)
		}
	}
	if len(e.Authors) == 0 || e.License == "" {
		t.Errorf("authors %q, license %q", e.Authors, e.License)
	}
	if !regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+$`).MatchString(e.Version) {
		t.Errorf("version %q is not x.y.z", e.Version)
	}
	if _, err := os.Stat(filepath.Join("..", "..", "LICENSE")); err == nil && e.LicenseURL == "" {
		t.Error("license_url is missing, and there is a LICENSE")
	}
	platforms := []string{"darwin-aarch64", "darwin-x86_64", "linux-aarch64", "linux-x86_64", "windows-aarch64", "windows-x86_64"}
	if len(e.Distribution.Binary) != len(platforms) {
		t.Errorf("%d platforms, want %d", len(e.Distribution.Binary), len(platforms))
	}
	for platform, b := range e.Distribution.Binary {
		u, err := url.Parse(b.Archive)
		switch {
		case !slices.Contains(platforms, platform):
			t.Errorf("%s is no platform of the registry's", platform)
		case err != nil || u.Scheme != "https" || u.Host == "":
			t.Errorf("%s: %q is no https URL", platform, b.Archive)
		case strings.Count(b.Archive, e.Version) != 2 || strings.Contains(b.Archive, "latest"):
			t.Errorf("%s: %s does not name version %s as its tag and in the file", platform, b.Archive, e.Version)
		case !strings.HasSuffix(b.Archive, ".tar.gz") && !strings.HasSuffix(b.Archive, ".zip"):
			t.Errorf("%s: editors do not unpack %s", platform, b.Archive)
		case b.Cmd != "./a2astdio" && b.Cmd != "./a2astdio.exe" || strings.HasPrefix(platform, "windows") != strings.HasSuffix(b.Cmd, ".exe"):
			t.Errorf("%s: cmd %q", platform, b.Cmd)
		}
	}
}
