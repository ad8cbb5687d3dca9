package cli

// Help, man pages and notices are made of the commands and of the modules that are
// linked, and committed: a test fails where they are stale.

//go:generate go test . -count=1 -run ^TestGenerated -update
