package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
	for line, want := range map[string]string{
		"a2astdio car":                                "words card",
		"a2astdio card ":                              "words get verify sign",
		"a2astdio help task g":                        "words get",
		"a2astdio --mode ":                            "words default accept-edits yolo",
		"a2astdio --mode=y":                           "words --mode=yolo",
		"a2astdio -a demo send --approve a":           "words ask always",
		"a2astdio -a demo send hello -o ":             "words text json events",
		"a2astdio --forward-mcp=":                     "words --forward-mcp=true --forward-mcp=false",
		"a2astdio --agent ":                           "files demo",
		"a2astdio --workspace ":                       "dirs",
		"a2astdio --trace ":                           "files",
		"a2astdio card verify x":                      "files",
		"a2astdio companion ":                         "words plugin",
		"a2astdio companion plugin ":                  "words nvim emacs",
		"a2astdio completion ":                        "words bash zsh fish",
		"a2astdio send --verb":                        "words --verbose",
		"a2astdio send --nonsense":                    "words",
		"a2astdio send car":                           "words",
		"a2astdio send -- --ver":                      "files",
		"a2astdio task get $(touch hacked) `reboot` ": "words",
	} {
		kind, words := completed(t, line)
		if got := strings.Join(append([]string{kind}, words...), " "); got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
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
			if !frame.PlainWord(w) {
				t.Errorf("%q offers %q", line, w)
			}
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
		must.Do(t, os.WriteFile(filepath.Join(dir, file), nil, 0o600))
	}
	cmd := exec.CommandContext(t.Context(), shell, append(args, "-c", script)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "A2ASTDIO_AGENT=", "TERM=dumb")
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", shell, err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "hacked")); err == nil {
		t.Errorf("%s has evaluated what was typed", shell)
	}
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
	for _, l := range append(typedLines, struct{ line, want string }{"a2astdio --mode=y", "yolo"}) {
		script += "COMP_LINE=" + quoted(l.line) + " COMP_POINT=${#COMP_LINE}; _a2astdio; printf '%s|' \"${COMPREPLY[@]}\"; echo\n"
	}
	script = strings.ReplaceAll(script, " COMP_POINT=${#COMP_LINE}", "; COMP_POINT=${#COMP_LINE}")
	out := strings.Split(inShell(t, "bash", script, "--norc", "--noprofile"), "\n")
	for i, l := range append(typedLines, struct{ line, want string }{"a2astdio --mode=y", "yolo"}) {
		if got := strings.Trim(out[i], "|"); got != l.want {
			t.Errorf("%s: %q, want %q", l.line, got, l.want)
		}
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
		if got := strings.TrimSpace(out[i]); strings.ReplaceAll(got, "\\ ", " ") != l.want {
			t.Errorf("%s: %q, want %q", l.line, got, l.want)
		}
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
	for _, want := range []string{"a2astdio card \n", "--mode=yolo", "--approve reject", "--trace one.json"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}

// quoted is a word in single quotes, as all these shells have it.
func quoted(s string) string { return "'" + s + "'" }
