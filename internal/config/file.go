package config

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/a2astdio/a2astdio/internal/safe"
)

// A file is a decoded file of either kind.
type file struct {
	path      string
	workspace bool
	data      []byte
	top       map[string]any // without agents
	agents    map[string]map[string]any
	fault     *Problem // the first, nil if there is none
}

func decode(path string, data []byte, workspace bool) *file {
	f := &file{path: path, workspace: workspace, data: data, agents: map[string]map[string]any{}}
	if len(data) == 0 { // there is no file, or nothing in it
		return f
	}
	if err := toml.Unmarshal(data, &f.top); err != nil {
		line := 1
		if at, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, _ = at.Position()
		}
		// The line is not quoted: it may be a secret, or not from a configuration at all.
		f.fault = &Problem{path, line, "this is not TOML: " + safe.Line(strings.TrimPrefix(err.Error(), "toml: "), maxShown)}
		return f
	}
	if workspace {
		return f
	}
	const tables = "agents are tables with a name: write [agents.NAME], and url or command below it"
	agents, ok := f.top["agents"].(map[string]any)
	if !ok && f.top["agents"] != nil {
		f.problem(tables, "agents")
	}
	delete(f.top, "agents")
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		table, ok := agents[name].(map[string]any)
		switch {
		case !ok:
			f.problem(tables, "agents", name)
		case !ValidName(name):
			f.problem(shown(name)+" is no name for an agent: a name has letters, digits, - and _, begins with a letter or digit, and is not demo", "agents", name)
		default:
			f.agents[name] = table
		}
	}
	return f
}

// problem notes a fault, unless one on an earlier line is known.
func (f *file) problem(text string, at ...string) {
	if line := f.line(at...); f.fault == nil || line < f.fault.Line {
		f.fault = &Problem{f.path, line, text}
	}
}

func (f *file) err() error {
	if f.fault == nil {
		return nil
	}
	return f.fault
}

// each calls found for each key with a value, and each table's header, until it returns false:
// with its path, a key's from its table, and where that begins. The decoder keeps no positions.
func each(text []byte, found func(n *unstable.Node, at []string, from int) bool) error {
	var p unstable.Parser
	p.Reset(text)
	for p.NextExpression() {
		var at []string
		from := -1
		for key := p.Expression().Key(); key.Next(); {
			if from < 0 {
				from = int(key.Node().Raw.Offset)
			}
			at = append(at, string(key.Node().Data))
		}
		if !found(p.Expression(), at, from) {
			return nil
		}
	}
	return p.Error()
}

// line finds the line of a key or table; 0 if it is none of its own.
func (f *file) line(at ...string) (line int) {
	var table []string
	_ = each(f.data, func(n *unstable.Node, here []string, from int) bool { // a fault is found before
		isKey := n.Kind == unstable.KeyValue
		if !isKey {
			table = here
		} else {
			here = slices.Concat(table, here)
		}
		// An inline table holds the rest of the path.
		inline := isKey && n.Value().Kind == unstable.InlineTable && len(here) < len(at)
		if len(here) >= len(at) && slices.Equal(here[:len(at)], at) || inline && slices.Equal(here, at[:len(here)]) {
			line = 1 + bytes.Count(f.data[:from], []byte{'\n'})
		}
		return line == 0
	})
	return line
}

// values reads the keys of a table: of the top, or of an agent.
func (f *file) values(table map[string]any, place Place, agent string) (list []Value) {
	at := []string{}
	if agent != "" {
		at = []string{"agents", agent}
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		at := append(at, name)
		k := lookup(name)
		if k == nil || k.In&place == 0 {
			f.problem(f.unknown(name, table[name], place), at...)
			continue
		}
		v, err := k.value(table[name], Origin{File: f.path, Agent: agent, Workspace: f.workspace})
		if err != nil {
			f.problem(err.Error(), at...)
			continue
		}
		list = append(list, v)
	}
	return list
}

func (f *file) agent(name string) []Value {
	table := f.agents[name]
	list := f.values(table, Agent, name)
	_, url := table["url"]
	_, command := table["command"]
	switch {
	case url != command, len(list) < len(table): // a misspelled url is told as that
	case url:
		f.problem("the agent "+name+" has a url and a command: which of them is it?", "agents", name)
	default:
		f.problem("the agent "+name+" needs a url, or a command that starts it", "agents", name)
	}
	return list
}

// unknown says that a key may not stand here, and which one was probably meant.
func (f *file) unknown(name string, value any, place Place) string {
	table, isTable := value.(map[string]any)
	if place == Workspace {
		return shown(name) + refused
	}
	if k := lookup(name); k != nil {
		if place == Top {
			return k.Name + " belongs to an agent: write it below [agents.NAME]"
		}
		return k.Name + " is for all agents: write it at the top of the file, before the first [agents.NAME]"
	}
	var known []string
	for k := range Keys() {
		if k.In&place == 0 {
			continue
		}
		if k.Flag == name {
			return "there is no key " + shown(name) + ": did you mean " + k.Name + "?"
		}
		known = append(known, k.Name)
	}
	what := "key " + shown(name)
	if place == Top && isTable && len(table) > 0 {
		known, what = []string{"agents"}, "table "+shown(name)
	}
	if k := safe.Nearest(name, known); k != "" {
		return "there is no " + what + ": did you mean " + k + "?"
	}
	return "there is no " + what
}

// ValidName reports whether a name is valid for an agent: no URL, no path, not demo,
// and nothing that needs quotes in TOML.
func ValidName(name string) bool {
	const longest = 64
	for i, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && (i == 0 || r != '-' && r != '_') {
			return false
		}
	}
	return name != "" && name != demo && len(name) <= longest
}

// maxShown bounds a file's word in a sentence.
const maxShown = 100

// shown is a file's word for a sentence: short, on one line.
func shown(word string) string { return fmt.Sprintf("%q", safe.Line(word, maxShown)) }
