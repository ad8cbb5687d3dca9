package agentproc

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// longWait is how long a card may be missing before an error doubts the command.
const longWait = time.Minute

func withoutWho(err error) string { return strings.TrimPrefix(err.Error(), "agent: ") }

func (p *process) words() string {
	if words := p.output.lastWords(); words != "" {
		return "; its last words: " + words
	}
	return "; it printed nothing"
}

func (p *process) isFound() bool {
	select {
	case <-p.finder.found:
		return true
	default:
		return false
	}
}

// find waits for the agent's card and returns the URL below which it is, for a caller with
// limited patience.
func (p *process) find(ctx context.Context, impatient <-chan time.Time) (string, error) {
	select {
	case <-p.done:
		return "", p.err
	default:
	}
	select {
	case <-p.finder.found:
		p.output.unwatch()
		return p.finder.url, nil
	case <-p.done:
		return "", p.err
	case <-impatient:
		return "", &slowError{fmt.Sprintf("agent: %q runs, but %s; it may come yet, and --timeout allows more%s", p.name, p.noCard(), p.words())}
	case <-ctx.Done():
		return "", fmt.Errorf("agent: waiting for %q was given up: %w; %s%s", p.name, ctx.Err(), p.noCard(), p.words())
	}
}

// A slowError says that the caller's patience has ended.
type slowError struct{ text string }

func (e *slowError) Error() string { return e.text }

// Timeout implements the interface of package net's timeouts.
func (e *slowError) Timeout() bool { return true }

// noCard tells how long there has been no card, and what to check after a long time.
func (p *process) noCard() string {
	waited := time.Since(p.began)
	if waited < longWait {
		return fmt.Sprintf("it has no card after %v", waited.Round(100*time.Millisecond))
	}
	return fmt.Sprintf("it has no card after %v: does it serve A2A, on {port} or at a URL that it prints?", waited.Round(time.Second))
}
