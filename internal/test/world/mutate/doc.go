// Package mutate tests the worlds: it puts faults that the bridge once had, or could
// have, into a copy of the module, one at a time. It plays worlds until one shows a
// violation that it does not show without the fault.
//
//	go test ./internal/test/world/mutate -mutate -v -timeout 1h
//	go test ./internal/test/world/mutate -mutate -v -only 'gap'
//
// The table (table_test.go) has, for each fault, a file, a text that must occur there
// exactly once, and its replacement. If you change that text, change the row: the run
// reports rows that no longer fit.
package mutate
