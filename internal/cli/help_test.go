package cli

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

// completed returns a shell's offers for a line.
func completed(t *testing.T, line string) (kind string, words []string) {
	t.Helper()
	var out bytes.Buffer
	words = strings.Fields(line)
	if strings.HasSuffix(line, " ") {
		words = append(words, "")
	}
	if status := Main(t.Context(), append([]string{frame.ProgramName, frame.CompleteWord}, words[min(1, len(words)):]...), nil, &out, os.Stderr, ""); status != 0 {
		t.Fatalf("%s: status %d", line, status)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	kind, _, _ = strings.Cut(lines[0], "\t")
	words = nil
	for _, l := range lines[1:] {
		word, _, _ := strings.Cut(l, "\t")
		words = append(words, word)
	}
	return kind, words
}

// TestComplete: commands, options, and what options and arguments take.
func TestComplete(t *testing.T) {
	for _, row := range must.Table[[2]string](t, "../../testdata/complete.txt") {
		line, want := row[0], row[1]
		kind, words := completed(t, line)
		must.Equal(t, strings.Join(append([]string{kind}, words...), " "), want, line)
	}
}

// FuzzComplete: no line makes completion fail, or offer more than plain words.
func FuzzComplete(f *testing.F) {
	for _, line := range []string{"", "a2astdio", "a2astdio --agent", "a2astdio --mode=", "a2astdio 'x", "a2astdio \\", "a2astdio -- --"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		_, words := completed(t, line)
		for _, w := range words {
			must.Equal(t, frame.PlainWord(w), true, line, w)
		}
	})
}

// inShell runs a script in a shell, which has a2astdio in its PATH.
func inShell(t *testing.T, shell, script string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(shell); err != nil {
		t.Skipf("%s is not here", shell)
	}
	dir := t.TempDir()
	for _, file := range []string{"one.json", "with space.json"} {
		must.File(t, "", dir, file)
	}
	cmd := exec.CommandContext(t.Context(), shell, append(args, "-c", script)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "A2ASTDIO_AGENT=", "TERM=dumb")
	cmd.WaitDelay = time.Minute
	out, err := cmd.CombinedOutput()
	must.Fail(t, err, "", shell, string(out))
	_, err = os.Stat(filepath.Join(dir, "hacked"))
	must.Fail(t, err, "no such file", "it has evaluated what was typed")
	return string(out)
}

// typedLines are lines with the expected offers of each shell.
var typedLines = []struct{ line, want string }{
	{"a2astdio car", "card"},
	{"a2astdio --mode y", "yolo"},
	{"a2astdio -a demo send --approve re", "reject"},
	{"a2astdio --trace on", "one.json"},
	{"a2astdio --trace wi", "with space.json"},
	{"a2astdio task $(touch hacked) `touch hacked` ", ""},
	{"a2astdio \"$(touch hacked)\" card g", ""},
}

// TestBash runs our script in bash, as readline calls it.
func TestBash(t *testing.T) {
	script := "source <(a2astdio completion bash)\ncomplete -p a2astdio >/dev/null || exit 1\n"
	lines := append(typedLines, struct{ line, want string }{"a2astdio --mode=y", "yolo"})
	for _, l := range lines {
		script += "COMP_LINE=" + quoted(l.line) + "; COMP_POINT=${#COMP_LINE}; _a2astdio; printf '%s|' \"${COMPREPLY[@]}\"; echo\n"
	}
	out := strings.Split(inShell(t, "bash", script, "--norc", "--noprofile"), "\n")
	for i, l := range lines {
		must.Equal(t, strings.Trim(out[i], "|"), l.want, l.line)
	}
}

// TestFish asks fish itself what it would offer.
func TestFish(t *testing.T) {
	script := "a2astdio completion fish | source\n"
	for _, l := range typedLines {
		script += "complete -C " + quoted(l.line) + " | string replace -r '\\t.*' '' | string join '|'; echo .\n"
	}
	out := strings.Split(inShell(t, "fish", script, "--no-config"), ".\n")
	for i, l := range typedLines {
		must.Equal(t, strings.ReplaceAll(strings.TrimSpace(out[i]), "\\ ", " "), l.want, l.line)
	}
}

