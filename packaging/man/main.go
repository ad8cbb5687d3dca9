// Man writes a man page of each command, with the content of its help, into a directory:
//
//	man PROGRAM DIR
//
// packaging/prepare runs it for a release.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"
)

const programName = "a2astdio"

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: man PROGRAM DIR")
		os.Exit(2)
	}
	pages, err := pagesOf(os.Args[1])
	for name, page := range pages {
		if err == nil {
			err = os.WriteFile(filepath.Join(os.Args[2], name+".1"), []byte(page), 0o666)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(1)
	}
}

// pagesOf returns the pages of a program, by name.
func pagesOf(program string) (map[string]string, error) {
	helps := map[string]string{}
	var names []string
	var visit func(words []string) error
	visit = func(words []string) error {
		help, err := exec.Command(program, append([]string{"help"}, words...)...).Output()
		if err != nil {
			return fmt.Errorf("help %v: %w", words, err)
		}
		name := strings.Join(append([]string{programName}, words...), "-")
		names = append(names, name)
		helps[name] = string(help)
		for _, sub := range append(listed("Commands", string(help)), listed("Topics", string(help))...) {
			if err := visit(sub); err != nil {
				return err
			}
		}
		return nil
	}
	if err := visit(nil); err != nil {
		return nil, err
	}
	pages := map[string]string{}
	for name, help := range helps {
		pages[name] = manPage(name, help, names)
	}
	return pages, nil
}

// listed returns the commands or topics that a help lists, each as the words that call
// it.
func listed(what, help string) (commands [][]string) {
	_, list, _ := strings.Cut(help, "\n"+what+":\n")
	list, _, _ = strings.Cut(list, "\n\n")
	for line := range strings.Lines(list) {
		words, _, _ := strings.Cut(strings.TrimSpace(line), "  ")
		commands = append(commands, strings.Fields(words))
	}
	return commands
}

// section is the heading of a part of a help text.
var section = regexp.MustCompile(`^[A-Z][^.]*:$`)

// manPage writes a help text as a man page (groff_man(7)). A part of a help is a
// section; what stands at the eighth column explains the line above it.
func manPage(name, text string, pages []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".\\\" Made of the command's help by packaging/prepare.\n.TH %s 1 \"\" a2astdio \"a2astdio\"\n.SH NAME\n", roff(strings.ToUpper(name)))
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
