// Package webhook receives what A2A agents push (specification 0.3, §9.5; 1.0, §4.3 and
// §13.2), so that a turn goes on without its stream. Only the command line imports it,
// and uses it only if a flag asks for it.
//
// A [Receiver] is an HTTP handler that checks requests and queues valid ones, for each turn
// at an address of its own.
//
// # What a request has to be
//
// The checks come in this order, so that nobody learns more than the request entitles
// to:
//
//	the path is none of ours                         404
//	the method is not POST                           405
//	the token is wrong, or the JWT for another       401
//	the content type is not JSON                     415
//	too many at once                                 503
//	the body is compressed                           415
//	the body is too large                            413
//	the body does not come in time                   408
//	the JWT was signed for another body              401
//	it is no task and no event of A2A                400
//	it came before, or its task has ended            200, without effect
//	the queue is full                                503
//	it is in the queue                               200
//
// No answer has a body.
//
// # Goroutines
//
// Each connection has one; what [Listen] returns ends it.
package webhook
