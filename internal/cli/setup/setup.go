// Package setup has what the user sets up: agents, the configuration and sessions.
//
// agents has a goroutine for each agent that is looked at, which writes its own row, and waits for all.
package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/cli/auth"
	"github.com/a2astdio/a2astdio/internal/cli/card"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/cli/talk"
	"github.com/a2astdio/a2astdio/internal/config"
	"github.com/a2astdio/a2astdio/internal/credentials"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

func Command(p *frame.Program) *cli.Command {
	return p.AgentCommand("setup [URL]", run,
		frame.Option{Flag: "name", Takes: "NAME", Help: "what the agent is to be called, instead of asking"},
		frame.Option{Flag: "prompt", Takes: "TEXT", Help: "what to try the agent with, instead of asking"},
		frame.Option{Flag: "no-input", Kind: frame.Switch, Help: "ask nothing: what is not said is taken as it would be proposed, and no prompt is tried without --prompt"},
		frame.Option{Flag: "editor", Takes: strings.Join(editorNames(), "|"), Help: "print this editor's settings for the agent, and do nothing else"},
		frame.Option{Flag: "template", Kind: frame.Switch, Help: "write a file with every key, behind comment signs, instead of asking, and print where it is; a file that is there stays"})
}

// A setup is one run of the command, with what it knows of the agent.
type setup struct {
	p *frame.Program
	c *cli.Context
	*frame.Asker
	conf *reach.Configuration
	// agent or command is the way to the agent; known is the name that it has already.
	agent, command, known string
	link                  *reach.Link
	card                  *a2a.Card
	// signedIn is what the user has signed in to here, nil for nothing.
	signedIn *credentials.Login
}

