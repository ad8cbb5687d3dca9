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
// # Files
//
// docs/architecture.md has the way of a prompt, and of an event, through the files. In version 2 of ACP
// a prompt is answered when it has its place in the conversation, and may wait for those before it
// (queue.go); the end of its turn is a state of the session. A task that a turn has left is watched
// (watch.go), and what it says then is a turn of its own (acp2_after.go).
//
// What speaks with an editor (acp*.go, lines*.go, mcp*.go, editor.go, elicit.go, ide.go, serve.go, setup.go,
// session_close.go) is above the rest, which names nothing of it.
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
//	streaming  … of a task that works, and the end       look at the task for 10 s; end          message-ends
//	streaming  calls open, the agent waits for them      ask; asking                             approval
//	streaming  calls open for 250 ms, connection up      ask; asking                             approval-open-stream
//	streaming  asked in prose                            look at the task; end, the task stays   prose, approval-forgotten
//	streaming  waits, and a call is at work              read on; three looks behind its end     auto-approved-left
//	streaming  silence                                   look at the task                        auth, idle
//	streaming  auth-required                             tell the user once, keep following      auth
//	streaming  … and each subscription only repeats it   an error; end, the task stays           auth-repeated
//	streaming  terminal state                            show what follows for 250 ms; end       hello, failed, rejected, late-text
//	streaming  cut, task known                           wait, subscribe or look                 cut, cut-poll, cut-gone, http-only
//	streaming  cut, task unknown                         an error; never send again              cut-early
//	streaming  cut, no task methods                      what is lost is said once; or an error  http-no-subscribe, http-no-tasks
//	streaming  answered without a stream, task goes on   ask for it until it is over              lines-poll
//	asking     event on the stream that is still open    show; open calls that go on are moot    asking-elsewhere
//	asking     terminal state                            the questions are moot; end             asking-ended
//	asking     cut                                       stay; answer when all that waits known  asking-cut, approval-cut-between
//	asking     answered                                  send all answers in one message         approval, approval-many
//	asking     answered, an older stream says more       look at the task                        approval-older-stream
//	asking     rejected, no option of the agent's        cancel the task; end                    options-unclear
//	asking     answered, and the agent has not got it    cancel the task; an error; end           answer-lost
//	any        the agent's process has ended             an error that says how; end              gone, gone-*
//	asking     end of input, the work is finished        reject; end                             eof-finish-asking
//	any        end of input, signal                      cancel, reply, exit                     eof, eof-asking, eof-asking-deaf
//	any        cancel                                    tell the agent, go on showing           cancel
//	any        2 s after a cancel                        leave the leg; reply cancelled          cancel-ignored, cancel-late-task
//
// # Live, snapshot, replayed, glance
//
// A turn ends by the agent's state, not by its stream's end. Each event comes to the fold as
// one of four. It is live if it came on the stream of the newest request, without a
// break; a snapshot if it is the task, asked for, or the first event of a subscription; a
// glance if it is the task while that stream is open, which brings the words; replayed
// otherwise. Behind a cut the task is taken whole, since A2A gives no position in a stream. Whatever a
// subscription says then, or a push, or a stream of an older request, means "look now" (look.go). Such
// events count as replayed, and are read for their words, only where a look cannot bring these: there is
// no tasks/get, it has failed, or the task holds nothing of what the agent says; what they say of a call
// that waits for the user counts in any case (takeHints). The answer to a cancel counts as live for the state alone.
//
// A leg runs in its turn's goroutine, in one phase: streaming (the stream of its request is read),
// away (there is none: a subscription is open, a look under way, or a timer runs), over. What comes to
// it is an input of a table (machine.go), which gives the next phase and one action, by what is
// known. The leg has its turn show what was said, and is told then what it decides by of what the fold
// knows ([callFacts]). That the leg's message has come is told by any event of
// its own stream, and behind a cut by the tasks that were looked at (arrived.go).
//
// No stream is closed while the turn lives, but for --idle-timeout, nor at its end: agents may abort the
// task of a closed connection. Older ones are read on, and are drained at the end (readers.go).
//
// # Goroutines, and who ends them
//
//	jsonrpc2's read loop      Serve, by closing the connection
//	Stdio's writer            Serve, likewise
//	one per request that      server.shutdown, by cancelling its context, after
//	takes time                having given it cancelWait
//	one per leg that is left  what the agent says next, or Agent.Close
//	with a cancel
//	one per request of a leg  its answer's beginning, or Agent.Close; if that is a stream,
//	or subscription           that's next event or end, or transport.Client.Close
//	one per look              its leg or turn, or its time limit
//	one per turn (sendCancel) Turn.Run
//	one per question          Turn.Run; Editor.Ask ends with its context
//	one per task that is      cancelGrace, or Agent.Close
//	given up (cancelLater)
//
// # Channels, and who receives
//
//	readers.batches           the leg that runs, or the one that is left with a cancel
//	reader.goOn               the goroutine of that stream
//	turn.steers               the turn
//	mcpTalk.changed           the call that waits
//	makingTask, openingAgent, who has put a token in: one may be in there
//	asking
//
// # Mutexes and atomics
//
// A mutex is of the struct that it stands in, and guards what stands below it there. Three are held while
// something takes its time, so that others wait for it: setup.mu (looking for an agent), mcpEditor.restoring,
// and mcpTalk.waiting, which is only tried. An atomic counts, is set once, by the first, or has what was
// found out last.
//
// # Order
//
// What must happen in the order of the editor's messages (a prompt's
// registration, a cancel) happens in the read loop, which never waits and never
// writes: replies are queued, bounded by the requests that are open. Updates go
// through [stdio.Conn.Send], which returns when they are written, so that a
// reply that is queued afterwards comes after them.
package bridge
