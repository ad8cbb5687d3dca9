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

// maxNotFound is how many 404s an operation must have got since it worked last to be taken for
// missing. One may be a gateway's whose agent is just being replaced.
const maxNotFound = 2

// A support says whether an agent offers an operation, so that this is found out once. It lasts
// as long as the card does; an agent that could not be reached has perhaps been replaced, and is
// asked anew.
type support struct {
	refusal  *a2a.Error // nil: it is not known to be missing
	notFound int        // 404s since it worked last
	worked   bool       // it has, once
}

// remembers reports whether an operation is asked for no more once it was missing.
// To cancel is tried each time: it costs one request, and somebody wants it. That a message is
// refused does not show that none can be sent.
func (kind opKind) remembers() bool {
	return !slices.Contains([]opKind{opMethod, opSend, opStream, opCancel}, kind)
}

// missing returns the agent's error for an operation that is known to be missing, else nil.
func (e *endpoint) missing(kind opKind) *a2a.Error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ops[kind].refusal
}

// noteOutcome notes what an operation has come to, nil for success. The second 404 it changes, in err
// itself, to say that the operation is missing, or, where that has worked before, that the task is:
// some servers say no more then. As they may do so from the beginning, opGet is never held to be
// missing for that alone.
func (e *endpoint) noteOutcome(asked *operation, err error) {
	kind := asked.effective
	agent := a2a.ErrorOf(err)
	e.mu.Lock()
	defer e.mu.Unlock()
	op := &e.ops[kind]
	switch {
	case errors.Is(err, ErrUnreachable), agent != nil && gatewayStatus(agent.HTTPStatus):
		clear(e.ops[:])
	case !kind.remembers():
	case err == nil:
		op.notFound, op.worked = 0, true
	case agent.Has(a2a.CodeMethodNotFound):
		op.refusal = agent
	case agent.Has(0) && agent.HTTPStatus == http.StatusNotFound && asked.ownURL:
		op.notFound++
		switch {
		case op.notFound < maxNotFound:
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

// gatewayStatus reports whether a status may be that of a gateway before the agent.
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
	e := c.current
	c.mu.Unlock()
	if e == nil {
		return Unsupported{}
	}
	return Unsupported{Streaming: e.currentWay().unary, Subscribe: e.missing(opSubscribe) != nil, Get: e.missing(opGet) != nil}
}

// explain returns an agent's refusal with what the user can do about it, if that is known. The
// agent's own error stays within.
func (e *endpoint) explain(w way, err error) error {
	agent := a2a.ErrorOf(err)
	if agent == nil {
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
