package serve

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/companion"
)

// Values of --shell.
const (
	ShellPosix      = "sh"
	ShellFish       = "fish"
	ShellPowerShell = "powershell"
)

// companionEnv prints the companion's environment for this directory.
func companionEnv(p *frame.Program, c *cli.Context) error {
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("bridge: the current directory is unknown: %v", err)
	}
	running := slices.DeleteFunc(companion.List(), func(r companion.Running) bool { return !r.Serves(dir) })
	if len(running) == 0 {
		return fmt.Errorf("editor: none with a companion has %s open: open it there, with a plugin that starts a2astdio companion", dir)
	}
	if len(running) > 1 {
		p.Say("several editors have %s open, and this is the one that was started last", dir)
	}
	_, err = fmt.Fprint(p.Stdout, shellWords(c.String("shell"), running[0].Env))
	return err
}

// shellWords sets variables in a shell's syntax.
func shellWords(shell string, env map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(env)) {
		value := env[name]
		switch shell {
		case ShellFish:
			fmt.Fprintf(&b, "set -gx %s '%s'\n", name, strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value))
		case ShellPowerShell:
			// PowerShell takes typographic quotation marks as quotes, too.
			fmt.Fprintf(&b, "$env:%s = '%s'\n", name, strings.NewReplacer("'", "''", "‘", "‘‘", "’", "’’", "‚", "‚‚", "‛", "‛‛").Replace(value))
		default:
			fmt.Fprintf(&b, "export %s='%s'\n", name, strings.ReplaceAll(value, "'", `'\''`))
		}
	}
	return b.String()
}