// TestZsh types lines into a zsh on a pseudo-terminal, and presses the key.
func TestZsh(t *testing.T) {
	t.Parallel() // compinit takes seconds
	out := inShell(t, "zsh", `zmodload zsh/zpty || exit 1
zpty -b z zsh -f -i
ready() { local got line; while zpty -r z line "*$1*"; do got+=$line; [[ $got == *$1* ]] && break; done; }
zpty -w z 'PS1=; unsetopt zle_bracketed_paste; bindkey -e; autoload -Uz compinit; compinit -u -d .zcd; source <(a2astdio completion zsh); show() { print -r -- "$BUFFER" >> typed; BUFFER=; print "DO""NE" }; zle -N show; bindkey "^X" show; print REA""DY'
ready READY
for line in 'a2astdio car' 'a2astdio --mode=y' 'a2astdio -a demo send --approve re' 'a2astdio --trace on' 'a2astdio "$(touch hacked)" card g'; do
    zpty -w -n z "$line"$'\t'$'\x18'
    ready DONE
done
zpty -d z
cat typed`, "-f")
	must.Has(t, out, "a2astdio card \n", "--mode=yolo", "--approve reject", "--trace one.json")
}

// quoted is a word in single quotes, as all these shells have it.
func quoted(s string) string { return "'" + s + "'" }

// eachCommand calls f for each command that there is, a2astdio itself first, with
// the words that call it.
func eachCommand(f func(words []string, c *cli.Command, options []*frame.Option)) {
	p := newProgram([]string{frame.ProgramName, "--help"}, nil, nil, nil)
	app := p.App()
	f(nil, &cli.Command{Name: frame.ProgramName}, frame.RootOptions())
	var walk func(words []string, commands []*cli.Command)
	walk = func(words []string, commands []*cli.Command) {
		for _, c := range commands {
			words := append(slices.Clone(words), c.Name)
			f(words, c, p.Options[c])
			walk(words, c.Subcommands)
		}
	}
	walk(nil, app.Commands)
}

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
	eachCommand(func(words []string, c *cli.Command, own []*frame.Option) {
		name, text := strings.Join(append([]string{frame.ProgramName}, words...), " "), helpOf(t, words)
		for line := range strings.Lines(text) {
			if len(line) > frame.HelpWidth+1 && !strings.HasPrefix(line, "  a2astdio") {
				t.Errorf("%s: longer than %d: %s", name, frame.HelpWidth, line)
			}
		}
		intro, rest, _ := strings.Cut(text, "\nUsage:\n")
		must.Has(t, strings.TrimSpace(intro), "\n\n") // what it does
		must.Has(t, text, "\nExit status:")
		examples := rest
		if len(words) > 0 {
			_, examples, _ = strings.Cut(rest, "\nExamples:\n")
		}
		for _, o := range own {
			if !strings.Contains(text, "--"+o.Flag) && len(words) > 0 {
				t.Errorf("the help of %s says nothing of --%s", name, o.Flag)
			}
		}
		called := regexp.QuoteMeta(strings.Join(words, " "))
		must.Equal(t, regexp.MustCompile(`(?m)^  .*\b`+called).MatchString(examples), true, name, "has no example")
	})
}

// TestHelpTopics: there is no more to learn than there was, a2astdio's own help is short, its topics have each of its options once, and
// what help files include is there.
func TestHelpTopics(t *testing.T) {
	options, commands := 0, 0
	eachCommand(func(words []string, c *cli.Command, own []*frame.Option) {
		options += len(own)
		if c.Action != nil && len(c.Subcommands) == 0 {
			commands++
		}
	})
	if options > 121 || commands > 31 {
		t.Errorf("there are %d options and %d commands: which of them would nobody miss?", options, commands)
	}
	n := strings.Count(helpOf(t, nil), "\n")
	must.True(t, n <= 60, n, "lines of a2astdio --help: leave more to topics")
	all := helpOf(t, []string{"trace"})
	for _, topic := range frame.Topics {
		status, text, stderr := runMain("", "help", topic)
		if status != 0 || stderr != "" || !strings.HasPrefix(text, "a2astdio "+topic+": ") {
			t.Errorf("help %s: status %d, %s%s", topic, status, text, stderr)
		}
		all += text
	}
	for _, o := range frame.RootOptions() {
		n := len(regexp.MustCompile(`(?m)^  (-\w, )?--`+o.Flag+`\b[^-]`).FindAllString(all, -1))
		must.Equal(t, n, 1, o.Flag, "stands so often in the topics")
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

// TestArgumentOrder: options stand before, among or behind arguments, and -- ends them. The script "help" has more.
func TestArgumentOrder(t *testing.T) {
	var got []string
	echo := func(p *frame.Program) *cli.Command {
		return p.AgentCommand("echo [A...]", func(p *frame.Program, c *cli.Context) error {
			got = append(c.Args().Slice(), "fail", c.String("fail"), "timeout", c.Duration("timeout").String())
			return nil
		}, frame.Option{Flag: "fail"})
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
		must.Equal(t, strings.Join(got, " "), want, line)
	}
}
