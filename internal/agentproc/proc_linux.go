package agentproc

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// isSubreaper: descendants that lose their parent become the supervisor's.
const isSubreaper = true

// supervisorName is what ps, killall and pkill know the supervisor's process by:
// whoever kills every a2astdio leaves those that clean up. At most 15 bytes.
const supervisorName = "a2a-supervisor"

func becomeSupervisor() {
	// Both have been in every kernel since 3.4; without them less is found.
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	// The name of the process is that of its first thread, which may not be ours.
	_ = os.WriteFile("/proc/self/comm", []byte(supervisorName), 0)
}

// agentAttr: the agent is killed with the supervisor, whatever happens to that.
func agentAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// ownChildren lists the processes whose parent is this one. The kernel keeps the
// list by threads. It may leave out one while others end; the next round finds
// it, and only wait4 says that nobody is left.
func ownChildren() (children []int) {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return walkChildren()
	}
	for _, task := range tasks {
		list, err := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		if errors.Is(err, os.ErrNotExist) {
			if _, err := os.Stat("/proc/self/task/" + task.Name()); err == nil {
				return walkChildren() // a kernel without CONFIG_PROC_CHILDREN
			}
			continue // the thread has ended
		}
		for _, field := range bytes.Fields(list) {
			if pid, err := strconv.Atoi(string(field)); err == nil {
				children = append(children, pid)
			}
		}
	}
	return children
}

// walkChildren looks at every process. Among some thousands, on a busy machine,
// that takes longer than there is time: it is the way where there is no list.
func walkChildren() (children []int) {
	self := os.Getpid()
	eachProcess(func(pid int, dir string) {
		if stat, err := os.ReadFile(dir + "stat"); err == nil && parentOf(stat) == self {
			children = append(children, pid)
		}
	})
	return children
}

// parentOf reads "pid (name) state ppid …". A name may have anything in it.
func parentOf(stat []byte) int {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	ppid, _ := strconv.Atoi(string(fields[1]))
	return ppid
}

func eachProcess(f func(pid int, dir string)) {
	proc, err := os.Open("/proc")
	if err != nil {
		return
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			f(pid, "/proc/"+name+"/")
		}
	}
}

// quietRounds is for how many rounds nobody must be found. In the middle of an
// exec a process has no environment to look at, and on a busy machine it may be
// there for some time.
const quietRounds = 8

// sweep kills what the supervisor has left: nothing, unless it was killed itself.
func sweep(mark string) {
	timer := time.NewTimer(round)
	defer timer.Stop()
	// The limit is for what cannot be killed.
	for limit, quiet := time.Now().Add(hopeless), 0; quiet < quietRounds && time.Now().Before(limit); {
		quiet++
		if killMarked(mark) {
			quiet = 0
		}
		<-timer.C // at most hopeless in all
		timer.Reset(round)
	}
}

// killMarked kills every process that has the mark in its environment, and
// reports whether there was one.
func killMarked(mark string) (found bool) {
	eachProcess(func(pid int, dir string) {
		if !hasMark(dir, mark) || pid == os.Getpid() {
			return
		}
		// It holds the process, not only its number, which another may have by
		// now: so look again.
		p, err := os.FindProcess(pid)
		if err != nil {
			return
		}
		defer p.Release()
		if hasMark(dir, mark) {
			found = true
			_ = p.Kill()
		}
	})
	return found
}

func hasMark(dir, mark string) bool {
	env, err := os.ReadFile(dir + "environ")
	return err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00"+mark+"\x00"))
}