func run(p *frame.Program, c *cli.Context) (err error) {
	args := c.Args().Slice()
	if c.Bool("template") {
		return writeTemplate(p, c)
	}
	if c.String("editor") != "" {
		return printSettings(p, c, args)
	}
	s := &setup{p: p, c: c}
	var done func()
	s.Asker, done = p.NewAsker(c.Context, c.Bool("no-input"))
	defer done()
	defer func() { s.closeLink() }()
	s.conf, err = reach.ReadConfiguration(c, reach.WorkspaceOf(c))
	if errors.Is(err, frame.ErrConfig) {
		// The workspace's file may name an agent that setup is about to define.
		p.Alone = true
		s.conf, err = reach.ReadConfiguration(c, "")
	}
	if err != nil {
		return err
	}
	if name := c.String("name"); name != "" && !config.ValidName(name) {
		return frame.Usagef("--name does not take %q: a name has letters, digits, - and _, begins with a letter or digit, and is not demo", name)
	}
	if s.conf.Files.File == "" {
		return frame.Usagef("where is it to be stored? You have no home directory: name a file with --config")
	}
	if err = s.findAgent(args); err == nil {
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
func writeTemplate(p *frame.Program, c *cli.Context) error {
	path := cmp.Or(c.String("config"), config.UserFile())
	if path == "" {
		return frame.Usagef("where? You have no home directory: name a file with --config")
	}
	if err := config.Create(path, config.Template()); err != nil {
		return frame.Mark(frame.ErrConfig, err)
	}
	_, err := fmt.Fprintln(p.Stdout, path)
	return err
}

// closeLink ends an agent that was tried.
func (s *setup) closeLink() {
	if s.link != nil {
		s.link.Close()
		s.link = nil
	}
}

// findAgent asks for the agent, unless the arguments name it, until one is reached or the
// user gives up.
func (s *setup) findAgent(said []string) error {
	var err error
	switch {
	case len(said) > 0:
		err = s.use(said[0])
	case s.conf.AgentGiven != "":
		s.agent, s.command, s.known = s.conf.Agent, s.conf.Command, s.conf.Name
		err = s.reach()
	case !s.Asks():
		return frame.Usagef("which agent? Say setup URL: there is no terminal to ask you on")
	default:
		s.Say("This makes an agent that speaks A2A known to a2astdio, so that your editor and\nyour shell can use it.")
		if names := s.conf.Files.Names(); len(names) > 0 {
			s.Say("You have named some already; the name of one looks whether all is well with it:\n  %s", strings.Join(names, "\n  "))
		}
		s.Say("")
		err = reach.ErrNoAgent
	}
	for err != nil {
		if !s.Asks() {
			return err
		}
		if !errors.Is(err, reach.ErrNoAgent) {
			s.sayWrong(err)
		}
		text, askErr := s.Ask("Where is it? A URL, a command that starts it, or demo", "")
		if askErr != nil {
			return askErr
		}
		if err = reach.ErrNoAgent; text != "" {
			err = s.use(text)
		}
		if s.Ctx.Err() != nil {
			return frame.ErrInterrupted
		}
	}
	return nil
}

// use tries what the user has entered as the agent.
func (s *setup) use(text string) (err error) {
	s.forget()
	if s.agent, s.command, s.known, err = understand(s.conf, text); err != nil {
		return err
	}
	return s.reach()
}

func (s *setup) sayWrong(err error) {
	out := &frame.Page{}
	out.Hanging("  ", 2, "That did not work: "+frame.WithoutWho(err))
	s.Page(out)
	s.Say("")
}

// reach reads the agent's card, and signs the user in if the agent wants that.
func (s *setup) reach() error {
	s.closeLink()
	var err error
	s.link, err = reach.Reopen(s.c.Context, s.p, func(c *cli.Context) error {
		return errors.Join(c.Set("agent", cmp.Or(s.known, s.agent)), c.Set("agent-command", s.command))
	})
	if err != nil {
		return err
	}
	s.Say("Looking at %s ...", cmp.Or(s.known, reach.ShownAddress(s.agent), "what the command starts"))
	s.card, err = s.link.Client.Card(s.c.Context)
	if a2a.ErrorOf(err).Unauthenticated() {
		if again, err := s.login(err); !again {
			return err
		}
		return s.reach()
	}
	if err != nil {
		return frame.Mark(frame.ErrNotReached, err)
	}
	if _, err := s.link.Client.Chosen(s.c.Context); err != nil {
		return err
	}
	out := &frame.Page{}
	card.Who(out, s.card)
	if len(s.card.Security) > 0 {
		card.Security(out, s.card)
	}
	s.Page(out)
	s.Say("")
	return nil
}

// login signs the user in where the agent has refused them, and again where that was of no
// use. It reports whether it is worth another try; the error says why not.
func (s *setup) login(refusal error) (again bool, err error) {
	if !s.Asks() || s.link.CanSignIn() != nil {
		return false, refusal
	}
	for wrong := s.signedIn != nil; ; wrong = true {
		if wrong {
			s.sayWrong(refusal)
			if again, err = s.Yes("Sign in again?", true); err != nil || !again {
				return false, cmp.Or(err, refusal)
			}
		}
		if refusal = s.signIn(); refusal == nil {
			return true, nil
		}
		if s.c.Context.Err() != nil {
			return false, refusal
		}
	}
}

// forget signs the user out of an agent that is not stored, where the sign-in was made here.
func (s *setup) forget() {
	if s.signedIn != nil && s.link != nil {
		// A token that is not revoked ends by itself.
		_, _ = s.link.Credentials.Forget(context.WithoutCancel(s.c.Context), s.signedIn)
	}
	s.signedIn = nil
}

// signIn does what auth login does, at the setup's terminal. Sign-ins are kept by origin, so
// nothing is stored with the agent.
func (s *setup) signIn() error {
	ctx, source := s.c.Context, s.link.Credentials
	card, err := s.link.PublicCard(ctx)
	if err != nil {
		return err
	}
	if helps, err := source.Needed(ctx, card); err != nil && !helps {
		return err // what the options say goes before a sign-in
	}
	s.Say("The agent wants to know who you are.")
	login, err := source.SignIn(ctx, &credentials.SignIn{Card: card}, &auth.TerminalUser{P: s.p, Workspaces: s.link.SignInAs.Command.Workspaces, Asker: s.Asker})
	if err != nil {
		return frame.Mark(frame.ErrSignIn, fmt.Errorf("not signed in: %w", err))
	}
	s.signedIn = login
	s.Say("Signed in to %s\n", login.Origin)
	return nil
}

// try sends the agent a prompt, if the user gives one, and shows the answer.
func (s *setup) try() error {
	prompt := s.c.String("prompt")
	if prompt == "" && s.Asks() {
		var err error
		if prompt, err = s.Ask("A prompt to try it with, or - for none", "hello"); err != nil {
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
	for a2a.ErrorOf(err).Unauthenticated() {
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
	case s.Ctx.Err() != nil:
		return frame.ErrInterrupted
	case !s.Asks():
		return err
	}
	s.sayWrong(err)
	if a2a.ErrorOf(err).Unauthenticated() && s.card != nil && len(s.card.Security) > 0 {
		out := &frame.Page{}
		out.Hanging("  ", 2, "The agent wants credentials: "+card.HowToGive(s.card.Security[0]))
		s.Page(out)
	}
	anyway, askErr := s.Yes("Store it all the same?", false)
	if askErr != nil {
		return askErr
	}
	if !anyway {
		return frame.Mark(frame.ErrReported, err)
	}
	return nil
}

// prompt runs a turn, and shows it at the terminal.
func (s *setup) prompt(text string) error {
	agent := bridge.NewAgent(&s.link.Options)
	defer agent.Close()
	editor := &talk.Editor{Format: frame.Text,
		Output:   &talk.TextOutput{Out: s.Out, Plain: true, Say: s.Say},
		Approver: &talk.Approver{How: talk.ApproveAsk, Terminal: s.p.Terminal, Say: s.Say}}
	if !s.Asks() {
		editor.Approver.How = talk.ApproveReject
	}
	session := agent.NewSession(s.link.Options.Workspace)
	result, err := talk.Turn(s.c.Context, session, func(ctx context.Context, t bridge.Turn) (bridge.Result, error) {
		return t.Run(ctx, []acp.ContentBlock{{Type: "text", Text: text}}, editor)
	})
	if errors.Is(err, talk.ErrStuck) {
		return frame.ErrInterrupted
	}
	err = errors.Join(err, editor.Output.End(result, ""))
	s.Say("")
	return err
}
