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
// [Question.AllowOnce] and [Question.Reject] are for programs that choose. [ask.Lines] are
// what the user must know before he answers, and [ask.Visible] shows the characters of an
// agent's text that would hide something. The errors of a turn are [TaskError],
// [PromptError] and [dialect.CommandError], beside those of other packages.
//
// # Without package bridge
//
// [NewFold] is called once for a conversation, [Fold.Begin] for each prompt, and
// [Fold.Event] for each event: it appends the steps to show. [calls.Calls.Open] are the calls
// that wait, [NewQuestion] has the user's choices, and [dialect.Writing] writes what was
// chosen into the next message.
//
// # The parts
//
// A [Fold] turns events ([a2a.Event]) into steps, each shown once. Package dialect, below it,
// reads what A2A has no words for, and writes settings and answers to an agent. How steps are
// spelled for editors, and kept, is package spell, which is above this one.
package mapping
