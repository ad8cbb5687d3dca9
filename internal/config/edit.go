package config

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/internal/safe"
)

// An Entry is a key and its value in TOML: see [Quote]. An entry without a value
// removes the key.
type Entry struct{ Key, Value string }

// Quote writes a string in TOML, which has JSON's escapes but for DEL.
func Quote(s string) string {
	quoted, _ := rawjson.Marshal(s) // a string always encodes
	return strings.ReplaceAll(string(quoted), "\x7f", `\u007F`)
}

// QuoteList writes a list of strings in TOML.
func QuoteList(list []string) string { return "[" + quoteAll(list) + "]" }

func quoteAll(list []string) string {
	spelled := make([]string, len(list))
	for i, s := range list {
		spelled[i] = Quote(s)
	}
	return strings.Join(spelled, ", ")
}

// errByHand is for spellings that a program should not rewrite.
var errByHand = errors.New("it is spelled in a way that is changed by hand: write it as a table, [agents.NAME]")

// Store writes an agent into the user's file: its entries go into its table, or into a
// new one at the end. The rest of the file stays, with its comments. asDefault makes it
// the default agent. Store makes a missing file, readable by its user alone. It
// replaces the file as a whole, and follows a link.
func Store(path, name string, entries []Entry, asDefault bool) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	data, _, err := readUser(path, false)
	if err != nil {
		return err
	}
	text, err := withAgent(string(data), name, entries)
	if err == nil && asDefault {
		text, err = withDefault(text, name)
	}
	if err != nil {
		return &Problem{File: path, Text: err.Error()}
	}
	if err := check(path, text, name, asDefault); err != nil {
		return err
	}
	return replace(path, text)
}

// check makes sure that the new text means what was intended.
func check(path, text, name string, asDefault bool) error {
	f := decode(path, []byte(text), false)
	top := f.values(f.top, Top, "")
	c := &Config{File: path}
	c.choose(&Options{}, top, nil)
	f.agent(name)
	if err := f.err(); err != nil {
		return err
	}
	if f.agents[name] == nil || asDefault && c.Agent != name {
		return &Problem{File: path, Text: errByHand.Error()}
	}
	return nil
}

// withAgent returns the text of a file with entries in an agent's table.
func withAgent(text, name string, entries []Entry) (string, error) {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if t, err := findTable(text, name, ""); err != nil {
		return "", err
	} else if !t.found {
		if text != "" {
			text += "\n"
		}
		text += "[agents." + name + "]\n"
	}
	for i := len(entries) - 1; i >= 0; i-- { // new ones stand behind the header
		e := entries[i]
		t, err := findTable(text, name, e.Key)
		if err != nil {
			return "", err
		}
		line := e.Key + " = " + e.Value
		switch {
		case t.from < t.to && e.Value == "":
			text = text[:strings.LastIndexByte(text[:t.from], '\n')+1] + text[endOfLine(text, t.to):]
		case t.from < t.to:
			text = text[:t.from] + line + text[t.to:]
		case e.Value != "":
			text = text[:t.behind] + line + "\n" + text[t.behind:]
		}
	}
	return text, nil
}

// A spot is the place of an agent's table in a file, and of a key in it.
type spot struct {
	found    bool
	behind   int // the line behind the table's header
	from, to int // of the key and its value; equal if it is missing
}

// findTable finds the table of an agent, and a key in it.
func findTable(text, name, key string) (t spot, err error) {
	inside, dotted := false, true
	fault := each([]byte(text), func(n *unstable.Node, at []string, from int) bool {
		if n.Kind == unstable.KeyValue {
			switch {
			case dotted && at[0] == "agents", inside && len(at) > 1 && at[0] == key:
				err = errByHand
			case inside && at[0] == key:
				t.from, t.to = int(n.Raw.Offset), int(n.Raw.Offset+n.Raw.Length)
			}
			return err == nil
		}
		dotted = false
		ours := len(at) > 1 && at[0] == "agents" && at[1] == name
		if inside = ours && len(at) == 2; inside {
			t.found, t.behind = true, endOfLine(text, from)
		}
		if at[0] == "agents" && len(at) == 1 || ours && len(at) > 2 && at[2] == key {
			err = errByHand // what follows looks like dotted keys, or it is a table of its own
		}
		return err == nil
	})
	return t, cmp.Or(err, fault)
}

func endOfLine(text string, at int) int {
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// withDefault returns a file's text with name as its default agent.
func withDefault(text, name string) (string, error) {
	out := "agent = " + Quote(name) + "\n"
	if text != "" { // apart from a comment at its beginning
		out += "\n" + text
	}
	err := each([]byte(text), func(n *unstable.Node, at []string, _ int) bool {
		isKey := n.Kind == unstable.KeyValue
		if isKey && len(at) == 1 && at[0] == "agent" {
			v := n.Value().Raw
			out = text[:v.Offset] + Quote(name) + text[v.Offset+v.Length:]
			return false
		}
		return isKey
	})
	return out, err
}

func replace(path, text string) error {
	if err := safe.Replace(path, []byte(text)); err != nil {
		return &Problem{File: path, Text: "it cannot be written: " + reason(err)}
	}
	return nil
}

// Create writes a file that is not there yet.
func Create(path, text string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return &Problem{File: path, Text: "it is there already, and stays as it is"}
	}
	return replace(path, text)
}
