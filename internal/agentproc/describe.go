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

// Describe is a command for people: without the values of the variables that it
// sets, which may be credentials.
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

// Environ is the environment for a program that is started for the user: ours,
// without the A2ASTDIO_ variables, which are about us and may hold credentials.
func Environ() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		const ours = "A2ASTDIO_"
		return len(v) >= len(ours) && strings.EqualFold(v[:len(ours)], ours) // Windows does not tell cases apart
	})
}
