package config

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/bridge"
)

// A Place is where a key may stand. Places can be combined.
type Place uint8

const (
	Top       Place = 1 << iota // before the first table of the user's file, for every agent
	Agent                       // in [agents.NAME] of the user's file
	Workspace                   // in the file of a workspace
)

// A Kind is the type of a key's value.
type Kind uint8

const (
	KindText     Kind = iota // a string
	KindWord                 // a string, one of Key.Words
	KindPath                 // a file's name: ~/ is the home directory; a relative one is relative to the configuration
	KindLocation             // a URL, the word demo, or a Path
	KindDuration             // a string like "30s"
	KindBool                 // true or false
	KindList                 // a list of strings
	KindHeaders              // a table of strings
	KindObject               // any table, for the agent, or a string with JSON
	KindNumber               // a whole number above 0
)

// Groups of options in help: each is a topic, or belongs to one.
const (
	GroupAgent       = "The agent"
	GroupCredentials = "Who you are"
	GroupWork        = "What it may do"
	GroupEditor      = "The editor"
	GroupPush        = "What the agent pushes"
	GroupLook        = "Traces and logs"
)

// A Key is an option of a2astdio or of a command, a key of the configuration, or both. To
// add one of a2astdio's, add it to the list in options.go: flags, their variables, help,
// completion, checks of files, the template of setup and config show come from the list.
type Key struct {
	// Name is the key's name, Flag the option's; "" if there is none.
	Name, Flag string
	Aliases    []string // of the option
	Variable   bool     // a variable may hold the option; each of a2astdio's
	Group      string   // of an option of a2astdio's, in help
	Bridge     bool     // the option stands before a command only
	In         Place    // of the key
	Kind       Kind
	Words      func() []string // of a KindWord
	// Takes is what the option's value is called in help, where that is not one of Words. Words
	// in small letters, with | between them, are all that it takes.
	Takes string
	// Default is the value of an option that is not given, Shown what help has in its place.
	Default, Shown string
	// Help is a sentence on its purpose, Example a value in TOML.
	Help, Example string
}

func workingDirectories() []string { return []string{"neutral", "workspace"} }
func logLevels() []string          { return []string{"debug", "info", "warn", "error"} }
func editorTools() []string        { return []string{"off", "started", "loopback"} }
func onEOF() []string              { return []string{"auto", bridge.OnEOFCancel, bridge.OnEOFFinish} }

// Keys are all keys, in the order of the documentation. Nobody may change them. (Rejected:
// copies, 12 KB each time, of which a start made three.)
func Keys() iter.Seq[*Key] { return those(func(k *Key) bool { return k.Name != "" }) }

// Flags are all options, likewise.
func Flags() iter.Seq[*Key] { return those(func(k *Key) bool { return k.Flag != "" }) }

func those(is func(*Key) bool) iter.Seq[*Key] {
	return func(yield func(*Key) bool) {
		for i := range options {
			if is(&options[i]) && !yield(&options[i]) {
				return
			}
		}
	}
}

// lookup returns the key of a name, nil if there is none.
func lookup(name string) *Key {
	for k := range Keys() {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// laxness orders permission modes, the strictest first.
func laxness(mode string) int { return slices.Index(bridge.Modes(), mode) }

// takes describes a key's values, for an error.
func (k *Key) takes() string {
	switch k.Kind {
	case KindWord:
		return "one of " + quoteAll(k.Words())
	case KindDuration:
		return `a time like "30s" or "2m"`
	case KindBool:
		return "true or false"
	case KindNumber:
		return "a whole number above 0, like " + k.Example
	case KindList:
		return "a list like " + k.Example
	case KindHeaders, KindObject:
		return "a table like " + k.Example
	case KindPath:
		return `the name of a file, like ` + k.Example
	}
	return "a string like " + k.Example
}

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
