// Package shapes enumerates kinds of agents by how they put their text on the wire, and
// judges what a program has shown of it. What is right follows from the shape alone.
//
// Its tests play them through the bridge, and what running agents have sent. They also generate
// conversations: an agent of some shape with its habits, its answers, questions and faults, and
// a user who answers, cancels, leaves, or whose bridge is killed. These worlds are played in
// virtual time with a real bridge, and judged by what the agent has said: a turn without a fault
// shows the list of its items; behind a cut what was shown goes on, or a gap is told, once. Agents
// that end in several ways are played with each fault, and each act of the user's, behind each event.
//
// Of 100,000 worlds some three are wrong (November 2026), by what no rule is written for, at agents whose task
// cannot be asked for, or has no history: the whole of an artifact whose pieces have come in a task; a character
// that is said twice, by then; words that stalled before a rejection.
//
//	go test ./internal/test/shapes -run TestShapes -tell 20     each wrong turn
//	go test ./internal/test/shapes -run Seeds -worlds=100000 -v
//	                                                            as many worlds as wanted; -seed says where to begin
//	go test ./internal/test/shapes -run Replay -replay='17 0.fault' -v
//	                                                            one world, without its first fault, and what happened
package shapes
