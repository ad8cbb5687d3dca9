package cli

import (
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport"
)

// Groups of options, in the order of help.
const (
	groupAgent  = "The agent"
	groupWork   = "What it may do"
	groupEditor = "The editor"
	groupLook   = "Looking on"
)

// env is an option's environment variable.
func env(name string) []string {
	return []string{"A2ASTDIO_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))}
}

// rootFlags are a2astdio's own options. Those of the agent may also stand behind a
// command that talks to one.
func rootFlags() []cli.Flag {
	return append(append(agentFlags(env), webhookFlags(env)...),
		&cli.BoolFlag{Name: "forward-mcp", Category: groupEditor, EnvVars: env("forward-mcp"),
			Usage: "hand the editor's MCP servers to the agent, with the tokens that are in their settings: to agents of the development-tool extension, and to Gemini CLI's server if --agent-command starts it (docs/agents.md); others have no place for them"},
		&cli.BoolFlag{Name: "companion", Category: groupEditor, EnvVars: env("companion"),
			Usage: "serve Gemini CLI and Qwen Code in the editor's terminal, too, for an editor whose plugin knows of it: docs/companion.md"},
		&cli.BoolFlag{Name: "context", Category: groupEditor, EnvVars: env("context"),
			Usage: "with --companion: add the file that the user looks at, and what is selected in it, to each prompt"},
		&cli.IntFlag{Name: "max-events-per-second", Category: groupEditor, EnvVars: env("max-events-per-second"), DefaultText: "no limit",
			Usage: "`N`: how many notifications a second the editor gets at most; above that they are merged, and nothing is lost"},
		&cli.StringFlag{Name: "protocol", Category: groupEditor, EnvVars: env("protocol"), Value: "auto",
			Usage: "`" + strings.Join(bridge.Protocols(), "|") + "`: what the editor speaks, the Agent Client Protocol or A2A line by line; auto tells by its first request"},
		&cli.BoolFlag{Name: "no-history", Category: groupWork, EnvVars: env("no-history"),
			Usage: "store no conversations on this machine; then editors cannot load a session again. a2astdio sessions manages the stored ones"},
		&cli.StringFlag{Name: "on-eof", Category: groupEditor, EnvVars: env("on-eof"), Value: "auto",
			Usage: "`auto|cancel|finish`: what happens to running work at the end of input; auto cancels it for ACP, whose editor has ended then, and finishes it for A2A lines"},
	)
}

// agentFlags are the options of all that talks to an agent. env returns their
// variables. Behind a command they have none: otherwise the variable would win over the
// option before the command.
func agentFlags(env func(name string) []string) []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{Name: "agent", Aliases: []string{"a", "agent-card"}, Category: groupAgent, EnvVars: env("agent"),
			Usage: "`URL|FILE|NAME|demo`: the agent's URL, its card as a file, its name in your configuration, or the word demo for one that is built in"},
		&cli.StringFlag{Name: "card", Category: groupAgent, EnvVars: env("card"),
			Usage: "`URL|FILE`: the agent's card, if it is not at the usual place, or is wrong"},
		&cli.StringFlag{Name: "agent-command", Category: groupAgent, EnvVars: env("agent-command"),
			Usage: "`CMD`: instead of --agent, start the agent with this command, and end it with a2astdio. Words as in a shell, without one; {port} is a free port, also in $PORT"},
		&cli.StringFlag{Name: "working-directory", Category: groupAgent, EnvVars: env("working-directory"), Value: workingNeutral,
			Usage: "`neutral|workspace`: where --agent-command runs. A workspace may have files that programs run without being told, so that an agent runs in one only after you have allowed it, once for each"},
		&cli.StringFlag{Name: "config", Category: groupAgent, EnvVars: env("config"),
			Usage: "`FILE`: your configuration file, instead of the usual one (see a2astdio config show)"},
		&cli.StringSliceFlag{Name: "header", Category: groupAgent, EnvVars: env("header"),
			Usage: "`'NAME: VALUE'|@FILE`: a header for each request to the agent, or a file with one a line; for credentials take the variable (one a line, too) or the file. Repeatable"},
		&cli.StringSliceFlag{Name: "trust-origin", Category: groupAgent, EnvVars: env("trust-origin"),
			Usage: "`URL`: another origin that the agent's card, or a redirect, may lead to with your headers. Repeatable"},
		&cli.StringSliceFlag{Name: "signature-key", Category: groupAgent, EnvVars: env("signature-key"),
			Usage: "`FILE|URL|sha256:...`: a key that you trust to sign the agent's card: a file (PEM, JWK, JWKS), the https URL of a JWKS, or a thumbprint as card verify shows it. Repeatable; the variable has one a line"},
		&cli.BoolFlag{Name: "require-signature", Category: groupAgent, EnvVars: env("require-signature"),
			Usage: "use the agent only if one of these keys has signed its card, and only the signed part of the card; before that the agent gets none of your headers. Without this, card get and doctor report signatures"},
		&cli.StringFlag{Name: "a2a-version", Category: groupAgent, EnvVars: env("a2a-version"), Value: "auto",
			Usage: "`" + strings.Join(transport.Versions(), "|") + "`: the protocol version to speak; auto takes the best that the card offers"},
		&cli.StringFlag{Name: "binding", Category: groupAgent, EnvVars: env("binding"), Value: "auto",
			Usage: "`" + strings.Join(transport.Bindings(), "|") + "`: how A2A travels; auto takes what the card prefers. With --a2a-version it replaces a missing card"},
		&cli.StringSliceFlag{Name: "extension", Category: groupAgent, EnvVars: env("extension"),
			Usage: "`URI[=URI,...]`: activate a further A2A extension, and those that it requires. Repeatable"},
		&cli.StringFlag{Name: "dialect", Category: groupAgent, EnvVars: env("dialect"), Value: "auto",
			Usage: "`WORD`: how to read what the agent says in its own words, and to write settings and answers to it: " + strings.Join(mapping.Dialects(), ", ") + "; auto tells by its card, and by what it says"},
		&cli.DurationFlag{Name: "timeout", Category: groupAgent, EnvVars: env("timeout"), Value: transport.DefaultTimeout,
			Usage: "`TIME`: how long connecting, and a request with one answer, may take; a running task has no limit"},
		&cli.DurationFlag{Name: "idle-timeout", Category: groupAgent, EnvVars: env("idle-timeout"),
			Usage: "`TIME`: how long the agent may be silent in the middle of its answer before the connection is taken for lost, and made anew; without it there is no limit"},

		&cli.StringFlag{Name: "workspace", Category: groupWork, EnvVars: env("workspace"),
			Usage: "`DIR`: the directory to work in, if the editor names none; without it, the current one"},
		&cli.StringFlag{Name: "mode", Category: groupWork, EnvVars: env("mode"), Value: bridge.ModeDefault,
			Usage: "`" + strings.Join(bridge.Modes(), "|") + "`: default asks you whenever the agent asks, accept-edits allows changes of files, yolo allows everything"},
		&cli.StringFlag{Name: "agent-settings", Category: groupWork, EnvVars: env("agent-settings"),
			Usage: "`JSON|@FILE`: an object to add to the settings that an agent with a dialect of its own gets first"},

		&cli.StringFlag{Name: "trace", Category: groupLook, EnvVars: env("trace"),
			Usage: "`FILE`: record what passes to and fro, without credentials, as JSON lines, for a2astdio trace; FILE is emptied first, and renamed to FILE.1 at 256 MB; {pid} in it is the process, - is stderr"},
		&cli.BoolFlag{Name: "trace-redact", Category: groupLook, EnvVars: env("trace-redact"),
			Usage: "record the lengths of texts instead of the texts"},
		&cli.StringFlag{Name: "log", Category: groupLook, EnvVars: env("log"),
			Usage: "`FILE`: append warnings and notes; - is stderr"},
		&cli.StringFlag{Name: "log-level", Category: groupLook, EnvVars: env("log-level"), Value: "info",
			Usage: "`debug|info|warn|error`: how much to log; without --log it goes to stderr"},
	}, credentialFlags(env)...)
}

