// Man writes a man page of each command, which is its help, into a directory:
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
	"strings"
	"unicode/utf8"
)

const programName = "a2astdio"

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: man PROGRAM DIR")
		os.Exit(2)
	}
	if err := writePages(os.Args[1], os.Args[2], nil); err != nil {
		fmt.Fprintln(os.Stderr, "man:", err)
		os.Exit(1)
	}
}

// writePages writes the page of what words call, and those of all that its help lists.
func writePages(program, dir string, words []string) error {
	help, err := exec.Command(program, append([]string{"help"}, words...)...).Output()
	if err != nil {
		return fmt.Errorf("help %v: %w", words, err)
	}
	name := strings.Join(append([]string{programName}, words...), "-")
	if err := os.WriteFile(filepath.Join(dir, name+".1"), []byte(manPage(name, string(help))), 0o666); err != nil {
		return err
	}
	for _, sub := range append(listed("Commands", string(help)), listed("Topics", string(help))...) {
		if err := writePages(program, dir, sub); err != nil {
			return err
		}
	}
	return nil
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

// manPage is a help text as a man page (groff_man(7)): under NAME, which whatis reads, in a
// few words, and then as a terminal shows it.
func manPage(name, help string) string {
	first, text, _ := strings.Cut(help, "\n")
	what := strings.TrimPrefix(first, programName+" ")
	if _, after, ok := strings.Cut(first, ": "); ok {
		what = after
	}
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" a2astdio \"a2astdio\"\n.SH NAME\n%s \\- %s\n.SH DESCRIPTION\n.in 0\n.nf\n", roff(strings.ToUpper(name)), roff(name), roff(what))
	for line := range strings.Lines(strings.Trim(text, "\n") + "\n") {
		b.WriteString(roff(line))
	}
	return b.String()
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
