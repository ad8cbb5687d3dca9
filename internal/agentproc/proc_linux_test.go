package agentproc

import (
	"os"
	"os/exec"
	"slices"
	"testing"
)

// The kernel's list and the walk find the same children.
func TestOwnChildren(t *testing.T) {
	var want []int
	for range 3 {
		c := exec.Command(os.Args[0], "agent", "sleep")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		defer c.Wait()
		defer c.Process.Kill()
		want = append(want, c.Process.Pid)
	}
	slices.Sort(want)
	for name, find := range map[string]func() []int{"list": ownChildren, "walk": walkChildren} {
		got := find()
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	for stat, want := range map[string]int{"5 (a) S 7 1": 7, "5 (a) S 3 (b)) R 9 1": 9, "5 (": 0, "": 0} {
		if got := parentOf([]byte(stat)); got != want {
			t.Errorf("%q: %d", stat, got)
		}
	}
}
