package setup

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/config"
)

// store writes the agent into the user's file, by a name.
func (s *setup) store() error {
	name, err := s.chooseName()
	if err != nil {
		return err
	}
	asDefault, err := s.becomesDefault(name)
	if err != nil {
		return err
	}
	entries := s.allEntries(name)
	if name == s.known && len(entries) == 0 && !asDefault {
		s.Say("All is well with %s. Nothing has changed.", name)
		return nil
	}
	if err := config.Store(s.conf.Files.File, name, entries, asDefault); err != nil {
		return frame.Mark(frame.ErrConfig, err)
	}
	s.Say("Stored as %s in %s", name, s.conf.Files.File)
	arguments, words := "without arguments", ""
	if !asDefault {
		arguments, words = "with the arguments --agent "+name, "--agent "+name+" "
	}
	// Editors with windows do not have the shell's PATH.
	s.Say("In your editor, its command is %s, %s", reach.Self(), arguments)
	s.Say("What to paste into its settings: a2astdio %ssetup --editor NAME", words)
	s.Say("In your shell: a2astdio %ssend \"...\"", words)
	return nil
}

func (s *setup) chooseName() (string, error) {
	name := s.c.String("name")
	if s.known != "" && (name == "" || name == s.known) {
		return s.known, nil
	}
	proposed := cmp.Or(name, s.proposedName())
	for {
		if name == "" {
			var err error
			if name, err = s.Ask("What shall it be called?", proposed); err != nil {
				return "", err
			}
		}
		switch {
		case !config.ValidName(name):
			s.Say("  a name has letters, digits, - and _, begins with a letter or digit, and is not demo")
		case !slices.Contains(s.conf.Files.Names(), name):
			return name, nil
		default:
			if !s.Asks() {
				return name, nil // --name wins over a proposal
			}
			replace, err := s.Yes("There is an agent "+name+" already. Shall this one take its place?", false)
			if err != nil || replace {
				return name, err
			}
		}
		name = ""
	}
}

// proposedName makes an unused name from the agent's own.
func (s *setup) proposedName() string {
	words := strings.FieldsFunc(strings.ToLower(s.card.Name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	name := ""
	for _, w := range words {
		if len(name)+len(w) > 24 {
			break
		}
		name = strings.TrimPrefix(name+"-"+w, "-")
	}
	if !config.ValidName(name) {
		name = "agent"
	}
	free := name
	for n := 2; slices.Contains(s.conf.Files.Names(), free); n++ {
		free = fmt.Sprintf("%s-%d", name, n)
	}
	return free
}

// becomesDefault asks whether this agent becomes the default. The first one does.
func (s *setup) becomesDefault(name string) (bool, error) {
	now := "" // the default of the user's file
	if v := s.conf.Files.UserValue("agent"); v != nil {
		now = v.Text
	}
	switch {
	case now == name:
		return false, nil
	case now == "":
		return true, nil
	case !s.Asks():
		return false, nil
	}
	return s.Yes("Use it when no agent is named, instead of "+now+"?", true)
}

// allEntries lists what is stored of the agent: its address, unless known, and the options
// given for it. An entry without a value is removed: those of another agent by that name,
// whose headers would go to this one.
func (s *setup) allEntries(name string) (entries []config.Entry) {
	replaces := name != s.known && slices.Contains(s.conf.Files.Names(), name)
	switch {
	case name == s.known:
	case s.command != "":
		entries = append(entries, config.Entry{Key: "command", Value: config.Quote(s.command)}, config.Entry{Key: "url"})
	default:
		agent := s.agent
		if agent != reach.DemoAgent {
			agent = reach.Absolute(agent)
		}
		entries = append(entries, config.Entry{Key: "url", Value: config.Quote(agent)}, config.Entry{Key: "command"})
	}
	for k := range config.Keys() {
		if k.In&config.Agent == 0 || frame.By(s.c, k.Flag) != frame.ByOption {
			if replaces && k.In&config.Agent != 0 && k.Name != "url" && k.Name != "command" {
				entries = append(entries, config.Entry{Key: k.Name})
			}
			continue
		}
		entries = append(entries, config.Entry{Key: k.Name, Value: s.entry(k)})
	}
	if frame.By(s.c, "header") != "" {
		s.Say("Your headers are not stored, because they may be credentials: with ${VARIABLE} for those, headers = { ... } in the agent's table holds them")
	}
	return entries
}

// entry returns an option that was given as the configuration writes it.
func (s *setup) entry(k *config.Key) string {
	switch k.Kind {
	case config.KindList:
		return config.QuoteList(reach.Fields(reach.Values(s.c, k)))
	case config.KindBool, config.KindNumber:
		return optionText(s.c, k)
	case config.KindObject:
		object, _ := reach.JSONObject(k.Flag, s.c.String(k.Flag)) // the link was made with it
		return config.Quote(string(object))
	}
	return config.Quote(reach.Values(s.c, k)[0])
}
