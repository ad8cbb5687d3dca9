package cli

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

// TestGeneratedMan: each command has a man page with the content of its help.
func TestGeneratedMan(t *testing.T) {
	dir := filepath.Join("..", "..", "packaging", "man")
	var names, pages []string
	eachCommand(func(words []string, c *cli.Command) {
		pages = append(pages, strings.Join(append([]string{programName}, words...), "-"))
	})
	eachCommand(func(words []string, c *cli.Command) {
		name := strings.Join(append([]string{programName}, words...), "-")
		names = append(names, name+".1")
		text := manPage(name, helpOf(t, words), pages)
		generated(t, filepath.Join(dir, name+".1"), text)
		for _, line := range []string{"\n.SH NAME\n", "\n.SH USAGE\n", "\n.SH EXIT STATUS\n"} {
			if strings.Count(text, line) != 1 {
				t.Errorf("%s: not one %q", name, line)
			}
		}
		// Nothing of the help is lost.
		shown := regexp.MustCompile(`(?m)^\.(?:nf|fi|RS|RE|PP|TP|SH|B|TH)\b ?`).ReplaceAllString(text, "")
		shown = squeeze(strings.NewReplacer(`\-`, "-", `\e`, `\`, `\&`, "", `\(aq`, "'", `\(dq`, `"`, `\(ga`, "`", `\(ti`, "~", `\(ha`, "^").Replace(shown))
		shown = regexp.MustCompile(`\\\[u([0-9A-F]+)\]`).ReplaceAllStringFunc(shown, func(e string) string {
			n, _ := strconv.ParseInt(e[3:len(e)-1], 16, 32)
			return string(rune(n))
		})
		for line := range strings.Lines(helpOf(t, words)) {
			line = squeeze(line)
			if !strings.HasPrefix(line, name) && !strings.HasSuffix(line, ":") && !strings.HasPrefix(line, "a2astdio "+strings.Join(words, " ")+":") && !strings.Contains(shown, line) {
				t.Errorf("%s: the page has lost %q", name, line)
			}
		}
	})
	onlyGenerated(t, dir, "*.1", names)
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

// TestManRenders: the formatter finds nothing to complain of.
func TestManRenders(t *testing.T) {
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff is not here")
	}
	all, err := filepath.Glob(filepath.Join("..", "..", "packaging", "man", "*.1"))
	if err != nil || len(all) == 0 {
		t.Fatalf("no man pages: %v", err)
	}
	for _, file := range all {
		out, err := exec.Command(groff, "-man", "-Tutf8", "-ww", "-z", file).CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("%s: %v %s", file, err, out)
		}
	}
}

// section is the heading of a part of a help text.
var section = regexp.MustCompile(`^[A-Z][^.]*:$`)

// manPage writes a help text as a man page (groff_man(7)). A part of a help is a
// section; what stands at the eighth column explains the line above it.
func manPage(name, text string, pages []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".\\\" Made by go generate ./internal/cli of the command's help.\n.TH %s 1 \"\" a2astdio \"a2astdio\"\n.SH NAME\n", roff(strings.ToUpper(name)))
	first, text, _ := strings.Cut(text, "\n")
	if _, what, ok := strings.Cut(first, ": "); ok {
		first = what
	} else {
		first = strings.TrimPrefix(first, programName+" ")
	}
	fmt.Fprintf(&b, "%s \\- %s\n.SH DESCRIPTION\n", roff(name), roff(first))
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	var block []string
	flush := func() {
		writeBlock(&b, block)
		block = nil
	}
	for i, line := range lines {
		begins := i == 0 || lines[i-1] == ""
		switch {
		case begins && section.MatchString(line):
			flush()
			fmt.Fprintf(&b, ".SH %s\n", roff(strings.ToUpper(strings.TrimSuffix(line, ":"))))
		case begins && strings.HasPrefix(line, "Exit status: "):
			flush()
			fmt.Fprintf(&b, ".SH EXIT STATUS\n%s\n", roff(line))
		case line == "":
			flush()
			if i+1 < len(lines) && !section.MatchString(lines[i+1]) && !strings.HasPrefix(lines[i+1], "Exit status: ") {
				b.WriteString(".PP\n")
			}
		case strings.HasPrefix(line, "  "):
			block = append(block, line)
		default:
			flush()
			b.WriteString(roff(line) + "\n")
		}
	}
	flush()
	var also []string
	for _, p := range pages {
		if p != name && (strings.HasPrefix(p, name+"-") && strings.Count(p, "-") == strings.Count(name, "-")+1 || strings.HasPrefix(name, p+"-")) {
			also = append(also, fmt.Sprintf(".BR %s (1)", roff(p)))
		}
	}
	if len(also) > 0 {
		b.WriteString(".SH SEE ALSO\n" + strings.Join(also, " ,\n") + "\n")
	}
	return b.String()
}

// explained is the indentation of what explains the line above.
const explained = "        "

func writeBlock(b *strings.Builder, block []string) {
	tagged := false
	for _, line := range block {
		tagged = tagged || strings.HasPrefix(line, explained)
	}
	switch {
	case len(block) == 0:
	case tagged:
		for _, line := range block {
			if strings.HasPrefix(line, explained) {
				b.WriteString(roff(strings.TrimSpace(line)) + "\n")
			} else {
				fmt.Fprintf(b, ".TP\n.B %s\n", roff(strings.TrimSpace(line)))
			}
		}
	default:
		b.WriteString(".nf\n")
		for _, line := range block {
			b.WriteString(roff(line) + "\n")
		}
		b.WriteString(".fi\n")
	}
}

// roff keeps the formatter from finding anything in text, and characters from being
// made prettier than a shell understands.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, `"`, `\(dq`, "`", `\(ga`, "~", `\(ti`, "^", `\(ha`).Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	var b strings.Builder
	for _, r := range s {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\[u%04X]`, r) // the formatter reads ASCII everywhere
		}
	}
	return b.String()
}
