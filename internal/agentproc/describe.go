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

// Describe shortens a command for people. It leaves out what may be credentials: the values of
// variables, of options whose names say so, and of headers.
func Describe(command string) string {
	env, words, err := splitWords(command, runtime.GOOS == "windows")
	if err != nil {
		return "a command that cannot be read: " + err.Error()
	}
	for i, v := range env {
		name, _, _ := strings.Cut(v, "=")
		env[i] = name + "=***"
	}
	for i, word := range words {
		name, value, has := strings.Cut(word, "=")
		switch {
		case strings.Contains(strings.ToLower(word), "authorization:"), strings.HasPrefix(word, "Bearer "):
			words[i] = "***"
		case !strings.HasPrefix(word, "-") || !isSecret(name):
		case has && value != "":
			words[i] = name + "=***"
		case i+1 < len(words) && !strings.HasPrefix(words[i+1], "-"):
			words[i+1] = "***"
		}
	}
	return strings.Join(append(env, words...), " ")
}

// isSecret reports whether an option's name says that its value is a credential.
func isSecret(option string) bool {
	option = strings.ToLower(option)
	return !strings.HasSuffix(option, "file") && slices.ContainsFunc([]string{"token", "secret", "passw", "key", "auth", "credential"}, func(s string) bool { return strings.Contains(option, s) })
}

// Environ is the environment for the user's programs: ours without the A2ASTDIO_
// variables, which configure this program and may hold credentials.
func Environ() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		const ours = "A2ASTDIO_"
		return len(v) >= len(ours) && strings.EqualFold(v[:len(ours)], ours) // Windows ignores case
	})
}
