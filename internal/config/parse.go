package config

import (
	"bytes"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// maxAgents bounds the agents of a file: nobody has more, and finding duplicates costs
// nothing.
const maxAgents = 1000

// everyAgent asks for all agents; no agent can have this name.
const everyAgent = "*"

// A table is the walk's current table.
type table struct {
	place Place
	agent int // its index in file.agents, if place is Agent
	// skip: the table's fault was reported, and is not repeated for each key.
	skip bool
	// path is the header behind agents and the name.
	path [][]byte
}

// A seen agent is one whose table was met.
type seen struct {
	name []byte // as in the file
	line int
	keys uint64 // the keys that are set, by index in the list of keys
	// whole are the keys set as one value, to which no table can add.
	whole  uint64
	header bool // [agents.NAME] was met, or [agents] for the top of the file
}

// A file is one walk through a file, by one goroutine.
type file struct {
	path      string
	workspace bool
	// want is the agent whose values are kept. If it is empty at the first agent, the top
	// of the file names it.
	want string

	parser unstable.Parser
	// head is the path of the table's header, key that of the value: kept ones are copied.
	head, key [][]byte
	data      []byte
	counted   int // the offset up to which lines were counted, and their number
	lines     int
	agents    []seen
	top       seen
	values    []Value
	objects   map[int]map[string]any // of Object keys, by the index of their value
	problems  []error
}

// parse walks the file. It collects faults in problems.
func (f *file) parse(data []byte) {
	f.data, f.lines = data, 1
	f.parser.Reset(data)
	at := table{place: Top}
	if f.workspace {
		at.place = Workspace
	}
	for f.parser.NextExpression() {
		n := f.parser.Expression()
		if n.Kind != unstable.KeyValue {
			at = f.enter(n, at)
			continue
		}
		if !at.skip {
			f.key = path(append(f.key[:0], at.path...), n)
			f.set(at, f.key, n.Value(), int(n.Raw.Offset))
		}
	}
	if err := f.parser.Error(); err != nil {
		f.syntax(err)
	}
	for i, object := range f.objects {
		f.values[i].Text = encode(object)
	}
}

// syntax reports where the file is no TOML. It does not quote the line: it may be a
// secret, or not from a configuration at all.
func (f *file) syntax(err error) {
	text, offset := err.Error(), f.counted
	if p, ok := err.(*unstable.ParserError); ok && p.Highlight != nil {
		if o := cap(f.data) - cap(p.Highlight); o >= 0 && o <= len(f.data) {
			offset = o
		}
	}
	f.problem(offset, "this is not TOML: "+text)
}

func (f *file) problem(offset int, text string) {
	if len(f.problems) > maxProblems {
		return // further ones are not even counted
	}
	f.problems = append(f.problems, &Problem{f.path, f.line(offset), text})
}

// line returns the line of an offset. Offsets mostly grow.
func (f *file) line(offset int) int {
	if offset < f.counted {
		f.counted, f.lines = 0, 1
	}
	f.lines += bytes.Count(f.data[f.counted:offset], []byte{'\n'})
	f.counted = offset
	return f.lines
}

// enter begins a table.
func (f *file) enter(n *unstable.Node, last table) table {
	f.head = path(f.head[:0], n)
	at := f.head
	key := n.Key()
	key.Next()
	offset := int(key.Node().Raw.Offset)
	out := table{place: Top, skip: true}
	switch {
	case f.workspace:
		f.problem(offset, "["+header(at)+"]"+refused)
		return table{place: Workspace}
	case string(at[0]) != "agents":
		f.problem(offset, f.unknownTable(at))
		return out
	case n.Kind == unstable.ArrayTable:
		f.problem(offset, "agents are tables with a name: write [agents.NAME], not [["+header(at)+"]]")
		return out
	case len(at) == 1:
		if f.top.header {
			f.problem(offset, "[agents] is there twice")
		}
		f.top.header = true
		return table{place: Top, path: at}
	}
	i := f.agent(at[1], offset)
	if i < 0 {
		return out
	}
	out = table{place: Agent, agent: i, path: at[2:]}
	a := &f.agents[i]
	if len(at) == 2 {
		if a.header {
			f.problem(offset, "["+header(at)+"] is there twice")
		}
		a.header = true
		return out
	}
	k := lookup(at[2])
	switch {
	case k < 0 || keys[k].In&Agent == 0:
		f.problem(offset, f.unknown(at[2], Agent))
		out.skip = true
	case keys[k].Kind != KindHeaders && keys[k].Kind != KindObject:
		f.problem(offset, keys[k].Name+" is "+keys[k].takes())
		out.skip = true
	case a.whole&(1<<k) != 0:
		f.problem(offset, keys[k].Name+" is set twice")
		out.skip = true
	default:
		a.keys |= 1 << k
	}
	return out
}

func header(at [][]byte) string {
	text := string(bytes.Join(at, []byte(".")))
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' }) || len(text) > 60 {
		return "…"
	}
	return text
}

// agent returns the index of the agent with a name, -1 if the name is invalid.
func (f *file) agent(name []byte, offset int) int {
	for i := range f.agents {
		if bytes.Equal(f.agents[i].name, name) {
			return i
		}
	}
	switch {
	case !ValidName(string(name)):
		f.problem(offset, shown(name)+" is no name for an agent: a name has letters, digits, - and _, begins with a letter or digit, and is not demo")
		return -1
	case len(f.agents) == maxAgents:
		f.problem(offset, "there are more than 1000 agents")
		return -1
	}
	if f.agents == nil {
		f.agents = make([]seen, 0, 64)
		f.chooseAgent()
	}
	f.agents = append(f.agents, seen{name: name, line: f.line(offset)})
	return len(f.agents) - 1
}

// chooseAgent sets the agent to keep, if the file names it. In TOML the top of a file
// precedes its tables, so all of it was read.
func (f *file) chooseAgent() {
	if f.want != "" {
		return
	}
	for i := range f.values {
		if f.values[i].Key.Name == "agent" {
			f.want = f.values[i].Text
		}
	}
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
