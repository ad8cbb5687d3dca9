package transport

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file knows what an agent does not offer, and tells the user of it.

// maxNotThere is how often nothing must have been found where an operation would be
// before it is taken for missing. Once may be a gateway whose agent is just being
// replaced.
const maxNotThere = 2

// known is what is known of one operation, so that what an agent does not offer is found out
// once. It lasts as long as the card does; an agent that could not be reached has
// perhaps been replaced, and is asked anew.
type known struct {
	refusal  *a2a.Error // nil: it is not known to be missing
	notThere int
	worked   bool
}

// remembers reports whether an operation is asked for no more once it was missing.
// To cancel is tried each time: it costs one request, and somebody wants it. Whether
// messages can be sent is not found out by their being refused.
func (kind opKind) remembers() bool {
	return !slices.Contains([]opKind{opMethod, opSend, opStream, opCancel}, kind)
}

// missing returns the agent's error for an operation that is known to be missing, else nil.
func (e *endpoint) missing(kind opKind) *a2a.Error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ops[kind].refusal
}

// learn takes what an operation has come to. An error that says for the second time that
// nothing is there it changes to say that the operation is missing, or, where that has
// worked before, that the task is not there: some servers say no more than 404 then.
// Since a server may do so from the beginning, that tasks can be asked for is never held
// to be impossible for that alone.
func (e *endpoint) learn(asked *operation, err error) {
	kind := asked.as
	var agent *a2a.Error
	isAgent := errors.As(err, &agent)
	e.mu.Lock()
	defer e.mu.Unlock()
	op := &e.ops[kind]
	switch {
	case errors.Is(err, ErrUnreachable), isAgent && gatewayStatus(agent.HTTPStatus):
		clear(e.ops[:])
	case !kind.remembers():
	case err == nil:
		op.notThere, op.worked = 0, true
	case isAgent && agent.Code == a2a.CodeMethodNotFound:
		op.refusal = agent
	case isAgent && agent.Code == 0 && agent.HTTPStatus == http.StatusNotFound && asked.ownURL:
		op.notThere++
		switch {
		case op.notThere < maxNotThere:
		case op.worked && kind != opList && kind != opExtendedCard:
			agent.Code, agent.Message = a2a.CodeTaskNotFound, "nothing is there for the task"
		default:
			agent.Code = a2a.CodeMethodNotFound
			if kind != opGet {
				op.refusal = agent
			}
		}
	}
}

// gatewayStatus reports whether whoever answered need not be the agent.
func gatewayStatus(status int) bool {
	return status == http.StatusBadGateway || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout
}

// noRoute reports whether a status may say that nothing is there for a verb and a
// path.
func noRoute(status int) bool {
	return status == http.StatusNotFound || status == http.StatusMethodNotAllowed || status == http.StatusNotImplemented
}

// Unsupported is what an agent is known not to offer, from its card or by having been asked.
type Unsupported struct {
	// Streaming, Subscribe and Get are the operations: messages with a streamed answer, to
	// follow a task again, and to ask for one.
	Streaming, Subscribe, Get bool
}

// Unsupported returns what is known so far. Nothing is asked of the agent for it.
func (c *Client) Unsupported() Unsupported {
	c.mu.Lock()
	e := c.known
	c.mu.Unlock()
	if e == nil {
		return Unsupported{}
	}
	return Unsupported{Streaming: e.now().plain, Subscribe: e.missing(opSubscribe) != nil, Get: e.missing(opGet) != nil}
}

// explain adds to an agent's refusal what the user can do about it. The agent's
// own error stays within.
func (e *endpoint) explain(w way, err error) error {
	var agent *a2a.Error
	if !errors.As(err, &agent) {
		return err
	}
	cure := ""
	switch name := w.protocol.name(); {
	case e.doubt != "" && (agent.Code == 0 || agent.Code == a2a.CodeMethodNotFound) && noRoute(agent.HTTPStatus):
		cure = "; " + e.doubt
	case agent.Code == a2a.CodeVersionNotSupported:
		// The other is not tried: whoever is to hear the conversation in an older version,
		// with less in it, is told and asked (specification 1.0, §3.6.3).
		cure = fmt.Sprintf(": it was called in A2A %s; --a2a-version %s asks for the other", name, protocol{v03: !w.protocol.v03}.name())
	case agent.Code == a2a.CodeExtensionSupportRequired:
		cure = ": --extension " + e.requiredExtensions() + " activates what it requires"
	case agent.Code == a2a.CodeMethodNotFound && len(e.card.Interfaces) > 0 &&
		!slices.ContainsFunc(e.card.Interfaces, func(i a2a.Interface) bool { return isV03(i.Version) == w.protocol.v03 }):
		cure = fmt.Sprintf(": --a2a-version asks for %s, which its card does not offer", name)
	default:
		return err
	}
	return failf(err, "%s%s", strings.TrimPrefix(err.Error(), "agent: "), cure)
}

// requiredExtensions names the extensions that the card requires: the error itself
// does not, from any server that was tried.
func (e *endpoint) requiredExtensions() string {
	var uris []string
	for _, x := range e.card.Extensions {
		if x.Required {
			uris = append(uris, x.URI)
		}
	}
	return cmp.Or(strings.Join(uris, " --extension "), "URI")
}
