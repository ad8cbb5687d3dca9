package cli

// The help of a2astdio itself and the notices are generated from the commands and the
// linked modules, and committed. A test fails where they are stale.

//go:generate go test . -count=1 -run ^TestGenerated -update
