package config

import (
	"fmt"
	"os"
	"strings"

	"github.com/a2astdio/a2astdio/internal/safe"
)

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
