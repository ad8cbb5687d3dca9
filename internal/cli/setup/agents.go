package setup

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/agentproc"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/config"
	"github.com/a2astdio/a2astdio/internal/safe"
)

func AgentsCommand(p *frame.Program) *cli.Command {
	return p.NewCommand("agents", agents, frame.Output(`[{"name","default","url","command","wrong"}]`))
}

// An agentEntry is an agent of the configuration, and what is wrong with its table.
type agentEntry struct {
	Name    string `json:"name"`
	Default bool   `json:"default"`
	URL     string `json:"url,omitempty"`
	Command string `json:"command,omitempty"`
	Wrong   string `json:"wrong,omitempty"`
}

func agents(p *frame.Program, c *cli.Context) error {
	files, named, err := config.List(&config.Options{File: c.String("config")})
	if err != nil {
		return frame.Mark(frame.ErrConfig, err)
	}
	list, width := []agentEntry{}, 0
	for _, n := range named {
		a := agentEntry{Name: n.Name, Default: n.Default, URL: reach.ShownAddress(n.URL)}
		if n.Command != "" {
			a.Command = agentproc.Describe(n.Command)
		}
		if n.Err != nil {
			a.Wrong = n.Err.Error()
		}
		list, width = append(list, a), max(width, min(len(a.Name), 24))
	}
	if frame.AsJSON(c) {
		return p.PrintJSON(list)
	}
	out := &frame.Page{}
	for _, a := range list {
		mark := "  "
		if a.Default {
			mark = "* "
		}
		out.Hanging(fmt.Sprintf("%s%-*s  ", mark, width, a.Name), width+4, cmp.Or(a.URL, a.Command)+"\n"+a.Wrong)
	}
	if len(list) == 0 {
		out.Heading("You have named no agent yet: a2astdio setup adds one to " + files.File)
	}
	return p.Show(out)
}

// understand interprets what a person enters as the agent: a name that the
// configuration defines; a URL, also without a scheme; a file; the demo; or else a
// command that starts the agent.
func understand(conf *reach.Configuration, text string) (agent, command, known string, err error) {
	info, statErr := os.Stat(text)
	isFile := statErr == nil && info.Mode().IsRegular() && info.Mode()&0o111 == 0 // an executable is a command
	switch {
	case slices.Contains(conf.Files.Names(), text):
		return "", "", text, nil
	case text == reach.DemoAgent || strings.Contains(text, "://"):
		return text, "", "", nil
	case isFile || strings.HasSuffix(text, ".json") && !strings.Contains(text, " "):
		return text, "", "", nil
	}
	if at := withScheme(text); at != "" {
		return at, "", "", nil
	}
	_, words, err := agentproc.Words(text)
	if err != nil {
		return "", "", "", err
	}
	if _, err := exec.LookPath(words[0]); err != nil && config.ValidName(text) {
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
