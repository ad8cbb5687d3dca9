package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/a2astdio/a2astdio/internal/safe"
)

// An Origin is where a value was set.
type Origin struct {
	File string
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
type Header struct{ Name, Value string }

// demo is the built-in agent, which no agent may be named.
const demo = "demo"

// value makes a key's value of what TOML has.
func (k *Key) value(v any, from Origin) (Value, error) {
	out := Value{Key: k, From: from}
	text, ok := v.(string)
	ok = ok && text != ""
	switch k.Kind {
	case KindBool:
		var on bool
		on, ok = v.(bool)
		text = fmt.Sprint(on)
	case KindNumber:
		n, _ := v.(int64)
		text, ok = fmt.Sprint(n), n > 0
	case KindList:
		text = ""
		out.List, ok = list(v)
		for i, item := range out.List {
			if k.Name == "signature-keys" {
				out.List[i] = resolve(item, from.File)
			}
		}
	case KindHeaders, KindObject:
		if table, isTable := v.(map[string]any); isTable {
			return out.fill(table)
		}
		ok = k.Kind == KindObject && isObject(text) // as the option takes it; only JSON has null
	case KindWord:
		ok = ok && slices.Contains(k.Words(), text)
	case KindDuration:
		d, _ := time.ParseDuration(text) // 0 if it is none
		ok = ok && d > 0
	case KindPath:
		text = resolve(text, from.File)
	case KindLocation:
		// An agent's name is not a path; it was looked up before.
		if k.Name != "agent" && text != demo {
			text = resolve(text, from.File)
		}
	}
	if !ok {
		return out, errors.New(k.Name + " is " + k.takes())
	}
	out.Text = text
	return out, nil
}

// fill reads a table: headers, or an object for the agent.
func (v Value) fill(table map[string]any) (Value, error) {
	if v.Key.Kind == KindObject {
		b, err := json.Marshal(table)
		if err != nil { // an infinite number, or none
			return v, fmt.Errorf("%s: JSON has no such value: %w", v.Key.Name, err)
		}
		v.Text = string(b)
		return v, nil
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		text, isText := table[name].(string)
		if !isText || !safe.HeaderName(name) {
			return v, fmt.Errorf(`%s: %s is no header: a header is written like Authorization = "…"`, v.Key.Name, shown(name))
		}
		h := Header{name, text}
		if err := h.check(); err != nil {
			return v, fmt.Errorf("%s: %w", v.Key.Name, err)
		}
		if slices.ContainsFunc(v.Headers, func(other Header) bool { return strings.EqualFold(other.Name, name) }) {
			return v, fmt.Errorf("%s: %s is there twice", v.Key.Name, name)
		}
		v.Headers = append(v.Headers, h)
	}
	return v, nil
}

func isObject(text string) bool {
	var object map[string]any
	return json.Unmarshal([]byte(text), &object) == nil && object != nil
}

// list reads a list of strings, none of which may be empty.
func list(v any) (texts []string, ok bool) {
	items, ok := v.([]any)
	for _, item := range items {
		text, isText := item.(string)
		if !isText || text == "" {
			return nil, false
		}
		texts = append(texts, text)
	}
	return texts, ok
}

// check checks a value before its variables are known. It does not quote the value,
// which may hold a credential.
func (h Header) check() error {
	if !safe.HeaderValue(h.Value) {
		return fmt.Errorf("%s has a character that no header may have", h.Name)
	}
	_, err := h.Expand(func(string) (string, bool) { return "", true })
	return err
}

// Variables returns the names of the value's variables.
func (h Header) Variables() (names []string) {
	_, _ = h.Expand(func(name string) (string, bool) {
		names = append(names, name)
		return "", true
	})
	return names
}

// Expand returns the value with ${NAME} replaced by the variable NAME; $${ stands for
// ${. lookup is [os.LookupEnv] if it is nil. A variable that is unset or empty gives an
// error with its name.
func (h Header) Expand(lookup func(string) (string, bool)) (string, error) {
	if lookup == nil {
		lookup = func(name string) (string, bool) {
			v := os.Getenv(name)
			return v, v != ""
		}
	}
	var b strings.Builder
	for rest := h.Value; ; {
		before, after, found := strings.Cut(rest, "${")
		if !found {
			b.WriteString(rest)
			return b.String(), nil
		}
		if literal, ok := strings.CutSuffix(before, "$"); ok {
			b.WriteString(literal + "${")
			rest = after
			continue
		}
		name, end, closed := strings.Cut(after, "}")
		if !closed || !safe.VariableName(name) {
			return "", fmt.Errorf(`%s has a "${" that is not the beginning of a variable: ${NAME} is one, and $${ stands for the characters`, h.Name)
		}
		v, ok := lookup(name)
		if !ok {
			return "", fmt.Errorf("%s needs the variable %s, which is not set", h.Name, name)
		}
		if !safe.HeaderValue(v) {
			return "", fmt.Errorf("%s needs the variable %s, which has a character that no header may have", h.Name, name)
		}
		b.WriteString(before + v)
		rest = end
	}
}
