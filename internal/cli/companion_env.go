package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/companion"
)

// Values of --shell.
const (
	shellPosix      = "sh"
	shellFish       = "fish"
	shellPowerShell = "powershell"
	shellJSON       = "json"
)

// companionEnv prints the companion's environment for this directory.
func (p *program) companionEnv(c *cli.Context) error {
	if _, err := p.arguments(c); err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("bridge: the current directory is unknown: %v", err)
	}
	running := slices.DeleteFunc(companion.List(), func(r companion.Running) bool { return !r.Serves(dir) })
	if len(running) == 0 {
		return fmt.Errorf("editor: none with a companion has %s open: open it there, with a plugin that starts a2astdio companion", dir)
	}
	chosen := running[0]
	if port := c.Int("port"); port != 0 {
		at := slices.IndexFunc(running, func(r companion.Running) bool { return r.Port == port })
		if at < 0 {
			return fmt.Errorf("editor: no companion for %s listens at port %d; there %s", dir, port, listRunning(running))
		}
		chosen = running[at]
	} else if len(running) > 1 {
		p.say("several editors have %s open, and this is the one that was started last; with --port, there %s", dir, listRunning(running))
	}
	_, err = fmt.Fprint(p.stdout, shellWords(c.String("shell"), chosen.Env))
	return err
}

func listRunning(running []companion.Running) string {
	words := make([]string, len(running))
	for i, r := range running {
		words[i] = fmt.Sprintf("%d (%s, process %d)", r.Port, r.DisplayName, r.EditorPID)
	}
	if len(words) == 1 {
		return "is " + words[0]
	}
	return "are " + strings.Join(words, ", ")
}

// shellWords sets variables in a shell's syntax.
func shellWords(shell string, env map[string]string) string {
	if shell == shellJSON {
		b, err := json.Marshal(env)
		if err != nil {
			panic(err) // strings are always encodable
		}
		return string(b) + "\n"
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(env)) {
		value := env[name]
		switch shell {
		case shellFish:
			fmt.Fprintf(&b, "set -gx %s '%s'\n", name, strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value))
		case shellPowerShell:
			// PowerShell takes typographic quotation marks as quotes, too.
			fmt.Fprintf(&b, "$env:%s = '%s'\n", name, strings.NewReplacer("'", "''", "‘", "‘‘", "’", "’’", "‚", "‚‚", "‛", "‛‛").Replace(value))
		default:
			fmt.Fprintf(&b, "export %s='%s'\n", name, strings.ReplaceAll(value, "'", `'\''`))
		}
	}
	return b.String()
}
