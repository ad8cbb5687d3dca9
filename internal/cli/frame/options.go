package frame

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/config"
)

// An Option is one of a2astdio's own, which the table in package config has, or one of a
// command's. The command line, its help and its completion are made from it; of the library
// only the look-up of values is used.
type Option = config.Key

// Kinds of a command's options, beside text.
const (
	Switch   = config.KindBool
	Number   = config.KindNumber
	Duration = config.KindDuration
	List     = config.KindList // it may be given several times
)

// Env returns the name of an option's variable.
func Env(name string) string {
	return "A2ASTDIO_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

func RootOptions() []*Option { return slices.Collect(config.Flags()) }

// described returns what an option takes, and its help.
func described(o *Option) (takes, help string) {
	switch {
	case o.Words != nil && o.Takes != "": // too many for a name
		return o.Takes, o.Help + ": " + strings.Join(o.Words(), ", ")
	case o.Words != nil:
		return strings.Join(o.Words(), "|"), o.Help
	case o.Group != "" && o.Kind == List:
		return o.Takes, o.Help + ". Repeatable"
	}
	return o.Takes, o.Help
}

// takesAgent is the category of commands that talk to an agent. Options of a2astdio that
// are about the agent may stand behind these, too.
const takesAgent = "agent"

// optionsAt lists the options that may stand behind a command.
func (p *Program) optionsAt(at *level) []*Option {
	if at.Category != takesAgent {
		return at.options
	}
	return slices.Concat(at.options, slices.DeleteFunc(slices.Clone(p.levels[0].options), func(o *Option) bool { return o.Bridge }))
}

// findOption returns the option of a name, nil if there is none.
func findOption(options []*Option, name string) *Option {
	if i := slices.IndexFunc(options, func(o *Option) bool { return o.Flag == name || slices.Contains(o.Aliases, name) }); i >= 0 {
		return options[i]
	}
	return nil
}

func hasVariable(o *Option) bool { return o.Variable || o.Group != "" }

// choices returns the words of an option that takes one of some; nil for others.
func choices(o *Option) []string {
	switch {
	case o.Words != nil:
		return o.Words()
	case o.Takes != "" && strings.ToLower(o.Takes) == o.Takes:
		return strings.Split(o.Takes, "|")
	}
	return nil
}

// readValue returns a value in the one form that is kept of it; false if the option does not
// take it.
func readValue(o *Option, text string) (value string, ok bool) {
	switch o.Kind {
	case Duration:
		d, err := time.ParseDuration(text)
		return d.String(), err == nil && d >= 0 && (d > 0 || o.Default == "" && o.Flag != "older-than")
	case Number:
		n, err := strconv.ParseUint(text, 0, 31)
		return strconv.FormatUint(n, 10), err == nil
	case Switch:
		yes, err := strconv.ParseBool(text)
		return strconv.FormatBool(yes), err == nil
	case List:
		return strings.TrimSpace(text), true
	}
	words := choices(o)
	return text, words == nil || slices.Contains(words, text)
}

// takesText tells what an option takes, as the end of an error.
func takesText(o *Option) string {
	switch o.Kind {
	case Duration:
		return ": it takes a time like 30s or 2m"
	case Number:
		return ": it takes a number"
	case Switch:
		return ": it takes true or false, or nothing"
	}
	return ": it takes " + strings.Join(choices(o), ", ")
}

// Who gave an option its value.
const (
	ByOption   = "option" // or who reads options, by [cli.Context.Set]
	ByVariable = "variable"
)

// A value is an option's on one command line, a [flag.Getter] for the library.
type value struct {
	of     *Option
	texts  []string // of what is no list the last one holds
	by     string   // [ByOption], [ByVariable] or ""
	filled bool     // by a file
}

// newValue returns what an option holds that nobody gives: its default.
func newValue(o *Option) *value {
	v := &value{of: o}
	if o.Kind != List {
		none := [...]string{Switch: "false", Duration: "0s", Number: "0"}[o.Kind] // the last of the kinds is a number's
		v.texts = []string{cmp.Or(o.Default, none)}
	}
	return v
}

// Set implements [flag.Value]. Its error follows the name of who gave the text.
func (v *value) Set(text string) error {
	read, ok := readValue(v.of, text)
	if !ok {
		return fmt.Errorf("does not take %q%s", text, takesText(v.of))
	}
	if v.of.Kind != List || v.by != ByOption { // what a variable holds is replaced
		v.texts = nil
	}
	v.texts, v.by = append(v.texts, read), ByOption
	return nil
}

func (v *value) Get() any       { return v }
func (v *value) String() string { return strings.Join(v.texts, "\n") }

// flagSet has a command's options, from the command line or from their variables, and
// its arguments.
func (l *level) flagSet(arguments []string) (*flag.FlagSet, error) {
	set := flag.NewFlagSet(l.Name, flag.ContinueOnError)
	for _, o := range l.options {
		v := l.given[o.Flag]
		if v == nil {
			v = newValue(o)
			if text := os.Getenv(Env(o.Flag)); hasVariable(o) && text != "" {
				if err := v.Set(text); err != nil {
					return nil, Usagef("%s %v", Env(o.Flag), err)
				}
				v.by = ByVariable
			}
		}
		set.Var(v, o.Flag, "")
	}
	return set, set.Parse(append([]string{"--"}, arguments...))
}

// valueOf returns an option's value; one that nobody gives if it is no option here.
func valueOf(c *cli.Context, name string) *value {
	if v, ok := c.Value(name).(*value); ok {
		return v
	}
	return newValue(&Option{Kind: List})
}

// By tells who gave an option its value: [ByOption], [ByVariable], or "". An empty variable
// counts as none.
func By(c *cli.Context, name string) string { return valueOf(c, name).by }

// IsSet reports whether an option has a value from anybody.
func IsSet(c *cli.Context, name string) bool {
	v := valueOf(c, name)
	return v.by != "" || v.filled
}

// Fill gives an option what a file says. The error is like Set's.
func Fill(c *cli.Context, name string, texts []string) error {
	v := valueOf(c, name)
	for _, text := range texts {
		if err := v.Set(text); err != nil {
			return err
		}
	}
	v.by, v.filled = "", true
	return nil
}

// Unset takes an option's value away, whoever gave it.
func Unset(c *cli.Context, name string) {
	v := valueOf(c, name)
	*v = *newValue(v.of)
}

// StringsOf returns the values of an option that may be given several times, as given.
func StringsOf(c *cli.Context, name string) []string { return valueOf(c, name).texts }

// ListOf is StringsOf with each line as a value, without blanks: a variable has one a line.
func ListOf(c *cli.Context, name string) []string {
	var all []string
	for line := range strings.Lines(valueOf(c, name).String()) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

func AsJSON(c *cli.Context) bool { return c.String("output") == JSON }

// Values of --output.
const (
	Text   = "text"
	JSON   = "json"
	Events = "events"
)

// Output makes -o, for commands that write a page or a document.
func Output(json string) Option {
	return Option{Flag: "output", Aliases: []string{"o"}, Default: Text, Variable: true, Takes: "text|json", Help: "text is for people; json is " + json}
}
