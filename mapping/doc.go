// Package mapping translates meaning: an agent's events for an editor, an editor's
// prompt for an agent. It is pure: no I/O, no clock, no goroutine; IDs and times are
// arguments.
//
// # For an editor of package bridge
//
// It needs few of the names. A [Step] is one thing to show; its Kind tells which of its
// members count. A [ToolCall] is in a step of the kind [StepTool]: [Title] and [ToolKind]
// say in short what it is. A [Question] is a call that waits for the user, and its
// [Option] list has the choices; [ToolCall.Confirmation] says what is asked; an [Answer]
// is the choice that was made.
// [Question.AllowOnce] and [Question.Reject] are for programs that choose. [Warnings] is
// what the user must know before he answers, and [Visible] shows the characters of an
// agent's text that would hide something. The errors of a turn are [TaskError],
// [PromptError] and [CommandError], beside those of other packages.
//
// # Without package bridge
//
// [NewFold] is called once for a conversation, [Fold.Begin] for each prompt, and
// [Fold.Event] for each event: it appends the steps to show. [Fold.Open] are the calls
// that wait, [NewQuestion] has the user's choices, and [Writing.Answers] writes what was
// chosen into the next message.
//
// # The parts
//
// A [Fold] turns events ([a2a.Event]) into steps, each shown once. A dialect
// (dialect.go) reads what A2A has no words for; the two editor protocols, [ACP]
// and [Lines], append steps as the editor's lines. In the other direction
// [Prompt] and [ReadMessage] make parts, [Settings] decides how to write to an
// agent, and [Writing] writes settings and answers.
//
//	A2A                                      steps               ACP                        A2A lines
//	task state                               StepState           (nothing)                  event/state
//	text of a message                        StepText            agent_message_chunk        event/text
//	text of an artifact                      StepText            agent_message_chunk        event/artifact
//	file or data part                        StepPart            agent_message_chunk        event/message, event/artifact
//	data part: thought                       StepThought         agent_thought_chunk        event/thought
//	data part: tool call                     StepTool            tool_call, …_update, plan  event/toolCall
//	artifact tool-ID-output (gemini)         StepTool            tool_call_update           event/toolCall
//	error in an event's metadata             StepError           agent_message_chunk        event/error
//	connection lost, back                    StepConnection      a line of text for a gap   event/connection
//	something unknown                        StepUnknown         (nothing)                  event/unknown
//	completed, input-required                                    end_turn                   the leg's result
//	canceled                                                     cancelled                  the leg's result
//	rejected                                                     refusal                    the leg's result
//	failed, auth-required at the end         (TaskError)         -32603, -32000             the leg's result
package mapping
