package credentials

import (
	"fmt"
	"strings"

	"github.com/a2astdio/a2astdio/internal/safe"
)

// maxSecret bounds a secret: tokens of users in many groups have some ten kB.
const maxSecret = 64 << 10

// A Secret is a place of a secret. At most one of Value, File and Command is set.
type Secret struct {
	// Value is the secret itself, from an environment variable. It never comes from an
	// argument, which everybody on the machine can read.
	Value string
	// File holds it. It is read each time, because it may be replaced.
	File string
	// Command prints it: it becomes the line of [Options.Command].
	Command string
	// Name is its name in messages: A2ASTDIO_TOKEN.
	Name string
}

// IsZero reports whether no place is set.
func (s Secret) IsZero() bool { return s.Value == "" && s.File == "" && s.Command == "" }

// read returns the secret, without surrounding blanks.
func (s Secret) read() (string, error) {
	value := s.Value
	if s.File != "" {
		b, err := safe.ReadPrivate(s.File, maxSecret)
		if err != nil {
			return "", fmt.Errorf("%s: %w", s.Name, err)
		}
		value = string(b)
	}
	value = strings.TrimSpace(value)
	switch {
	case value == "":
		return "", fmt.Errorf("%s is empty", s.Name)
	case len(value) > maxSecret, strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r >= 0x7f }):
		return "", fmt.Errorf("%s holds more than one line of plain characters, so it is no token or password", s.Name)
	}
	return value, nil
}
