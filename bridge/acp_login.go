package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// loginLook limits how long it takes to find out whether the user has to sign in:
// clients that authenticate at once wait for that.
const loginLook = 5 * time.Second

// errOtherLogin ends a sign-in that another one replaces.
var errOtherLogin = errors.New("bridge: another sign-in has begun")

// usable returns those of the ways to authenticate that the editor supports.
func (can abilities) usable(methods []acp.AuthMethod) []acp.AuthMethod {
	list := []acp.AuthMethod{}
	for _, m := range methods {
		if m.Type == acp.AuthTerminal && !can.terminal && !can.command {
			continue
		}
		if !can.command {
			m.Meta = nil
		}
		list = append(list, m)
	}
	return list
}

// login is how the user signs in at the agent; nil: there is no agent yet, or nothing
// to sign in to. The agent may have been set up since initialize.
func (e *acpEditor) login() Login {
	if !e.server.setup.done.Load() {
		return nil
	}
	return e.server.agent.opts.Login
}

// known is what an earlier process has stored of the agent's card; nil: nothing.
func (a *Agent) known() *store.CardFacts { return a.opts.Store.CardFacts(a.opts.Name) }

// fetchCard contacts the agent, tells what is known of its card then, and stores that for
// the next process. known is from an earlier one, and stands if the agent does not answer.
func (e *acpEditor) fetchCard(ctx context.Context, known *store.CardFacts, tell func(*store.CardFacts)) {
	opts := &e.server.agent.opts
	card, w, err := e.server.agent.Ready(ctx)
	var facts *store.CardFacts
	switch {
	case err == nil:
		facts = store.FactsOf(card)
		facts.Abilities = e.server.agent.abilitiesLine(card, w)
	case known == nil, ctx.Err() != nil, a2a.ErrorOf(err).Unauthenticated():
		opts.Log.Debug("the agent is not ready", "err", err)
		tell(known)
		return
	default:
		opts.Log.Debug("the agent is down", "err", err)
		facts = new(*known)
		facts.Down = true
	}
	tell(facts)
	if err := opts.Store.PutCardFacts(opts.Name, facts); err != nil {
		opts.Log.Debug("the card is not stored", "err", err)
	}
}

// offeredMethods are the ways to sign in, and the ways to set up another agent. The
// former are left out if the agent's card is known and asks for no sign-in, because
// some clients authenticate by the first method that is listed.
func (e *acpEditor) offeredMethods(facts *store.CardFacts) []acp.AuthMethod {
	methods := e.server.opts.AuthMethods
	if login := e.login(); login != nil && (facts == nil || facts.Secured) {
		methods = slices.Concat(login.Methods(facts != nil && facts.OAuth && !facts.Down), methods)
	}
	return e.can.usable(methods)
}

// signsIn reports whether a method is one that the bridge signs in by, and not the
// editor in a terminal.
func (e *acpEditor) signsIn(login Login, id string) bool {
	return slices.ContainsFunc(slices.Concat(login.Methods(true), e.server.opts.AuthMethods), func(m acp.AuthMethod) bool { return m.ID == id && m.Type == "" })
}

// authenticate succeeds by any method, unless it is known that there is no agent, or
// that the user has to sign in: one client (CodeCompanion) authenticates by the first
// that is listed, and gives up on an error. If they have to, a method of ours signs
// them in.
func (e *acpEditor) authenticate(c *editorRequest) {
	var p struct {
		MethodID string `json:"methodId"`
	}
	if !c.decode(&p) {
		return
	}
	ctx, stop := context.WithCancelCause(e.server.ctx)
	if e.endSignIn != nil {
		e.endSignIn(errOtherLogin) // the user has begun a new one
	}
	e.signIn, e.endSignIn = c.id, stop
	e.server.spawn(func(context.Context) {
		defer stop(nil)
		if err := e.server.findAgent(ctx); err != nil {
			c.failSetup(err)
			return
		}
		switch err := e.signInBy(ctx, c, p.MethodID); {
		case err == nil:
			c.reply(struct{}{})
		case errors.Is(err, context.Canceled) || errors.Is(err, errOtherLogin):
			c.fail(acp.CodeRequestCancelled, "bridge: the sign-in was cancelled", "")
		default:
			c.fail(acp.CodeAuthRequired, spell.AuthRequired(err), err.Error())
		}
	})
}

// loginNeeded returns nil unless it is known that the user has to sign in.
func (e *acpEditor) loginNeeded(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, loginLook)
	defer stop()
	var card *a2a.Card
	if agent := e.server.agent; agent.opts.Enter == nil { // else it waits for a session
		var err error
		if card, _, err = agent.Ready(ctx); err != nil {
			if code, _, _ := spell.ACPError(err); code == acp.CodeAuthRequired {
				return err
			}
			return nil // the prompt will tell
		}
	}
	if login := e.login(); login != nil {
		return login.Needed(ctx, card)
	}
	return nil
}

// signInBy signs the user in by a method of ours, if that is needed.
func (e *acpEditor) signInBy(ctx context.Context, c *editorRequest, method string) error {
	err := e.loginNeeded(ctx)
	if login := e.login(); ctx.Err() == nil && err != nil && login != nil && e.signsIn(login, method) {
		user := &acpAsker{editor: e, call: c}
		err = login.SignIn(ctx, user)
		if user.done(); err == nil {
			return nil
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// logout forgets who the user is.
func (e *acpEditor) logout(c *editorRequest) {
	login := e.login()
	if login == nil {
		c.reply(struct{}{})
		return
	}
	e.server.spawn(func(ctx context.Context) {
		c.replyOrFail(struct{}{}, login.SignOut(ctx))
	})
}

// acpAsker asks through elicitations, about a request.
type acpAsker struct {
	editor *acpEditor
	call   *editorRequest
	page   string // that was shown last, "" if none was: a sign-in has one
}

// Confirm implements [Asker], by a form without fields.
func (a *acpAsker) Confirm(ctx context.Context, question string) (bool, error) {
	q := spell.NewConsent(question)
	q.Mode = acp.ElicitForm
	return a.ask(ctx, q)
}

// Open implements [Asker].
func (a *acpAsker) Open(ctx context.Context, text, url string) (bool, error) {
	return a.ask(ctx, spell.NewPage(text, url, a.editor.server.agent.opts.NewID()))
}

func (a *acpAsker) ask(ctx context.Context, q *spell.Elicitation) (bool, error) {
	if !a.editor.can.asks(q) || a.call.isNotification { // a question names its request
		return false, ErrCannotAsk
	}
	if q.Mode == acp.ElicitURL {
		a.page = q.ElicitationID
	}
	q.RequestID = json.RawMessage(a.call.id)
	answer, err := a.editor.elicit(ctx, q)
	if isEditorError(err) {
		err = ErrCannotAsk
	}
	return answer != "", err
}

// done tells the editor that the page that it shows is not needed any more.
func (a *acpAsker) done() {
	if a.page == "" {
		return
	}
	if err := a.editor.server.conn.Notify(context.Background(), acp.MethodElicited, map[string]string{"elicitationId": a.page}); err != nil {
		a.editor.server.agent.opts.Log.Debug("writing to the editor", "err", err)
	}
}
