package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2/unstable"
)

// An Origin is where a value was set.
type Origin struct {
	File string
	Line int
	// Agent is the name of the agent of its table, "" for the top.
	Agent string
	// Workspace: the file is a workspace's.
	Workspace bool
}

// A Value is a key's value in a file. The key's kind tells which member holds it: List
// for a KindList, Headers for KindHeaders, Text for the others, as the option takes it:
// an object as JSON, a path absolute.
type Value struct {
	Key     *Key
	Text    string
	List    []string
	Headers []Header
	From    Origin
}

// A Header is a header for the agent. Its value may name variables: see
// [Header.Expand].
type Header struct {
	Name, Value string
	Line        int
}

// check returns what is wrong with a value, "" if nothing. It allocates nothing: most
// values of a file are only checked.
func (k *Key) check(n *unstable.Node) string {
	ok := n.Kind == unstable.String
	switch k.Kind {
	case KindBool:
		ok = n.Kind == unstable.Bool
	case KindList:
		ok = n.Kind == unstable.Array
		for it := n.Children(); ok && it.Next(); {
			ok = it.Node().Kind == unstable.String && len(it.Node().Data) > 0
		}
	case KindHeaders, KindObject:
		ok = n.Kind == unstable.InlineTable
	case KindWord:
		ok = ok && slices.Contains(k.Words(), string(n.Data))
	case KindDuration:
		ok = ok && isDuration(string(n.Data))
	default:
		ok = ok && len(n.Data) > 0
	}
	if ok {
		return ""
	}
	return k.Name + " is " + k.takes()
}

// isDuration reports whether a string is a duration as options take it.
func isDuration(s string) bool {
	d, err := time.ParseDuration(s)
	return err == nil && d > 0
}

// keep makes the value that a node stands for.
func (k *Key) keep(n *unstable.Node, from Origin) Value {
	v := Value{Key: k, Text: string(n.Data), From: from}
	switch k.Kind {
	case KindList:
		v.Text = ""
		for it := n.Children(); it.Next(); {
			text := string(it.Node().Data)
			if k.Name == "signature-keys" && !IsKeyElsewhere(text) {
				text = resolve(text, from.File)
			}
			v.List = append(v.List, text)
		}
	case KindPath:
		v.Text = resolve(v.Text, from.File)
	case KindLocation:
		// An agent's name is not a path; it was looked up before.
		if k.Name != "agent" && v.Text != demo && !strings.Contains(v.Text, "://") {
			v.Text = resolve(v.Text, from.File)
		}
	}
	return v
}

// demo is the built-in agent, which no agent may be named.
const demo = "demo"

var errNoJSON = errors.New("JSON has no such number")

// IsKeyElsewhere reports whether a signature key is a URL or a thumbprint, not a file's
// name.
func IsKeyElsewhere(text string) bool {
	return strings.Contains(text, "://") || strings.HasPrefix(text, "sha256:")
}

// plain converts a value to what JSON can hold.
func plain(n *unstable.Node) (any, error) {
	switch n.Kind {
	case unstable.Bool:
		return string(n.Data) == "true", nil
	case unstable.Integer:
		return strconv.ParseInt(strings.ReplaceAll(string(n.Data), "_", ""), 0, 64)
	case unstable.Float:
		f, err := strconv.ParseFloat(strings.ReplaceAll(string(n.Data), "_", ""), 64)
		if err == nil && (math.IsInf(f, 0) || math.IsNaN(f)) {
			err = errNoJSON
		}
		return f, err
	case unstable.Array:
		list := []any{}
		for it := n.Children(); it.Next(); {
			v, err := plain(it.Node())
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case unstable.InlineTable:
		object := map[string]any{}
		for it := n.Children(); it.Next(); {
			if err := put(object, path(nil, it.Node()), it.Node().Value()); err != nil {
				return nil, err
			}
		}
		return object, nil
	}
	return string(n.Data), nil // a string, or a date
}

// put puts a value into nested objects.
func put(object map[string]any, at [][]byte, n *unstable.Node) error {
	for len(at) > 1 {
		inner, ok := object[string(at[0])].(map[string]any)
		if !ok {
			if object[string(at[0])] != nil {
				return fmt.Errorf("%s is set twice", shown(at[0]))
			}
			inner = map[string]any{}
			object[string(at[0])] = inner
		}
		object, at = inner, at[1:]
	}
	if object[string(at[0])] != nil {
		return fmt.Errorf("%s is set twice", shown(at[0]))
	}
	v, err := plain(n)
	object[string(at[0])] = v
	return err
}

// path appends the key of a node to a path.
func path(at [][]byte, n *unstable.Node) [][]byte {
	for it := n.Key(); it.Next(); {
		at = append(at, it.Node().Data)
	}
	return at
}

// encode returns an object's value as JSON.
func encode(object map[string]any) string {
	b, err := json.Marshal(object)
	if err != nil {
		return "{}" // cannot be: plain made it
	}
	return string(b)
}
