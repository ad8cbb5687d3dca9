package bridge

// This file has what a client of 2026-07-28 brings back to a question.

type mcpSeal struct{}

// isAnswer reports whether a call brings an answer back.
func (c *mcpCall) isAnswer() bool {
	return c.params.Get("requestState").Exists() || c.params.Get("inputResponses").Exists()
}

func (e *mcpEditor) answered(c *mcpCall) {
	c.say(true, "editor: this answers no question that was asked: nothing was sent")
}

func (t *mcpTalk) askBack(c *mcpCall, q *mcpQuestion) {
	q.reply(mcpReply{why: cannotAsk})
	t.report(c)
}
