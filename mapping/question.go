package mapping

import (
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/mapping/dialect"
)

// The types of a question are those of package ask.
type (
	Question = ask.Question
	Option   = ask.Option
	Answer   = ask.Answer
)

// NewQuestion returns the question that a call asks, with the choices of its dialect.
func NewQuestion(c *ToolCall) Question { return dialect.NewQuestion(c) }
