package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// rest sleeps precisely: the runtime rounds an idle process's timers to milliseconds.
func rest(d time.Duration) {
	if d > 0 {
		t := syscall.NsecToTimespec(int64(d))
		_ = syscall.Nanosleep(&t, nil) // a signal may shorten it
	}
}

// memory returns a process's present and peak memory, in bytes. (Rejected: rusage,
// which on Linux counts the parent's memory at the start of the child.)
func memory(pid int) (now, peak int64) {
	return statusField(fmt.Sprintf("/proc/%d/status", pid), "VmRSS:") << 10, statusField(fmt.Sprintf("/proc/%d/status", pid), "VmHWM:") << 10
}

// activity returns a process's CPU time, and how often its threads have waited.
func activity(pid int) (ran time.Duration, waits int64) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid)) // the pattern is good
	for _, dir := range threads {
		b, err := os.ReadFile(dir + "/schedstat")
		if err != nil {
			continue // it has ended
		}
		first, _, _ := strings.Cut(string(b), " ")
		ns, _ := strconv.ParseInt(first, 10, 64)
		ran += time.Duration(ns)
		waits += statusField(dir+"/status", "voluntary_ctxt_switches:")
	}
	return ran, waits
}

func statusField(path, name string) int64 {
	b, _ := os.ReadFile(path) // a process that has ended has none
	_, rest, ok := strings.Cut("\n"+string(b), "\n"+name)
	fields := strings.Fields(rest)
	if !ok || len(fields) == 0 {
		return 0
	}
	n, _ := strconv.ParseInt(fields[0], 10, 64)
	return n
}
