// Package bridge is what happens next: it takes an editor's prompt, sends it to
// an A2A agent, shows the editor what comes of it, and asks the user in between.
// How things travel is package transport's, what they mean package mapping's.
//
// # The life of a prompt
//
// [Serve] gives the editor's stdin and stdout to a [transport.Stdio] and its
// messages, by way of jsonrpc2, to the read loop, which calls server.Handle
// (editor.go). There session/prompt (editor_acp.go) is registered at once
// ([Session.Begin]), so that a cancel that follows finds it, and then runs in a
// goroutine of its own ([Turn.Run], turn.go). The prompt becomes a message
// (session.go) and the message a leg (follow.go), which reads the agent's
// stream and hands it over, batch by batch; the turn folds each batch into steps
// ([mapping.Fold]) and has the editor show them. When calls wait for approval
// the turn asks (ask.go), and the answers are the next leg's message.
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
//	streaming  a direct message                          show; end                               direct-message
//	streaming  calls open and settled, stream ended      ask; asking                             approval
//	streaming  calls open for 250 ms, stream open        ask; asking                             approval-open-stream
//	streaming  asked in prose, stream ended              show; end, the task stays               prose
//	streaming  auth-required                             tell the user once, keep following      auth
//	streaming  terminal state                            end with its stop reason                hello, failed, rejected
//	streaming  cut, task known                           back off, subscribe, reconcile          cut, cut-poll, cut-gone
//	streaming  cut, task unknown                         an error; never send again              cut-early
//	streaming  answered without a stream, task goes on   ask for it until it is over              lines-poll
//	asking     event on the stream that is still open    show; open calls that go on are moot    asking-elsewhere
//	asking     terminal state                            the questions are moot; end             asking-ended
//	asking     cut                                       stay; reconcile before answering        asking-cut
//	asking     answered                                  send all answers in one message         approval, approval-many
//	asking     answered, and the agent has not got it    cancel the task; an error; end           answer-lost
//	any        the agent's process has ended             an error that says how; end              gone, gone-*
//	any        end of input, signal                      cancel, reply, exit                     eof
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
// through [transport.Stdio.Send], which returns when they are written, so that a
// reply that is queued afterwards comes after them.
package bridge
