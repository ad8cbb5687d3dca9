package repo

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/api.txt anew")

// TestMain goes to the root of the repository, from which all paths here are.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := os.Chdir("../../.."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