// A leanFlag knows its names. The library finds them with a regular expression,
// whenever it compares one, which was much of what the command line took at a start.
type leanFlag struct {
	cli.Flag
	names []string
}

func (f leanFlag) Names() []string { return f.names }

func lean(flags []cli.Flag) []cli.Flag {
	for i, f := range flags {
		flags[i] = leanFlag{f, f.Names()}
	}
	return flags
}

// bare undoes lean.
func bare(f cli.Flag) cli.Flag {
	if lean, ok := f.(leanFlag); ok {
		return lean.Flag
	}
	return f
}

// behindCommand are the agent's options behind a command, which does not list them in
// its help.
func behindCommand() []cli.Flag {
	flags := agentFlags(func(string) []string { return nil })
	for _, f := range flags {
		switch f := f.(type) {
		case *cli.StringFlag:
			f.Hidden = true
		case *cli.StringSliceFlag:
			f.Hidden = true
		case *cli.DurationFlag:
			f.Hidden = true
		case *cli.BoolFlag:
			f.Hidden = true
		}
	}
	return flags
}

// where returns the context that sets an option: behind the command, or before it.
func where(c *cli.Context, name string) *cli.Context {
	lineage := c.Lineage()
	for _, l := range lineage {
		if l.Command != nil && l.IsSet(name) {
			return l
		}
	}
	return c
}

func isSet(c *cli.Context, name string) bool      { return where(c, name).IsSet(name) }
func stringOf(c *cli.Context, name string) string { return where(c, name).String(name) }

// oneOf reads an option that takes one of some words.
func oneOf(c *cli.Context, name string, words ...string) (string, error) {
	v := stringOf(c, name)
	if !slices.Contains(words, v) {
		said := "--" + name
		if variable := env(name)[0]; v == os.Getenv(variable) {
			said += " (" + variable + ")"
		}
		return "", usagef("%s does not take %q: it takes %s", said, v, strings.Join(words, ", "))
	}
	return v, nil
}

// listOf reads an option that may be repeated. A variable has one value a line.
func listOf(c *cli.Context, name string) []string {
	var all []string
	for _, v := range stringsOf(where(c, name), name) {
		for line := range strings.Lines(v) {
			if line = strings.TrimSpace(line); line != "" {
				all = append(all, line)
			}
		}
	}
	return all
}
