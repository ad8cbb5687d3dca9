package agentproc

import (
	"net/url"
	"os"
	"slices"
	"strings"
)

// Describe shortens a command for people. It leaves out what may be credentials: the
// values of variables and of options whose names say so, headers, user:password, and the
// user and query of URLs.
func Describe(command string) string {
	env, words, err := Words(command)
	if err != nil {
		return "a command that cannot be read: " + err.Error()
	}
	for i, v := range env {
		name, _, _ := strings.Cut(v, "=")
		env[i] = name + "=***"
	}
	for i := 1; i < len(words); i++ {
		before, _, follows := strings.Cut(words[i-1], "=")
		name, value, has := strings.Cut(words[i], "=")
		switch {
		case isSecret(before) && strings.HasPrefix(before, "-") && !follows && !strings.HasPrefix(words[i], "-"):
			words[i] = "***"
		case has && !strings.Contains(name, "://") && (isSecret(name) || public(value) != value):
			words[i] = name + "=" + cover(name, value)
		case !strings.HasPrefix(words[i], "-"):
			words[i] = public(words[i])
		}
	}
	return strings.Join(append(env, words...), " ")
}

// cover is the value of an option as it is shown.
func cover(name, value string) string {
	if isSecret(name) {
		return "***"
	}
	return public(value)
}

// public is a word without what may be a credential in it.
func public(word string) string {
	if u, err := url.Parse(word); err == nil && u.Host != "" {
		if u.User != nil {
			u.User = url.User("***")
		}
		if u.RawQuery != "" {
			u.RawQuery = "***"
		}
		u.Fragment = ""
		return strings.ReplaceAll(u.String(), "%2A%2A%2A", "***")
	}
	user, password, ok := strings.Cut(word, ":")
	switch {
	case strings.HasPrefix(word, "Bearer "), strings.HasPrefix(word, "Basic "):
		return "***"
	case !ok, strings.Trim(password, "0123456789") == "", strings.HasPrefix(password, `\`), strings.ContainsAny(user, `/\`), password == "{port}":
		return word // HOST:PORT, C:\x, ./x:y
	}
	return user + ":***"
}

// isSecret reports whether an option's name says that its value is a credential.
func isSecret(option string) bool {
	option = strings.ToLower(option)
	return !strings.HasSuffix(option, "file") && slices.ContainsFunc([]string{"token", "secret", "passw", "key", "auth", "credential", "header"}, func(s string) bool { return strings.Contains(option, s) })
}

// Environ is the environment for the user's programs: ours without the A2ASTDIO_
// variables, which configure this program and may hold credentials.
func Environ() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		const ours = "A2ASTDIO_"
		return len(v) >= len(ours) && strings.EqualFold(v[:len(ours)], ours) // Windows ignores case
	})
}
