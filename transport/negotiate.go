package transport

import (
	"errors"
	"fmt"
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file keeps the version of A2A what was chosen from the card. Nothing is
// tried in another one if the agent refuses: whoever is to hear the conversation
// in an older version, with less in it, is told and asked (specification 1.0,
// §3.6.3).

// checkFamily refuses a method of the other version: header and method have to
// agree, and of what does not, servers make something different each. Methods
// that neither version knows, which are extensions', go with either.
func (e *endpoint) checkFamily(method string) error {
	speaks, other := e.protocol.name(), "0.3"
	if speaks == other {
		other = "1.0"
	}
	for _, n := range methodNames() {
		if method == n.in(other) {
			return failf(nil, "%s is called in A2A %s, where %s is %s; --a2a-version %s asks for the other",
				cardName(e.card), speaks, method, n.in(speaks), other)
		}
	}
	return nil
}

// explain adds to an agent's refusal what the user can do about it. The agent's
// own error stays within.
func (e *endpoint) explain(err error) error {
	var agent *a2a.Error
	if !errors.As(err, &agent) {
		return err
	}
	said := strings.TrimPrefix(err.Error(), "agent: ")
	switch agent.Code {
	case a2a.CodeVersionNotSupported:
		return failf(err, "%s: it was called in A2A %s; %s", said, e.protocol.name(), e.otherVersion())
	case a2a.CodeExtensionSupportRequired:
		return failf(err, "%s: %s", said, e.requiredExtensions())
	}
	return err
}

// otherVersion says how another version can be asked for, if the card has one.
func (e *endpoint) otherVersion() string {
	for _, v := range versions() {
		if v.name == e.protocol.name() {
			continue
		}
		if _, err := choose(e.card, wish{version: v.name}, e.speak); err == nil {
			return fmt.Sprintf("its card offers %s too, and --a2a-version %[1]s asks for it", v.name)
		}
	}
	return "--a2a-version would ask for another, but its card offers none that we speak"
}

// requiredExtensions says which extensions the card requires: the error itself
// does not, from any server that was tried.
func (e *endpoint) requiredExtensions() string {
	var flags []string
	for _, x := range e.card.Extensions {
		if x.Required {
			flags = append(flags, "--extension "+x.URI)
		}
	}
	if len(flags) == 0 {
		return "--extension URI activates one"
	}
	return "its card requires what " + strings.Join(flags, " ") + " activates"
}
