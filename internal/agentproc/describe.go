package agentproc

import (
	"os"
	"runtime"
	"slices"
	"strings"
)

// Program returns the program that a command runs.
func Program(command string) (string, error) {
	_, words, err := splitWords(command, runtime.GOOS == "windows")
	if err != nil {
		return "", err
	}
	return words[0], nil
}

// Describe shortens a command for people. It leaves out the values of variables, which
// may be credentials.
func Describe(command string) string {
	env, words, err := splitWords(command, runtime.GOOS == "windows")
	if err != nil {
		return command
	}
	for i, v := range env {
		name, _, _ := strings.Cut(v, "=")
		env[i] = name + "=***"
	}
	return strings.Join(append(env, words...), " ")
}

// Environ is the environment for the user's programs: ours without the A2ASTDIO_
// variables, which configure this program and may hold credentials.
func Environ() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		const ours = "A2ASTDIO_"
		return len(v) >= len(ours) && strings.EqualFold(v[:len(ours)], ours) // Windows ignores case
	})
}
