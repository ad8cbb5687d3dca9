// Package world generates A2A agents, lets the bridge talk to them, and judges what the
// user saw.
//
// A world is a value, a [Plan]: the legal habits of one agent, the turns of one or two
// conversations with it, the faults, and what the user does. [Generate] draws it from a
// seed. [Play] plays it in virtual time (testing/synctest), with a real bridge between
// a scripted editor and the agent. [Judge] compares what the editor saw, and what the
// agent heard, with the plan. The judge is independent of the bridge: its files import
// nothing of this module (TestJudgeStandsAlone).
//
//	go test ./internal/test/world                        a few thousand worlds, and all that ever failed
//	go test ./internal/test/world -worlds=1000000 -v     as many as wanted; -seed says where to begin
//	go test ./internal/test/world -run Replay -replay='17 3f-0s1' -v
//	                                                     one world, with its story
//
// # Stable worlds
//
// A [Replay] names a world: a seed, the allowed features, and what was removed. A line
// of testdata/worlds.txt begins with one. It must mean the same world for ever:
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
// Plays differ slightly: the bridge's jitter cannot be seeded, and Go chooses among
// ready goroutines. So each line is replayed several times.
//
// README.md tells what is legal, and how an ambiguous wire is interpreted.
package world
