package cli

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

// eachCommand calls f for each command that there is, a2astdio itself first, with
// the words that call it.
func eachCommand(f func(words []string, c *cli.Command, options []frame.Option)) {
	p := newProgram([]string{frame.ProgramName, "--help"}, nil, nil, nil)
	app := p.App()
	f(nil, &cli.Command{Name: frame.ProgramName}, frame.RootOptions())
	var walk func(words []string, commands []*cli.Command)
	walk = func(words []string, commands []*cli.Command) {
		for _, c := range commands {
			words := append(slices.Clone(words), c.Name)
			f(words, c, p.Options(c))
			walk(words, c.Subcommands)
		}
	}
	walk(nil, app.Commands)
}

// helpOf is the help of a command.
func helpOf(t *testing.T, words []string) string {
	t.Helper()
	status, text, stderr := runMain("", append(slices.Clone(words), "--help")...)
	if status != 0 || stderr != "" {
		t.Fatalf("%v --help: status %d, %s", words, status, stderr)
	}
	return text
}

// TestGeneratedHelp commits the help of a2astdio itself, so that reviews show changes: go generate ./internal/cli writes it.
func TestGeneratedHelp(t *testing.T) {
	must.Golden(t, *update, filepath.Join("..", "..", "testdata", "help.txt"), helpOf(t, nil))
}

// TestHelp: the help of each command says what it does and how it is called, has an
// example with its name, and its exit statuses.
func TestHelp(t *testing.T) {
	eachCommand(func(words []string, c *cli.Command, own []frame.Option) {
		name, text := strings.Join(append([]string{frame.ProgramName}, words...), " "), helpOf(t, words)
		for line := range strings.Lines(text) {
			if len(line) > frame.HelpWidth+1 && !strings.HasPrefix(line, "  a2astdio") {
				t.Errorf("%s: longer than %d: %s", name, frame.HelpWidth, line)
			}
		}
		intro, rest, _ := strings.Cut(text, "\nUsage:\n")
		if len(strings.Split(strings.TrimSpace(intro), "\n\n")) < 2 {
			t.Errorf("the help of %s does not say what it does", name)
		}
		if !strings.Contains(text, "\nExit status:") {
			t.Errorf("the help of %s says nothing of exit statuses", name)
		}
		examples := rest
		if len(words) > 0 {
			_, examples, _ = strings.Cut(rest, "\nExamples:\n")
		}
		for _, o := range own {
			if !strings.Contains(text, "--"+o.Name) && len(words) > 0 {
				t.Errorf("the help of %s says nothing of --%s", name, o.Name)
			}
		}
		called := regexp.QuoteMeta(strings.Join(words, " "))
		if ok, _ := regexp.MatchString(`(?m)^  .*\b`+called, examples); !ok {
			t.Errorf("the help of %s has no example of it", name)
		}
	})
}

// TestHelpTopics: there is no more to learn than there was, a2astdio's own help is short, its topics have each of its options once, and
// what help files include is there.
func TestHelpTopics(t *testing.T) {
	options, commands := 0, 0
	eachCommand(func(words []string, c *cli.Command, own []frame.Option) {
		options += len(own)
		if c.Action != nil && len(c.Subcommands) == 0 {
			commands++
		}
	})
	if options > 121 || commands > 31 {
		t.Errorf("there are %d options and %d commands: which of them would nobody miss?", options, commands)
	}
	if n := strings.Count(helpOf(t, nil), "\n"); n > 60 {
		t.Errorf("a2astdio --help has %d lines: leave more to topics", n)
	}
	all := helpOf(t, []string{"trace"})
	for _, topic := range frame.Topics {
		status, text, stderr := runMain("", "help", topic)
		if status != 0 || stderr != "" || !strings.HasPrefix(text, "a2astdio "+topic+": ") {
			t.Errorf("help %s: status %d, %s%s", topic, status, text, stderr)
		}
		all += text
	}
	for _, o := range frame.RootOptions() {
		if n := len(regexp.MustCompile(`(?m)^  (-\w, )?--`+o.Name+`\b[^-]`).FindAllString(all, -1)); n != 1 {
			t.Errorf("--%s stands %d times in the topics", o.Name, n)
		}
	}
	files := must.Get(fs.Glob(frame.HelpFiles, "help/*.txt"))(t)
	for _, file := range files {
		text := must.Get(frame.HelpFiles.ReadFile(file))(t)
		for _, m := range regexp.MustCompile(`(?m)^\{(.*)\}$`).FindAllStringSubmatch(string(text), -1) {
			if word, _, _ := strings.Cut(m[1], " "); !slices.Contains([]string{"options", "commands", "topics"}, word) && frame.HelpText(word) == "" {
				t.Errorf("%s includes %s, which is not there", file, word)
			}
		}
	}
}

// TestHelpAsked: help is there wherever it is asked for.
func TestHelpAsked(t *testing.T) {
	want := helpOf(t, []string{"task", "cancel"})
	for _, args := range [][]string{{"task", "cancel", "-h"}, {"task", "cancel", "x", "--help"}, {"help", "task", "cancel"}, {"--agent", "demo", "task", "cancel", "--help", "x"}} {
		if status, got, stderr := runMain("", args...); status != 0 || got != want || stderr != "" {
			t.Errorf("%v: status %d, %s%s", args, status, got, stderr)
		}
	}
}

// TestVariablesOfOptions: all of a2astdio's own options have a variable.
func TestVariablesOfOptions(t *testing.T) {
	for _, o := range frame.RootOptions() {
		if !o.Variable {
			t.Errorf("--%s has no variable, which a2astdio --help promises", o.Name)
		}
	}
}

// TestArgumentOrder: options stand before, among or behind arguments, and -- ends
// them.
func TestArgumentOrder(t *testing.T) {
	_, want, _ := runMain("", "-a", "demo", "send", "-o", "json", "hello")
	if !strings.HasPrefix(want, "{") {
		t.Fatal(want)
	}
	for _, line := range []string{"-a demo send hello -o json", "-a demo send hello --output=json", "send hello -a demo -o=json", "send -o json --agent demo -- hello", "--agent=demo send -output json hello"} {
		if status, got, stderr := runMain("", strings.Fields(line)...); status != 0 || !strings.HasPrefix(got, `{"task":`) {
			t.Errorf("%s: status %d, %s%s", line, status, got, stderr)
		}
	}
	var got []string
	echo := func(p *frame.Program) *cli.Command {
		return p.AgentCommand("echo [A...]", func(p *frame.Program, c *cli.Context) error {
			got = append(c.Args().Slice(), "fail", c.String("fail"), "timeout", c.Duration("timeout").String())
			return nil
		}, frame.Option{Name: "fail"})
	}
	for line, want := range map[string]string{
		"echo -- hello --fail":           "hello --fail fail  timeout 30s",
		"echo hello -- --fail --":        "hello --fail -- fail  timeout 30s",
		"echo --fail x a -5 - b":         "a -5 - b fail x timeout 30s",
		"echo help echo":                 "help echo fail  timeout 30s",
		"--timeout=2s echo --timeout 3s": "fail  timeout 3s",
		"echo y --fail":                  "--fail needs a value",
	} {
		p := &frame.Program{Args: append([]string{frame.ProgramName}, strings.Fields(line)...), Commands: []frame.Command{{Name: "echo", Make: echo}}}
		got = nil
		if err := p.RunCommand(t.Context(), p.App()); err != nil {
			got = []string{err.Error()}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
