package spell

import (
	"errors"
	"strings"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// ACPError spells an error for an ACP client, in ACP's codes only: the agent's
// own numbers mean other things there, so its code is said in the text. The message and
// details, which is for data.details, say the same: some editors show the one, some the
// other.
func ACPError(err error) (code int, message, details string) {
	var task *mapping.TaskError
	var prompt *mapping.PromptError
	var agent *a2a.Error
	switch code, details = acp.CodeInternal, err.Error(); {
	case errors.As(err, &task) && task.State == a2a.StateAuthRequired:
		return acp.CodeAuthRequired, "Authentication required: the agent " + strings.TrimPrefix(details, "agent: "), details
	case errors.As(err, &task):
	case errors.As(err, &prompt):
		code = acp.CodeInvalidParams
	case errors.As(err, &agent) && agent.Unauthenticated():
		return acp.CodeAuthRequired, AuthRequired(err), details
	}
	return code, details, details
}

// AuthRequired is the message for a user who has to authenticate: some editors show
// it, some the details.
func AuthRequired(err error) string {
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "agent: "), "bridge: ")
	return "Authentication required: " + strings.ReplaceAll(text, "\n", "; ")
}
