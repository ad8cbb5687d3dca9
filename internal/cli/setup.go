package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/config"
	"github.com/a2astdio/a2astdio/internal/credentials"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

func (p *program) setupCommand() *cli.Command {
	return agentCommand("setup", p.setup,
		&cli.StringFlag{Name: "name", Usage: "`NAME`: what the agent is to be called, instead of asking"},
		&cli.StringFlag{Name: "prompt", Usage: "`TEXT`: what to try the agent with, instead of asking"},
		&cli.BoolFlag{Name: "no-input", Usage: "ask nothing: what is not said is taken as it would be proposed, and no prompt is tried without --prompt"},
		&cli.BoolFlag{Name: "template", Usage: "write a file with every key, behind comment signs, instead of asking, and print where it is; a file that is there stays"})
}

// A setup is one run of the command, with what it knows of the agent.
type setup struct {
	p *program
	c *cli.Context
	*asker
	conf *configuration
	// agent or command is the way to the agent; known is the name that it has already.
	agent, command, known string
	link                  *link
	card                  *a2a.Card
	// signedIn: the user has signed in here.
	signedIn bool
}

func (p *program) setup(c *cli.Context) error {
	args, err := p.arguments(c, "[URL]")
	if err != nil {
		return err
	}
	if c.Bool("template") {
		return p.writeTemplate(c)
	}
	s := &setup{p: p, c: c}
	var done func()
	s.asker, done = p.newAsker(c.Context, c.Bool("no-input"))
	defer done()
	defer func() { s.leave() }()
	s.conf, err = readConfiguration(c, workspaceOf(c))
	if wrong := (*configError)(nil); errors.As(err, &wrong) {
		// The workspace's file may name an agent that setup is about to define.
		p.alone = true
		s.conf, err = readConfiguration(c, "")
	}
	if err != nil {
		return err
	}
	if name := c.String("name"); name != "" && !config.ValidName(name) {
		return usagef("--name does not take %q: a name has letters, digits, - and _, begins with a letter or digit, and is not demo", name)
	}
	if s.conf.files.File == "" {
		return usagef("where is it to be stored? You have no home directory: name a file with --config")
	}
	if err = s.find(args); err == nil {
		err = s.try()
	}
	if err == nil {
		err = s.store()
	}
	if err != nil {
		s.forget()
	}
	return err
}

// writeTemplate writes a configuration file with every key as a comment.
func (p *program) writeTemplate(c *cli.Context) error {
	path := cmp.Or(stringOf(c, "config"), config.UserFile())
	if path == "" {
		return usagef("where? You have no home directory: name a file with --config")
	}
	if err := config.Create(path, config.Template()); err != nil {
		return &configError{err}
	}
	_, err := fmt.Fprintln(p.stdout, path)
	return err
}

// leave ends an agent that was tried.
func (s *setup) leave() {
	if s.link != nil {
		s.link.close()
		s.link = nil
	}
}

// find asks for the agent, unless the arguments name it, until one is reached or the
// user gives up.
func (s *setup) find(said []string) error {
	var err error
	switch {
	case len(said) > 0:
		err = s.is(said[0])
	case s.conf.agentGiven != "":
		s.agent, s.command, s.known = s.conf.agent, s.conf.command, s.conf.name
		err = s.reach()
	case !s.asks():
		return usagef("which agent? Say setup URL: there is no terminal to ask you on")
	default:
		s.greet()
		err = errNoAgent
	}
	for err != nil {
		if !s.asks() {
			return err
		}
		if !errors.Is(err, errNoAgent) {
			s.sayWrong(err)
		}
		text, askErr := s.ask("Where is it? A URL, a command that starts it, or demo", "")
		if askErr != nil {
			return askErr
		}
		if err = errNoAgent; text != "" {
			err = s.is(text)
		}
		if s.ctx.Err() != nil {
			return errInterrupted
		}
	}
	return nil
}

// is tries what the user has entered as the agent.
func (s *setup) is(text string) (err error) {
	s.forget()
	if s.agent, s.command, s.known, err = s.conf.understand(text); err != nil {
		return err
	}
	return s.reach()
}

func (s *setup) greet() {
	s.say("This makes an agent that speaks A2A known to a2astdio, so that your editor and\nyour shell can use it.")
	if names := s.conf.files.Names(); len(names) > 0 {
		s.say("You have named some already; the name of one looks whether all is well with it:")
		for _, name := range names {
			s.say("  %s", name)
		}
	}
	s.say("")
}

func (s *setup) sayWrong(err error) {
	out := &page{}
	out.hanging("  ", 2, "That did not work: "+withoutWho(err))
	s.page(out)
	s.say("")
}

