// Package bridge runs conversations: it takes an editor's prompt, sends it to an A2A
// agent, shows the editor what the agent says, and asks the user in between. Package
// transport does the I/O, package mapping translates.
//
// # For a caller
//
// [Serve] is the whole bridge: an editor on a reader and a writer, until it is gone or
// the context ends. A program that is an editor itself makes an [Agent] and a [Session]
// of it, and runs each prompt by [Session.Prompt], or by [Session.Begin] and
// [Turn.Run], so that [Session.Cancel] finds it at once; an [Editor] shows the steps
// and answers the questions. Of [Options] only Client must be set.
//
// # The life of a prompt
//
// [Serve] gives the editor's stdin and stdout to a [stdio.Conn] and its
// messages, by way of jsonrpc2, to the read loop, which calls server.Handle
// (editor.go). There session/prompt (acp.go) is registered at once
// ([Session.Begin]), so that a cancel that follows finds it, and then runs in a
// goroutine of its own ([Turn.Run], turn.go). The prompt becomes a message
// (session.go) and the message a leg (follow.go), which reads the agent's
// stream and hands it over, batch by batch; the turn folds each batch into steps
// ([mapping.Fold]) and has the editor show them. When calls wait for approval
// the turn asks (turn_ask.go; who answers is decided in approve.go), and the answers are the next leg's message.
//
// # States of a turn
//
// A turn is one prompt: a loop of legs with the user's answers between. Its
// states are places in the code, and each row has a transcript of that name in
// testdata/transcript.
//
//	in         when                                      then
//	start      prompt                                    send; streaming                         hello
//	streaming  event                                     show                                    hello
//	streaming  error, or no SSE, before the first event  the agent's error; end                  error-*
//	streaming  a direct message                          show; end with the stream, or silence   direct-message, messages, message-open
//	streaming  calls open and settled, stream ended      ask; asking                             approval
//	streaming  calls open for 250 ms, connection up      ask; asking                             approval-open-stream
//	streaming  asked in prose, stream ended              show; end, the task stays               prose
//	streaming  auth-required                             tell the user once, keep following      auth
//	streaming  … and each subscription only repeats it   an error; end, the task stays           auth-repeated
//	streaming  terminal state                            show what follows for 250 ms; end       hello, failed, rejected, late-text
//	streaming  cut, task known                           back off, subscribe, reconcile          cut, cut-poll, cut-gone, http-only
//	streaming  cut, task unknown                         an error; never send again              cut-early
//	streaming  cut, no task methods                      what is lost is said once; or an error  http-no-subscribe, http-no-tasks
//	streaming  answered without a stream, task goes on   ask for it until it is over              lines-poll
//	asking     event on the stream that is still open    show; open calls that go on are moot    asking-elsewhere
//	asking     terminal state                            the questions are moot; end             asking-ended
//	asking     cut                                       stay; answer when all that waits is     asking-cut, approval-cut-between
//	asking     answered                                  send all answers in one message         approval, approval-many
//	asking     rejected, no option of the agent's        cancel the task; end                    options-unclear
//	asking     answered, and the agent has not got it    cancel the task; an error; end           answer-lost
//	any        the agent's process has ended             an error that says how; end              gone, gone-*
//	any        end of input, signal                      cancel, reply, exit                     eof, eof-asking, eof-asking-deaf
//	any        cancel                                    tell the agent, go on showing           cancel
//	any        2 s after a cancel                        leave the leg; reply cancelled          cancel-ignored
//
// # Goroutines, and who ends them
//
//	jsonrpc2's read loop      Serve, by closing the connection
//	Stdio's writer            Serve, likewise
//	one per request that      server.shutdown, by cancelling its context, after
//	takes time                having given it cancelWait
//	one per leg               the leg's own end, Turn.Run by leaving it, or Agent.Close
//	one per subscription      its stream's next event or end, transport.Client.Close
//	one per stream that is    likewise
//	lingered on
//	one per turn (watch)      Turn.Run
//	one per question          Turn.Run; Editor.Ask ends with its context
//	one per task that is      cancelGrace, or Agent.Close
//	given up (abandon)
//
// # Order
//
// What must happen in the order of the editor's messages (a prompt's
// registration, a cancel) happens in the read loop, which never waits and never
// writes: replies are queued, bounded by the requests that are open. Updates go
// through [stdio.Conn.Send], which returns when they are written, so that a
// reply that is queued afterwards comes after them.
package bridge
