package soak

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A process has a mark in its environment.
type process struct {
	pid   int
	words string // its command line
}

// processes lists the marked ones, without zombies: they have ended.
func processes(mark string) (all []process) {
	dirs, _ := filepath.Glob("/proc/[0-9]*") // the pattern is good
	for _, dir := range dirs {
		environ, err := os.ReadFile(dir + "/environ")
		if err != nil || !slices.ContainsFunc(bytes.Split(environ, []byte{0}), func(v []byte) bool { return string(v) == markName+"="+mark }) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(dir))
		words, _ := os.ReadFile(dir + "/cmdline") // if it ends meanwhile, none
		if err == nil {
			all = append(all, process{pid, strings.ReplaceAll(strings.TrimRight(string(words), "\x00"), "\x00", " ")})
		}
	}
	return all
}

// nobody demands that no process has a mark soon after began, and returns how long
// it took.
func nobody(t *testing.T, mark string, began time.Time) time.Duration {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		now := time.Now() // before looking: what is found existed then
		left := processes(mark)
		switch {
		case len(left) == 0:
			return now.Sub(began)
		case now.Sub(began) > exitTime:
			var b strings.Builder
			for _, p := range left {
				fmt.Fprintf(&b, "\n%d: %s", p.pid, p.words)
			}
			t.Fatalf("%v later there are still%s", now.Sub(began).Round(time.Millisecond), b.String())
		}
		<-tick.C
	}
}

// agentProcess finds the agent's process of --agent-command, 0 if there is none: its
// supervisor has the agent's words behind a "--".
func agentProcess(mark string) int {
	for _, p := range processes(mark) {
		if strings.Contains(p.words, " demo --listen ") && !strings.Contains(p.words, " -- ") && !strings.Contains(p.words, "--agent-command") {
			return p.pid
		}
	}
	return 0
}