// reach reads the agent's card, and signs the user in if the agent wants that.
func (s *setup) reach() error {
	s.leave()
	var err error
	if s.link, err = s.p.linkAgain(s.c.Context, s.options); err != nil {
		return err
	}
	s.say("Looking at %s ...", cmp.Or(s.known, shownAddress(s.agent), "what the command starts"))
	s.card, err = s.link.client.Card(s.c.Context)
	if unauthenticated(err) {
		if again, err := s.login(err); !again {
			return err
		}
		return s.reach()
	}
	if err != nil {
		return &notReached{err}
	}
	if _, err := s.link.client.Chosen(s.c.Context); err != nil {
		return err
	}
	out := &page{}
	who(out, s.card)
	if len(s.card.Security) > 0 {
		security(out, s.card)
	}
	s.page(out)
	s.say("")
	return nil
}

// login signs the user in where the agent has refused them, and again where that was of no
// use. It reports whether it is worth another try; the error says why not.
func (s *setup) login(refusal error) (again bool, err error) {
	if !s.asks() || s.link.canSignIn() != nil {
		return false, refusal
	}
	if s.signedIn {
		s.sayWrong(refusal)
		if again, err = s.yes("Sign in again?", true); err != nil || !again {
			return false, cmp.Or(err, refusal)
		}
	}
	if err := s.signIn(); err != nil {
		return false, err
	}
	s.signedIn = true
	return true, nil
}

// forget signs the user out of an agent that is not stored.
func (s *setup) forget() {
	if s.signedIn && s.link != nil {
		// A token that is not revoked ends by itself.
		_, _, _ = s.link.credentials.SignOut(context.WithoutCancel(s.c.Context))
	}
	s.signedIn = false
}

// signIn does what auth login does, at the setup's terminal. Sign-ins are kept by origin, so
// nothing is stored with the agent.
func (s *setup) signIn() error {
	ctx, source := s.c.Context, s.link.credentials
	card, err := s.link.publicCard(s.c)
	if err != nil {
		return err
	}
	if helps, err := source.Needed(ctx, card); err != nil && !helps {
		return err // what the options say goes before a sign-in
	}
	s.say("The agent wants to know who you are.")
	login, err := source.SignIn(ctx, &credentials.SignIn{Card: card}, &terminalUser{p: s.p, asker: s.asker})
	if err != nil {
		return &signInError{err}
	}
	s.say("Signed in to %s\n", login.Origin)
	return nil
}

// options sets the options that name the agent.
func (s *setup) options(c *cli.Context) error {
	return errors.Join(c.Set("agent", cmp.Or(s.known, s.agent)), c.Set("agent-command", s.command))
}

// try sends the agent a prompt, if the user gives one, and shows the answer.
func (s *setup) try() error {
	prompt := s.c.String("prompt")
	if prompt == "" && s.asks() {
		var err error
		if prompt, err = s.ask("A prompt to try it with, or - for none", "hello"); err != nil {
			return err
		}
		if prompt == "-" {
			return nil
		}
	}
	if prompt == "" {
		return nil
	}
	err := s.prompt(prompt)
	for unauthenticated(err) {
		again, loginErr := s.login(err)
		if err = loginErr; !again {
			break
		}
		if err = s.reach(); err == nil {
			err = s.prompt(prompt)
		}
	}
	switch {
	case err == nil:
		return nil
	case s.ctx.Err() != nil:
		return errInterrupted
	case !s.asks():
		return err
	}
	s.sayWrong(err)
	if unauthenticated(err) && s.card != nil && len(s.card.Security) > 0 {
		out := &page{}
		out.hanging("  ", 2, "The agent wants credentials: "+howToGive(s.card.Security[0]))
		s.page(out)
	}
	anyway, askErr := s.yes("Store it all the same?", false)
	if askErr != nil {
		return askErr
	}
	if !anyway {
		return &reported{err}
	}
	return nil
}

// prompt runs a turn, and shows it at the terminal.
func (s *setup) prompt(text string) error {
	agent := bridge.NewAgent(&s.link.options)
	defer agent.Close()
	editor := &sendEditor{format: formatText,
		output:   &textOutput{out: s.out, plain: true, say: s.say},
		approver: &approver{how: approveAsk, terminal: s.p.terminal, say: s.say}}
	if !s.asks() {
		editor.approver.how = approveReject
	}
	session := agent.NewSession(s.link.options.Workspace)
	result, err := s.p.turn(s.c.Context, session, func(ctx context.Context, t bridge.Turn) (bridge.Result, error) {
		return t.Run(ctx, []acp.ContentBlock{{Type: "text", Text: text}}, editor)
	})
	if errors.Is(err, errStuck) {
		return errInterrupted
	}
	err = errors.Join(err, editor.output.end(result, ""))
	s.say("")
	return err
}
