package cli

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// pushCommand manages where the agent reports a task's changes.
func (p *program) pushCommand() *cli.Command {
	one := func(name, usage, what, result, sample string, names []string, make func(*cli.Context, []string) (pushCall, error), flags ...cli.Flag) *cli.Command {
		action := func(c *cli.Context) error { return p.push(c, names, make) }
		c := taskCommandOf("push-config "+name, usage, action, help{
			intro:    what + "\n\nThe result is JSON: " + result + ".",
			usage:    []string{"a2astdio --agent URL task push-config " + name + " [options] " + strings.Join(names, " ")},
			examples: []example{{"a2astdio task push-config " + name + " " + sample, "the agent is in A2ASTDIO_AGENT"}},
		}, flags...)
		c.Name = name
		return c
	}
	g := group("task push-config", "say where the agent reports what becomes of a task", help{
		intro:    "An agent that can push posts each change of a task to a web address.",
		usage:    []string{"a2astdio --agent URL task push-config COMMAND [options] TASK-ID [ID]"},
		examples: []example{{"a2astdio task push-config list 4f0c...", "where it reports now"}},
	},
		one("set", "have the agent report to a URL", "Asks the agent to post what becomes of a task to a URL.", "A2A 1.0's TaskPushNotificationConfig", "4f0c... https://me.example/hook", []string{"TASK-ID", "URL"}, setPush,
			&cli.StringFlag{Name: "id", Usage: "`ID`: what the configuration is called; the agent chooses, if not given"},
			&cli.StringFlag{Name: "token", Usage: "`@FILE`: what the agent sends along, so that the receiver knows it"},
			&cli.StringFlag{Name: "auth-scheme", Usage: "`SCHEME`: how the agent authenticates itself there, in the header Authorization: Bearer, Basic, ..."},
			&cli.StringFlag{Name: "auth-credentials", Usage: "`@FILE`: what follows the scheme in that header"},
			&cli.StringSliceFlag{Name: "webhook-allow", Usage: "`HOST|CIDR`: a private address that the URL may lead to. Repeatable"}),
		one("get", "show one configuration", "Shows one place where the agent reports.", "A2A 1.0's TaskPushNotificationConfig", "4f0c... 1", []string{"TASK-ID", "[ID]"}, getPush),
		one("list", "list the configurations of a task", "Lists where the agent reports.", `{"configs":[...]}`, "4f0c...", []string{"TASK-ID"}, listPush),
		one("delete", "remove a configuration", "Has the agent report there no more.", "{}", "4f0c... 1", []string{"TASK-ID", "ID"}, deletePush))
	g.HelpName = "a2astdio task push-config"
	return g
}

func (p *program) push(c *cli.Context, names []string, make func(*cli.Context, []string) (pushCall, error)) error {
	args, err := p.arguments(c, names...)
	if err != nil {
		return err
	}
	call, err := make(c, args)
	if err != nil {
		return err
	}
	l, err := p.reachTask(c, args)
	if err != nil {
		return err
	}
	defer l.close()
	result, err := call(c.Context, l.client)
	if err != nil {
		return err
	}
	return p.printJSON(result)
}

// pushJSON is a configuration in A2A 1.0's form (§4.3.1).
type pushJSON struct {
	TaskID         string          `json:"taskId"`
	ID             string          `json:"id,omitempty"`
	URL            string          `json:"url"`
	Token          string          `json:"token,omitempty"`
	Authentication json.RawMessage `json:"authentication,omitempty"`
}

// pushOf leaves credentials out: the user asked where an agent reports, not for its
// credentials.
func pushOf(c *a2a.PushConfig) pushJSON {
	j := pushJSON{TaskID: c.TaskID, ID: c.ID, URL: c.URL}
	if c.Token != "" {
		j.Token = "***"
	}
	if a := c.Authentication; a != nil && len(a.Schemes) > 0 {
		// A map of strings is always encodable.
		j.Authentication, _ = encode(map[string]string{"scheme": a.Schemes[0]})
	}
	return j
}

// A pushCall makes one request; its options were checked.
type pushCall func(context.Context, *transport.Client) (any, error)

func setPush(c *cli.Context, args []string) (pushCall, error) {
	if u, err := url.Parse(args[1]); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, usagef("%q is no http or https URL", args[1])
	}
	config := a2a.PushConfig{TaskID: args[0], ID: c.String("id"), URL: args[1]}
	var err error
	if config.Token, err = secretFile("token", c.String("token")); err != nil {
		return nil, err
	}
	credentials, err := secretFile("auth-credentials", c.String("auth-credentials"))
	if err != nil {
		return nil, err
	}
	switch scheme := c.String("auth-scheme"); {
	case scheme != "":
		config.Authentication = &a2a.PushAuthentication{Schemes: []string{scheme}, Credentials: credentials}
	case c.String("auth-credentials") != "":
		return nil, usagef("--auth-credentials needs --auth-scheme, such as Bearer")
	}
	allow := append(fields(listOf(c, "webhook-allow")), fields(stringsOf(c, "webhook-allow"))...)
	return func(ctx context.Context, client *transport.Client) (any, error) {
		if err := client.CheckWebhook(ctx, config.URL, &transport.WebhookPolicy{Allow: allow}); err != nil {
			return nil, usagef("%s", strings.TrimPrefix(err.Error(), "agent: "))
		}
		config.TaskID = args[0] // its whole ID
		return pushResult(client.SetPush(ctx, config))
	}, nil
}

// secretFile reads an option of @ and a file with a secret.
func secretFile(name, value string) (string, error) {
	if value == "" {
		return "", nil
	}
	file, ok := strings.CutPrefix(value, "@")
	if !ok {
		return "", usagef("--%s takes @ and a file: on a command line anybody could read it", name)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return "", usagef("--%s: %v", name, err)
	}
	return strings.TrimSpace(string(b)), nil
}

func getPush(_ *cli.Context, args []string) (pushCall, error) {
	return func(ctx context.Context, client *transport.Client) (any, error) {
		return pushResult(client.GetPush(ctx, args[0], strings.Join(args[1:], "")))
	}, nil
}

func pushResult(config *a2a.PushConfig, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return pushOf(config), nil
}

func listPush(_ *cli.Context, args []string) (pushCall, error) {
	return func(ctx context.Context, client *transport.Client) (any, error) {
		list, err := client.ListPush(ctx, args[0])
		configs := []pushJSON{}
		for i := range list {
			configs = append(configs, pushOf(&list[i]))
		}
		return map[string]any{"configs": configs}, err
	}, nil
}

func deletePush(_ *cli.Context, args []string) (pushCall, error) {
	return func(ctx context.Context, client *transport.Client) (any, error) {
		return struct{}{}, client.DeletePush(ctx, args[0], args[1])
	}, nil
}
