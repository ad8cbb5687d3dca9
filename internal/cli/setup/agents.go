package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/agentproc"
	"github.com/a2astdio/a2astdio/internal/cardsign"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/config"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// lookTime bounds how long one agent may take to show its card: the user waits for all of
// them.
const lookTime = 5 * time.Second

func AgentsCommand(p *frame.Program) *cli.Command {
	return p.AgentCommand("agents", agents,
		frame.Output(`[{"name","default","url","command","state","says"}], state being ready, credentials, unreachable, wrong or not-started`))
}

// An agentEntry is an agent of the configuration, and what was found.
type agentEntry struct {
	Name    string `json:"name"`
	Default bool   `json:"default"`
	URL     string `json:"url,omitempty"`
	Command string `json:"command,omitempty"`
	State   string `json:"state"` // the words are in the help
	Says    string `json:"says"`
}

func agents(p *frame.Program, c *cli.Context) error {
	files, named, err := config.List(&config.Options{File: c.String("config")})
	if err != nil {
		return frame.Mark(frame.ErrConfig, err)
	}
	meant := cmp.Or(c.String("agent"), c.String("agent-command"), files.Agent)
	list := make([]agentEntry, len(named))
	var wg sync.WaitGroup
	for i, n := range named {
		a := &list[i]
		*a = agentEntry{Name: n.Name, Default: n.Default, URL: reach.ShownAddress(n.URL), Command: n.Command}
		if n.Command != "" {
			a.Command = agentproc.Describe(n.Command)
		}
		if a.State, a.Says = judge(&n, files.File); a.State != "" {
			continue
		}
		p.Others = n.Name != meant && (meant != "" || len(named) > 1)
		l, err := linkTo(c.Context, p, n.Name)
		if err != nil {
			a.State, a.Says = "wrong", frame.WithoutWho(err)
			continue
		}
		wg.Go(func() { // ends with its look, which lookTime bounds
			defer l.Close()
			a.State, a.Says = lookAt(c.Context, l)
			a.Says = safe.Short(l.Options.Mask(a.Says), frame.MaxValue)
		})
	}
	wg.Wait()
	if c.Context.Err() != nil {
		return frame.ErrInterrupted
	}
	if frame.AsJSON(c) {
		return p.PrintJSON(list)
	}
	return p.Show(agentsPage(list, files.File))
}

func agentsPage(list []agentEntry, file string) *frame.Page {
	out := &frame.Page{}
	width := 0
	for _, a := range list {
		width = max(width, min(len(a.Name), 24))
	}
	for _, a := range list {
		mark := map[bool]string{true: "* ", false: "  "}[a.Default]
		out.Hanging(fmt.Sprintf("%s%-*s  ", mark, width, a.Name), width+4, cmp.Or(a.URL, a.Command)+"\n"+a.Says)
	}
	if len(list) == 0 {
		out.Heading("You have named no agent yet: a2astdio setup adds one to " + file)
	}
	return out
}

// judge tells what is known of an agent of a file without asking it; state is "" if it has
// to be asked. A started one is not started for that.
func judge(n *config.Named, file string) (state, says string) {
	switch {
	case n.Err != nil:
		return "wrong", n.Err.Error()
	case n.URL == reach.DemoAgent:
		return "ready", "ready: it is built in"
	case n.Command == "":
		return "", ""
	}
	_, words, err := agentproc.Words(n.Command)
	if err == nil {
		agentproc.Absolute(words, filepath.Dir(reach.Absolute(file)))
		_, err = exec.LookPath(words[0])
	}
	if err != nil {
		return "wrong", "cannot be started: " + frame.WithoutWho(err)
	}
	return "not-started", "is started when it is used"
}

// linkTo makes the link to a named agent, without what only a conversation needs: a look
// leaves no trace, and listens to nobody.
func linkTo(ctx context.Context, p *frame.Program, name string) (*reach.Link, error) {
	return reach.Reopen(ctx, p, func(c *cli.Context) error {
		p.Alone = true
		set := map[string]string{"agent": name, "agent-command": "", "timeout": lookTime.String(), "trace": "", "log": "", "webhook": "", "webhook-url": "", "webhook-jwks": ""}
		for option, value := range set {
			if err := c.Set(option, value); err != nil {
				return err
			}
		}
		return nil
	})
}

// lookAt tells what an agent's card, and the way to it, show.
func lookAt(ctx context.Context, l *reach.Link) (state, says string) {
	ctx, stop := context.WithTimeout(ctx, lookTime)
	defer stop()
	card, err := l.Client.Card(ctx)
	switch {
	case a2a.ErrorOf(err).Unauthenticated():
		return "credentials", "wants credentials, or other ones"
	case errors.As(err, new(*cardsign.UntrustedError)):
		return "wrong", frame.WithoutWho(err)
	case err != nil:
		return "unreachable", "not reached: " + frame.WithoutWho(err)
	}
	how, err := l.Client.Chosen(ctx)
	if err != nil {
		return "wrong", frame.WithoutWho(err)
	}
	return "ready", fmt.Sprintf("ready: %s %s, A2A %s", card.Name, card.Version, how.Version)
}

// understand interprets what a person enters as the agent: a name that the
// configuration defines (known); a URL, also without a scheme, a file, or the demo (agent); or
// else a command that starts the agent. It returns one of the three.
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
