// Package world makes A2A agents that nobody here has seen, lets the bridge talk
// to them, and says what the user should have seen.
//
// A world is a value, a [Plan]: the habits of one agent, which are legal by the
// specifications, the turns of one or two conversations with it, what goes wrong
// on the way, and what the user does. [Generate] draws it from a seed, [Play]
// plays it in virtual time (testing/synctest) with a real bridge between a
// scripted editor and the agent, and [Judge] compares what the editor has seen,
// and what the agent has heard, with what the plan meant. The judge is written
// apart from the bridge, in the plainest way: its files import nothing of this
// module (TestJudgeStandsAlone).
//
//	go test ./internal/test/world                        a few thousand worlds, and all that ever failed
//	go test ./internal/test/world -worlds=1000000 -v     as many as wanted; -seed says where to begin
//	go test ./internal/test/world -run Replay -replay='17 3f-0s1' -v
//	                                                     one world, with its story
//	go test ./internal/test/world/mutate -mutate -v      puts faults into a copy of the module: is each found?
//
// # How a world stays the same
//
// A world is named by a [Replay]: a seed, the features that it may use, and what
// was removed from it. A line of testdata/worlds.txt begins with one. So that it
// means the same world for ever:
//
//   - Each decision is drawn from a stream of its own, derived from the seed, a
//     word and the place ([Replay.draw]). A new decision takes nothing away from
//     another one.
//   - What is new has a [Feature] of its own, with the next bit. Lines that were
//     written before lack the bit, so that it is off for them. Bits are never
//     given to something else.
//   - New kinds of acts and faults are drawn in passes of their own, behind those
//     that are there, and only if their feature is on.
//   - Acts, turns and faults have labels by what made them ("0s1.2": turn 0,
//     second answer, third chunk), not by where they stand. What was removed is
//     named by label.
//
// The play itself is not quite the same each time: the bridge draws the jitter of
// its waits from a source that cannot be seeded, and Go picks among goroutines
// that are ready. So a line is replayed several times.
//
// README.md says what is legal, and how a wire that can mean two things is read.
package world
