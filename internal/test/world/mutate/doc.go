// Package mutate asks whether the world would notice: it puts faults that the
// bridge once had, or could have, into a copy of the module, one at a time, and
// plays worlds until one shows a violation that it does not show without the
// fault.
//
//	go test ./internal/test/world/mutate -mutate -v -timeout 1h
//	go test ./internal/test/world/mutate -mutate -v -only 'gap'
//
// The table (table_test.go) has, for each fault, a file and a text in it, which must be
// there exactly once, and what takes its place. Who changes that text changes the
// row: the run says which rows do not fit any more.
package mutate
