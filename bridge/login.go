package bridge

import (
	"context"
	"errors"

	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A Login knows who the user is to the agent. Its methods may be called
// concurrently.
type Login interface {
	// Methods are the ways to sign in, the best first: one that SignIn goes, without
	// a type, and one that the editor runs in a terminal. They are asked for before
	// the agent is known, so that they must not wait for anything. oauth: its card is
	// known, and names an identity provider.
	Methods(oauth bool) []acp.AuthMethod
	// Needed returns nil unless it is known that the user has to sign in; the error
	// says why, and how. card is the agent's, nil where that waits for a session.
	Needed(ctx context.Context, card *a2a.Card) error
	// SignIn signs the user in. It may take as long as a person does.
	SignIn(ctx context.Context, user Asker) error
	// SignOut forgets what SignIn has stored.
	SignOut(ctx context.Context) error
}

// An Asker asks the user through the editor, about the request that is being
// served. What the editor has no way to show is [ErrCannotAsk].
type Asker interface {
	// Confirm asks a question that is answered by yes or no.
	Confirm(ctx context.Context, question string) (yes bool, err error)
	// Open asks whether to open a URL, and has the editor open it; text says what
	// for. It returns when the user has agreed, not when the page is done.
	Open(ctx context.Context, text, url string) (yes bool, err error)
}

// An Opener is an [Asker] that knows whether the editor opens pages.
type Opener interface {
	Opens() bool
}

// ErrCannotAsk: the editor has no way to ask that.
var ErrCannotAsk = errors.New("editor: cannot ask the user that")
