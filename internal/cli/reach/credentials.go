package reach

import (
	"crypto/tls"
	"encoding/base64"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/agentproc"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/credentials"
	"github.com/a2astdio/a2astdio/internal/credentials/oauth"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/transport"
)

// These variables have no option: everybody on the machine can read an option's value.
const (
	TokenVariable        = "A2ASTDIO_TOKEN"
	clientSecretVariable = "A2ASTDIO_OAUTH_CLIENT_SECRET"
)

// TLSConfig reads how to trust the agent, nil for as the system does, and warns once if
// certificates are not verified.
func TLSConfig(p *frame.Program, c *cli.Context) (*tls.Config, error) {
	t := credentials.TLS{CAFile: c.String("ca-file"), CertFile: c.String("client-cert"), KeyFile: c.String("client-key"),
		Insecure: c.Bool("insecure")}
	config, err := t.Config()
	if err != nil {
		return nil, frame.Usagef("%v", err)
	}
	if t.Insecure && !p.Warned {
		p.Warned = true
		p.Say("warning: certificates are not verified (--insecure), so anybody on the way can pose as the agent: use it for development only")
	}
	return config, nil
}

// CredentialOptions reads where credentials come from; an option wins over a variable.
// It adds secrets to those that are masked.
func CredentialOptions(c *cli.Context, conf *Configuration, header http.Header, config *tls.Config, secrets *trace.Secrets) (*credentials.Options, error) {
	o := &credentials.Options{Agent: conf.Agent, Header: header, HeaderBy: map[string]string{frame.ByVariable: frame.Env("header")}[frame.By(c, "header")], TLS: config, Certificate: config != nil && config.GetClientCertificate != nil}
	if secrets != nil {
		o.Learn = secrets.Add
	}
	if !strings.Contains(conf.Agent, "://") {
		o.Agent = ""
	}
	if u, err := url.Parse(conf.Agent); err == nil && u.User != nil && header.Get("Authorization") == "" {
		// The URL's own credentials are sent, so no sign-in is. A refusal of them must not
		// renew one.
		password, _ := u.User.Password()
		o.Header, o.HeaderBy = header.Clone(), "the agent's URL"
		o.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password)))
	}
	var err error
	if o.Token, err = conf.secret(c, "token-file", "credential-command", TokenVariable, "who you are"); err != nil {
		return nil, err
	}
	o.Command.Line, o.Token.Command, o.Command.Workspaces = o.Token.Command, "", new(agentproc.Workspaces)
	o.Command.Workspaces.Add(WorkspaceOf(c))
	if frame.By(c, "credential-command") == "" {
		o.Command.Base = conf.base()
	}
	o.Scheme = c.String("scheme")
	a := &o.OAuth
	a.ClientID, a.Issuer, a.Redirect = c.String("oauth-client-id"), c.String("oauth-issuer"), c.String("oauth-redirect")
	if scopes := Fields(frame.ListOf(c, "oauth-scope")); len(scopes) > 0 {
		a.Scopes = scopes
	}
	a.Params = url.Values{}
	for i, param := range frame.ListOf(c, "oauth-param") {
		name, value, ok := strings.Cut(param, "=")
		if !ok || name == "" {
			return nil, frame.Usagef("--oauth-param: number %d is not written NAME=VALUE", i+1)
		}
		a.Params.Add(name, value)
	}
	if err := oauth.CheckParams(a.Params); err != nil {
		return nil, frame.Usagef("--oauth-param: %v", err)
	}
	if a.Secret, err = conf.secret(c, "oauth-client-secret-file", "", clientSecretVariable, "the client's secret"); err != nil {
		return nil, err
	}
	if !a.Secret.IsZero() && a.ClientID == "" {
		return nil, frame.Usagef("%s is a client's secret, and --oauth-client-id does not say whose", a.Secret.Name)
	}
	if o.Agent != "" {
		o.Cure = "a2astdio --agent " + safe.ShellWord(safe.Bare(o.Agent)) + " auth login"
		if o.Store, err = credentials.OpenStore(""); err != nil {
			o.Store = nil // signing in reports it
		}
	}
	return o, nil
}

// credentialFlags are the options that hold credentials, or say where these are.
var credentialFlags = []string{"header", "token-file", "credential-command", "client-cert", "client-key", "oauth-client-secret-file"}

// checkCredentials refuses credentials in options and variables, which belong to no agent, where
// a workspace's file has chosen the agent: whoever wrote what one clones would say who gets them.
// (Options, too: an editor's settings have them for all workspaces.)
func (conf *Configuration) checkCredentials(c *cli.Context) error {
	if !conf.Files.ChosenByWorkspace() {
		return nil
	}
	given := ""
	for _, name := range []string{TokenVariable, clientSecretVariable} {
		if os.Getenv(name) != "" {
			given = name
		}
	}
	for _, flag := range credentialFlags {
		if by := frame.By(c, flag); by != "" && c.String(flag) != "" {
			given = conf.sourceOf(flag, by)
		}
	}
	if given == "" {
		return nil
	}
	return frame.Usagef("%s is for the agent that you name, and only %s names this one: say --agent %s, or give [agents.%s] credentials of its own",
		given, conf.Files.From.File, conf.Name, conf.Name)
}

// secret picks one of the ways to give a secret: an option with a file, an option with a
// command ("": there is none), a variable with the secret. An option wins over a variable, and a
// variable over the configuration. It refuses two of one kind; says names the secret in
// that error. Without any it returns the zero one.
func (conf *Configuration) secret(c *cli.Context, file, command, variable, says string) (credentials.Secret, error) {
	for _, by := range []string{frame.ByOption, frame.ByVariable, ""} {
		var found []credentials.Secret
		if value := os.Getenv(variable); by == frame.ByVariable && value != "" && !conf.others {
			found = append(found, credentials.Secret{Value: value, Name: variable})
		}
		if path := c.String(file); path != "" && frame.By(c, file) == by {
			found = append(found, credentials.Secret{File: path, Name: conf.sourceOf(file, by)})
		}
		if line := c.String(command); line != "" && frame.By(c, command) == by {
			found = append(found, credentials.Secret{Command: line, Name: conf.sourceOf(command, by)})
		}
		switch len(found) {
		case 0:
			continue
		case 1:
			return found[0], nil
		}
		return credentials.Secret{}, frame.Usagef("%s and %s both say %s: give one of them", found[0].Name, found[1].Name, says)
	}
	return credentials.Secret{}, nil
}

// sourceOf names where an option has its value from.
func (conf *Configuration) sourceOf(option, by string) string {
	switch by {
	case frame.ByOption:
		return "--" + option
	case frame.ByVariable:
		return frame.Env(option)
	}
	if v := conf.Files.Value(option); v != nil {
		return option + " in " + v.From.File
	}
	return option
}

// useCredentials makes the client ask this source for credentials.
func (l *Link) useCredentials(client *transport.ClientOptions, o *credentials.Options) {
	o.Log = l.Options.Log
	l.Credentials = credentials.New(o)
	l.SignInAs = o
	if o.Command.Line != "" && l.Options.Enter == nil {
		l.Options.Enter = o.Command.Workspaces.Add
	}
	l.Closers = append(l.Closers, l.Credentials.Close)
	client.Credentials = l.Credentials.Credential
}
