package config

import (
	"fmt"
	"strings"
)

// Template is a new user's file: all keys with their help, as comments.
func Template() string {
	var b strings.Builder
	b.WriteString(`# What a2astdio knows about you and your agents. An option, like --mode, and its
# environment variable, A2ASTDIO_MODE, win over what stands here.
# a2astdio config show says what holds, and where it comes from.

`)
	section(&b, Top)
	b.WriteString(`# Agents by name: a2astdio --agent work. a2astdio setup adds them for you, and
# a2astdio agents lists them.
#
# [agents.work]
`)
	section(&b, Agent)
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func section(b *strings.Builder, place Place) {
	const width = 80
	for k := range Keys() {
		if k.In&place == 0 || place == Agent && k.In&Top != 0 {
			continue
		}
		line := "#"
		for _, word := range strings.Fields(k.Help) {
			if len(line)+1+len(word) > width {
				b.WriteString(line + "\n")
				line = "#"
			}
			line += " " + word
		}
		fmt.Fprintf(b, "%s\n# %s = %s\n\n", line, k.Name, k.Example)
	}
}
