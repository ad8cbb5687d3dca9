package config

import (
	"fmt"

	"github.com/pelletier/go-toml/v2/unstable"
)

// set takes a value: at is its path in the table t. Headers, dotted keys and inline
// tables may spell tables. It checks the keys of every agent, and keeps the values of
// the wanted one.
func (f *file) set(t table, at [][]byte, n *unstable.Node, where int) {
	if t.place == Top && string(at[0]) == "agents" {
		f.setAgents(at, n, where)
		return
	}
	owner, agent := &f.top, ""
	if t.place == Agent {
		owner = &f.agents[t.agent]
		agent = f.nameOf(owner)
	}
	i := lookup(at[0])
	if i < 0 || keys[i].In&t.place == 0 {
		f.problem(where, f.unknown(at[0], t.place))
		return
	}
	k, bit := &keys[i], uint64(1)<<i
	table := k.Kind == KindHeaders || k.Kind == KindObject
	switch {
	case len(at) > 1 && !table:
		f.problem(where, k.Name+" is "+k.takes())
	case owner.whole&bit != 0, len(at) == 1 && owner.keys&bit != 0:
		f.problem(where, k.Name+" is set twice")
	case len(at) == 1:
		owner.whole |= bit
		owner.keys |= bit
		if !f.keeps(t.place, agent) {
			return
		}
		if wrong := k.check(n); wrong != "" {
			f.problem(where, wrong)
			return
		}
		if !table {
			f.values = append(f.values, k.keep(n, f.origin(agent, where)))
			return
		}
		if k.Kind == KindObject {
			f.tableValue(agent, i, where) // also an empty one
		}
		for it := n.Children(); it.Next(); {
			f.entry(agent, i, path(at, it.Node())[len(at):], it.Node().Value(), where)
		}
	default:
		owner.keys |= bit
		if f.keeps(t.place, agent) {
			f.entry(agent, i, at[1:], n, where)
		}
	}
}

// setAgents takes a value whose path begins with agents.
func (f *file) setAgents(at [][]byte, n *unstable.Node, where int) {
	if len(at) <= 2 && n.Kind != unstable.InlineTable {
		f.problem(where, "agents are tables: write [agents.NAME], and url or command below it")
		return
	}
	if len(at) <= 2 {
		for it := n.Children(); it.Next(); {
			f.setAgents(path(at, it.Node()), it.Node().Value(), where)
		}
		return
	}
	if i := f.agent(at[1], where); i >= 0 {
		f.set(table{place: Agent, agent: i}, at[2:], n, where)
	}
}

// nameOf is an agent's name, if its values are kept. The wanted name itself needs no
// copy.
func (f *file) nameOf(a *seen) string {
	switch {
	case f.want == string(a.name):
		return f.want
	case f.want == everyAgent:
		return string(a.name)
	}
	return ""
}

// keeps reports whether values are kept, or only checked.
func (f *file) keeps(place Place, agent string) bool {
	return place != Agent || agent != ""
}

func (f *file) origin(agent string, where int) Origin {
	return Origin{File: f.path, Line: f.line(where), Agent: agent, Workspace: f.workspace}
}

// tableValue returns the index of the value of a table key, and makes it at the first
// entry.
func (f *file) tableValue(agent string, key, where int) int {
	for i := range f.values {
		if f.values[i].Key == &keys[key] && f.values[i].From.Agent == agent {
			return i
		}
	}
	f.values = append(f.values, Value{Key: &keys[key], From: f.origin(agent, where)})
	i := len(f.values) - 1
	if keys[key].Kind == KindObject {
		if f.objects == nil {
			f.objects = map[int]map[string]any{}
		}
		f.objects[i] = map[string]any{}
	}
	return i
}

// entry takes an entry of a table key.
func (f *file) entry(agent string, key int, at [][]byte, n *unstable.Node, where int) {
	i := f.tableValue(agent, key, where)
	if keys[key].Kind == KindObject {
		if err := put(f.objects[i], at, n); err != nil {
			f.problem(where, fmt.Sprintf("%s: %v", keys[key].Name, err))
		}
		return
	}
	if len(at) != 1 || n.Kind != unstable.String || !isToken(at[0]) {
		f.problem(where, fmt.Sprintf("%s: %s is no header: a header is written like %s", keys[key].Name, shown(at[0]), `Authorization = "…"`))
		return
	}
	h := Header{string(at[0]), string(n.Data), f.line(where)}
	if err := h.check(); err != nil {
		f.problem(where, fmt.Sprintf("%s: %v", keys[key].Name, err))
		return
	}
	v := &f.values[i]
	for _, other := range v.Headers {
		if sameHeader(other.Name, h.Name) {
			f.problem(where, fmt.Sprintf("%s: %s is there twice", keys[key].Name, h.Name))
			return
		}
	}
	v.Headers = append(v.Headers, h)
}

// unknown says that a key may not stand here, and which one was probably meant.
func (f *file) unknown(name []byte, place Place) string {
	if place == Workspace {
		return shown(name) + refused
	}
	if i := lookup(name); i >= 0 {
		if place == Top {
			return keys[i].Name + " belongs to an agent: write it below [agents.NAME]"
		}
		return keys[i].Name + " is for all agents: write it at the top of the file, before the first [agents.NAME]"
	}
	var known []string
	for i := range keys {
		if keys[i].In&place == 0 {
			continue
		}
		if keys[i].Flag == string(name) {
			return "there is no key " + shown(name) + ": did you mean " + keys[i].Name + "?"
		}
		known = append(known, keys[i].Name)
	}
	if place == Top {
		known = append(known, "agents")
	}
	if k := nearest(string(name), known); k != "" {
		return "there is no key " + shown(name) + ": did you mean " + k + "?"
	}
	return "there is no key " + shown(name)
}

func (f *file) unknownTable(at [][]byte) string {
	if i := lookup(at[0]); i >= 0 && keys[i].In&Top != 0 {
		return keys[i].Name + " is " + keys[i].takes()
	}
	if nearest(string(at[0]), []string{"agents"}) != "" {
		return "there is no table [" + header(at) + "]: did you mean agents?"
	}
	return "there is no table [" + header(at) + "]: there are only those of agents, [agents.NAME]"
}
