package credentials

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
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
	// Command prints it: see [Options.Command].
	Command string
	// Name is its name in messages: A2ASTDIO_TOKEN.
	Name string
}

// IsZero reports whether no place is set.
func (s Secret) IsZero() bool { return s.Value == "" && s.File == "" && s.Command == "" }

// read returns the secret, without surrounding blanks.
func (s Secret) read(ctx context.Context) (string, error) {
	value := s.Value
	switch {
	case s.File != "":
		b, err := readPrivate(s.File)
		if err != nil {
			return "", fmt.Errorf("%s: %w", s.Name, err)
		}
		value = string(b)
	case s.Command != "":
		out, err := runCommand(ctx, s.Command, "")
		if err != nil {
			return "", fmt.Errorf("%s: %w", s.Name, err)
		}
		value = string(out)
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

// readPrivate reads a file that others must not be able to read. It does not check
// another user's file, such as a secret in a container: its owner decides.
func readPrivate(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if others := othersMay(info); others != "" {
		return nil, fmt.Errorf("%s can be %s by others than you, so what is in it is not used: chmod 600 %[1]s, and take another secret if somebody may have seen it", file, others)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	if err == nil && len(b) > maxSecret {
		err = fmt.Errorf("%s has more than %d kB: it is no secret", file, maxSecret>>10)
	}
	return b, err
}
