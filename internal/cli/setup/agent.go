package setup

import (
	"net/url"
	"os/exec"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/internal/agentproc"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/config"
	"github.com/a2astdio/a2astdio/internal/safe"
)

// understand interprets what a person enters as the agent: a name that the
// configuration defines; a URL, also without a scheme; a file; the demo; or else a
// command that starts the agent.
func understand(conf *reach.Configuration, text string) (agent, command, known string, err error) {
	switch {
	case slices.Contains(conf.Files.Names(), text):
		return "", "", text, nil
	case text == reach.DemoAgent || strings.Contains(text, "://"):
		return text, "", "", nil
	case reach.IsFile(text) || strings.HasSuffix(text, ".json") && !strings.Contains(text, " "):
		return text, "", "", nil
	}
	if at := withScheme(text); at != "" {
		return at, "", "", nil
	}
	program, err := agentproc.Program(text)
	if err != nil {
		return "", "", "", err
	}
	if _, err := exec.LookPath(program); err != nil && config.ValidName(text) {
		return "", "", "", frame.Usagef("%s; nor is there a program of that name", conf.Files.NoAgent(text))
	}
	return "", text, "", nil
}

// withScheme completes a URL without a scheme, such as localhost:41242 or
// agent.example.com/a2a. It returns "" for anything else.
func withScheme(text string) string {
	u, err := url.Parse("http://" + text)
	if err != nil || strings.ContainsAny(text, " \t") || u.Host == "" {
		return ""
	}
	host := u.Hostname()
	switch {
	case safe.ThisMachine(host):
		return u.String()
	case !strings.Contains(host, ".") || strings.HasPrefix(text, ".") || strings.HasPrefix(text, "/"):
		return "" // a program, or a path of one
	}
	u.Scheme = "https"
	return u.String()
}
