// Package must ends a test at an error of something that the test needs and does not test, and
// compares with files that hold what was right.
package must

import (
	"os"
	"strings"
	"testing"
)

// Do ends the test if there is an error.
func Do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get returns the value of a call that may fail: must.Get(os.ReadFile(name))(t).
func Get[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		Do(t, err)
		return value
	}
}

// Golden compares with a file, or writes it: somebody reads what has changed.
func Golden(t testing.TB, update bool, file, got string) {
	t.Helper()
	if update {
		Do(t, os.WriteFile(file, []byte(got), 0o644))
	}
	is, want := strings.Split(got, "\n"), strings.Split(string(Get(os.ReadFile(file))(t)), "\n")
	for i := range max(len(is), len(want)) {
		if i >= min(len(is), len(want)) || is[i] != want[i] {
			t.Errorf("%s is stale from line %d on: -update writes it anew, to be read\n got %q\nwant %q", file, i+1, is[min(i, len(is)):min(i+5, len(is))], want[min(i, len(want)):min(i+5, len(want))])
			return
		}
	}
}
