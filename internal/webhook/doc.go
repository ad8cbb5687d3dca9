// Package webhook receives what A2A agents push (specification 0.3, §9.5; 1.0,
// §4.3 and §13.2), so that a turn goes on while its stream is gone. Nothing but the
// command line imports it, and makes it when a flag asks for it.
//
// A [Receiver] is an HTTP handler that checks requests and hands what is good to a
// [Queue]. There are two:
//
//   - [Boxes] are queues in this process: the bridge listens itself.
//   - [Publisher] hands over to a NATS JetStream stream, and [Mailbox] is the
//     bridge's end of that: for bridges that no agent can reach.
//
// # What a request has to be
//
// In this order, so that nobody learns more than his request entitles him to:
//
//	the path is none of ours                         404
//	the method is not POST                           405
//	the token is wrong                               401
//	too many at once, or in a second, to this path   429
//	the content type is not JSON                     415
//	the body is too large                            413
//	the body does not come in time                   408
//	the body is no JSON                              400
//	it is no task and no event of A2A                400
//	the queue cannot take it                         503
//	it came before, or its task has ended            200, without effect
//	it is in the queue                               200
//
// No answer has a body, but for the 200 to an agent that wants to see that the
// address is ours (GET with validationToken, as the A2A samples do).
//
// # Goroutines
//
// One a connection, owned by the [Server], ended by closing it. The NATS client has
// its own, ended by closing the Publisher or Mailbox; and one fetches for each open
// address of a Mailbox, ended by closing that.
package webhook
