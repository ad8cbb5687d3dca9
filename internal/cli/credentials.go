package cli

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/credentials"
	"github.com/a2astdio/a2astdio/internal/credentials/oauth"
	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/transport"
)

// These variables have no option: everybody on the machine can read an option's value.
const (
	tokenVariable        = "A2ASTDIO_TOKEN"
	clientSecretVariable = "A2ASTDIO_OAUTH_CLIENT_SECRET"
)

// tlsConfig reads how to trust the agent, and warns if certificates are not verified.
func (p *program) tlsConfig(c *cli.Context) (*tls.Config, error) {
	t := credentials.TLS{CAFile: stringOf(c, "ca-file"), CertFile: stringOf(c, "client-cert"), KeyFile: stringOf(c, "client-key"),
		Insecure: where(c, "insecure").Bool("insecure")}
	config, err := t.Config()
	if err != nil {
		return nil, usagef("%v", err)
	}
	if t.Insecure && !p.warned {
		p.warned = true
		p.say("warning: certificates are not verified (--insecure), so anybody on the way can pose as the agent: use it for development only")
	}
	return config, nil
}

// credentialOptions reads where credentials come from; an option wins over a variable.
// It adds secrets to those that are masked.
func (p *program) credentialOptions(c *cli.Context, conf *configuration, header http.Header, config *tls.Config, secrets *trace.Secrets) (*credentials.Options, error) {
	o := &credentials.Options{Agent: conf.agent, Header: header, TLS: config, Certificate: config != nil && config.GetClientCertificate != nil,
		Now: time.Now}
	if secrets != nil {
		o.Learn = secrets.Add
	}
	if !strings.Contains(conf.agent, "://") {
		o.Agent = ""
	}
	if u, err := url.Parse(conf.agent); err == nil && u.User != nil && header.Get("Authorization") == "" {
		// The URL's own credentials are sent, so no sign-in is. A refusal of them must not
		// renew one.
		password, _ := u.User.Password()
		o.Header, o.HeaderBy = header.Clone(), "the agent's URL"
		if o.Header == nil {
			o.Header = http.Header{}
		}
		o.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password)))
	}
	var err error
	if o.Token, err = conf.secret(c, "token-file", "credential-command", tokenVariable, "who you are"); err != nil {
		return nil, err
	}
	o.Command.Line, o.Token.Command, o.Command.Workspace = o.Token.Command, "", workspaceOf(c)
	if conf.given("credential-command") == byFiles {
		o.Command.Base = filepath.Dir(conf.files.File)
	}
	o.Scheme = stringOf(c, "scheme")
	a := &o.OAuth
	a.ClientID, a.Issuer, a.Redirect = stringOf(c, "oauth-client-id"), stringOf(c, "oauth-issuer"), stringOf(c, "oauth-redirect")
	if scopes := fields(listOf(c, "oauth-scope")); len(scopes) > 0 {
		a.Scopes = scopes
	}
	a.Params = url.Values{}
	for _, param := range listOf(c, "oauth-param") {
		name, value, ok := strings.Cut(param, "=")
		if !ok || name == "" {
			return nil, usagef("--oauth-param %q is not written NAME=VALUE", param)
		}
		a.Params.Add(name, value)
	}
	if err := oauth.CheckParams(a.Params); err != nil {
		return nil, usagef("--oauth-param: %v", err)
	}
	if a.Secret, err = conf.secret(c, "oauth-client-secret-file", "", clientSecretVariable, "the client's secret"); err != nil {
		return nil, err
	}
	if !a.Secret.IsZero() && a.ClientID == "" {
		return nil, usagef("%s is a client's secret, and --oauth-client-id does not say whose", a.Secret.Name)
	}
	if o.Agent != "" {
		o.Cure = "a2astdio --agent " + shellWord(agentName(o.Agent)) + " auth login"
		if o.Store, err = credentials.OpenStore(""); err != nil {
			o.Store = nil // signing in reports it
		}
	}
	return o, nil
}

// checkVariables refuses credentials in variables, which belong to no agent, where a workspace's
// file has chosen the agent: whoever wrote what one clones would say who gets them.
func (conf *configuration) checkVariables() error {
	if !conf.files.ChosenByWorkspace() {
		return nil
	}
	names := []string{tokenVariable, clientSecretVariable}
	for _, flag := range []string{"header", "token-file", "credential-command", "client-key", "oauth-client-secret-file"} {
		if conf.given(flag) == byVariable {
			names = append(names, env(flag)[0])
		}
	}
	for _, name := range names {
		if os.Getenv(name) != "" {
			return usagef("%s is for the agent that you name, and only %s names this one: say --agent %s, or give [agents.%s] credentials of its own",
				name, conf.files.From.File, conf.name, conf.name)
		}
	}
	return nil
}

// secret picks one of the ways to give a secret: an option with a file, an option with a
// command ("": there is none), a variable with the secret. An option wins over a variable, and a
// variable over the configuration. It refuses two of one kind; says names the secret in
// that error.
func (conf *configuration) secret(c *cli.Context, file, command, variable, says string) (credentials.Secret, error) {
	if err := conf.checkVariables(); err != nil {
		return credentials.Secret{}, err
	}
	for _, by := range []string{byOption, byVariable, byFiles} {
		var found []credentials.Secret
		if value := os.Getenv(variable); by == byVariable && value != "" {
			found = append(found, credentials.Secret{Value: value, Name: variable})
		}
		if path := stringOf(c, file); path != "" && conf.given(file) == by {
			found = append(found, credentials.Secret{File: path, Name: conf.says(file, by)})
		}
		if line := optional(c, command); line != "" && conf.given(command) == by {
			found = append(found, credentials.Secret{Command: line, Name: conf.says(command, by)})
		}
		switch len(found) {
		case 0:
			continue
		case 1:
			return found[0], nil
		}
		return credentials.Secret{}, usagef("%s and %s both say %s: give one of them", found[0].Name, found[1].Name, says)
	}
	return credentials.Secret{}, nil
}

func optional(c *cli.Context, option string) string {
	if option == "" {
		return ""
	}
	return stringOf(c, option)
}

// says names where an option has its value from.
func (conf *configuration) says(option, by string) string {
	switch by {
	case byOption:
		return "--" + option
	case byVariable:
		return env(option)[0]
	}
	if v := conf.files.Value(option); v != nil {
		return option + " in " + v.From.File
	}
	return option
}

// useCredentials makes the client ask this source for credentials.
func (l *link) useCredentials(client *transport.ClientOptions, o *credentials.Options) {
	o.Log = l.options.Log
	l.credentials = credentials.New(o)
	l.signInAs = o
	l.closers = append(l.closers, l.credentials.Close)
	client.Credentials = func(ctx context.Context, c *transport.Challenge) (*transport.Credential, error) {
		return l.credentials.Credential(ctx, c)
	}
}
