package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/agentproc"
	"github.com/a2astdio/a2astdio/internal/cardsign"
	"github.com/a2astdio/a2astdio/internal/config"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

const (
	// lookTime bounds how long one agent may take to show its card: the user waits for all
	// of them.
	lookTime = 5 * time.Second
	// looksAtOnce bounds how many connections a list makes at once.
	looksAtOnce = 8
)

func (p *program) agentsCommand() *cli.Command {
	return documented(&cli.Command{
		Name:  "agents",
		Usage: "list your agents and their state",
		Flags: append([]cli.Flag{
			outputFlag(`[{"name","default","url","command","state","says"}], state being ready, credentials, unreachable, wrong or not-started`)}, behindCommand()...),
		Action: p.agents,
	}, help{
		intro: `Lists the agents of your configuration, looks at the card of each that has a
URL, and says what it has found. None is started. The one with a * is used
when no other is named. a2astdio setup adds one; a2astdio --agent NAME uses one.`,
		usage:    []string{"a2astdio agents [options]"},
		examples: []example{{"a2astdio agents", "which are there?"}, {"a2astdio agents -o json | jq -r '.[].name'", "their names, for a script"}},
		after:    "\nExit status:\n  0    done, whatever the agents said\n  2    a2astdio was called wrongly, or a file has something wrong\n  130  interrupted\n",
	})
}

// States of an agent in the list.
const (
	stateReady       = "ready"
	stateCredentials = "credentials"
	stateUnreachable = "unreachable"
	stateWrong       = "wrong"
	stateNotStarted  = "not-started"
)

// An agentEntry is an agent of the configuration, and what was found.
type agentEntry struct {
	Name    string `json:"name"`
	Default bool   `json:"default"`
	URL     string `json:"url,omitempty"`
	Command string `json:"command,omitempty"`
	State   string `json:"state"`
	Says    string `json:"says"`
}

func (p *program) agents(c *cli.Context) error {
	_, asJSON, err := p.inputs(c)
	if err != nil {
		return err
	}
	opts := &config.Options{File: stringOf(c, "config"), Workspace: workspaceOf(c)}
	files, named, err := config.List(opts)
	if err != nil {
		// The workspace's file may name an agent that does not exist. The user is sent here
		// to see which agents exist, so the list is shown all the same.
		wrong := &configError{err}
		opts.Workspace = ""
		if files, named, err = config.List(opts); err != nil {
			return wrong
		}
		p.say("%v", wrong)
	}
	list := p.look(c.Context, named)
	if c.Context.Err() != nil {
		return errInterrupted
	}
	if asJSON {
		return p.printJSON(list)
	}
	out := &page{}
	width := 0
	for _, a := range list {
		width = max(width, min(len(a.Name), 24))
	}
	for _, a := range list {
		mark := "  "
		if a.Default {
			mark = "* "
		}
		out.hanging(fmt.Sprintf("%s%-*s  ", mark, width, a.Name), width+4, cmp.Or(a.URL, a.Command)+"\n"+a.Says)
	}
	if len(list) == 0 {
		out.heading("You have named no agent yet: a2astdio setup adds one to " + files.File)
	}
	return p.show(out)
}

// look looks at all agents, several at once. It returns when all have answered, or when
// ctx or lookTime ends.
func (p *program) look(ctx context.Context, named []config.Named) []agentEntry {
	list := make([]agentEntry, len(named))
	slots := make(chan struct{}, looksAtOnce)
	var wg sync.WaitGroup
	for i := range named {
		wg.Go(func() { // ends with its look, which lookTime bounds
			slots <- struct{}{}
			defer func() { <-slots }()
			list[i] = p.lookAt(ctx, &named[i])
		})
	}
	wg.Wait()
	return list
}

func (p *program) lookAt(ctx context.Context, n *config.Named) agentEntry {
	a := agentEntry{Name: n.Name, Default: n.Default}
	if v := n.Value("command"); v != nil {
		a.Command = agentproc.Describe(v.Text)
		a.State, a.Says = lookAtCommand(v.Text)
		return a
	}
	agent := n.Value("url").Text
	if a.URL = agentName(agent); agent == demoAgent {
		a.State, a.Says = stateReady, "ready: it is built in"
		return a
	}
	a.State, a.Says = p.lookAtURL(ctx, agent, n)
	return a
}

// lookAtCommand reports whether the command's program exists.
func lookAtCommand(command string) (state, says string) {
	program, err := agentproc.Program(command)
	if err == nil {
		_, err = exec.LookPath(program)
	}
	if err != nil {
		return stateWrong, "cannot be started: " + withoutWho(err)
	}
	return stateNotStarted, "is started when it is used"
}

// lookAtURL fetches the agent's card.
func (p *program) lookAtURL(ctx context.Context, agent string, n *config.Named) (state, says string) {
	opts := &transport.ClientOptions{Header: http.Header{}, Timeout: lookTime, UserAgent: "a2astdio/" + p.version}
	if v := n.Value("headers"); v != nil {
		for _, h := range v.Headers {
			value, err := h.Expand(nil)
			if err != nil {
				return stateWrong, err.Error()
			}
			opts.Header.Add(h.Name, value)
		}
	}
	if v := n.Value("trust-origins"); v != nil {
		opts.TrustOrigins = v.List
	}
	if v := n.Value("a2a-version"); v != nil {
		opts.Version = v.Text
	}
	if err := requireSignature(n, opts); err != nil {
		return stateWrong, withoutWho(err)
	}
	client, err := transport.NewClient(agent, opts)
	if err != nil {
		return stateWrong, withoutWho(err)
	}
	defer client.Close()
	ctx, stop := context.WithTimeout(ctx, lookTime)
	defer stop()
	card, err := client.Card(ctx)
	refusal := (*a2a.Error)(nil)
	switch {
	case errors.As(err, &refusal) && refusal.Unauthenticated():
		return stateCredentials, "wants credentials, or other ones"
	case err != nil:
		return stateUnreachable, "not reached: " + short(withoutWho(err), maxValue)
	}
	how, err := client.Chosen(ctx)
	if err != nil {
		return stateWrong, short(withoutWho(err), maxValue)
	}
	return stateReady, short(fmt.Sprintf("ready: %s %s, A2A %s", card.Name, card.Version, how.Version), maxValue)
}

// requireSignature has the card checked where the agent requires a signature. Then the
// card is fetched without the agent's headers.
func requireSignature(n *config.Named, client *transport.ClientOptions) error {
	required, keys := n.Value("require-signature"), n.Value("signature-keys")
	if required == nil || required.Text != "true" {
		return nil
	}
	if keys == nil {
		return usagef("require-signature needs to know whose: signature-keys names the keys that you trust")
	}
	verifier, err := cardsign.NewVerifier(keys.List, nil)
	if err != nil {
		return usagef("signature-keys: %v", err)
	}
	client.BareCard = true
	client.CheckCard = func(ctx context.Context, card []byte, from *url.URL) ([]byte, error) {
		report, err := verifier.Verify(ctx, card, from)
		if err == nil {
			err = report.Err()
		}
		if err != nil {
			return nil, err
		}
		return report.Card(), nil
	}
	return nil
}
