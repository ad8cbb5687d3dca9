package reach

import (
	"cmp"
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/mapping/dialect"
)

// Headers reads --header. Errors leave out the value, which is likely to be a password.
func Headers(list []string) (http.Header, error) {
	h := http.Header{}
	for i, line := range list {
		name, value, ok := strings.Cut(line, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || !safe.HeaderName(name) || !safe.HeaderValue(value) {
			return nil, frame.Usagef("--header: number %d is not written like 'Name: value'", i+1)
		}
		h.Add(name, value)
	}
	return h, nil
}

// JSONObject reads an option that is a JSON object, or @ and a file with one.
func JSONObject(name, value string) (json.RawMessage, error) {
	if value == "" {
		return nil, nil
	}
	b := []byte(value)
	if file, ok := strings.CutPrefix(value, "@"); ok {
		var err error
		if b, err = os.ReadFile(file); err != nil {
			return nil, frame.Usagef("--%s: %v", name, err)
		}
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(b, &object); err != nil || object == nil {
		return nil, frame.Usagef("--%s is not a JSON object like {\"autoExecute\":true}", name)
	}
	return b, nil
}

func mediaTypes(list []string) (all []string, err error) {
	for _, mode := range strings.FieldsFunc(strings.Join(list, ","), func(r rune) bool { return r == ',' }) {
		mode = strings.TrimSpace(mode)
		if _, _, err := mime.ParseMediaType(mode); err != nil || !strings.Contains(mode, "/") {
			return nil, frame.Usagef("--accept does not take %q: it takes media types like text/plain", mode)
		}
		all = append(all, mode)
	}
	return all, nil
}

// Fields splits the words of a variable: neither URLs nor URIs have blanks.
func Fields(list []string) []string { return strings.Fields(strings.Join(list, " ")) }

func extensionURIs(list []string) (all []string, err error) {
	for _, uri := range list {
		if !dialect.IsURI(uri) {
			return nil, frame.Usagef("--extension does not take %q: it takes the URI of an extension, like https://example.com/extension/v1", uri)
		}
		if !slices.Contains(all, uri) {
			all = append(all, uri)
		}
	}
	return all, nil
}

// urlSecrets lists the possible secrets in the agent's URL: a password, or a user without one,
// which is a token, and the whole query, since some agents want a key there.
func urlSecrets(agent string) []string {
	u, err := url.Parse(agent)
	if err != nil || u.Host == "" {
		return nil
	}
	var secrets []string
	if password, _ := u.User.Password(); u.User != nil {
		secrets = append(secrets, cmp.Or(password, u.User.Username()), u.User.Username()+":"+password)
	}
	for _, values := range u.Query() {
		secrets = append(secrets, values...)
	}
	return secrets
}
