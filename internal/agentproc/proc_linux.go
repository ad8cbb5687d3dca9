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

// isSubreaper: descendants that lose their parent become the supervisor's children.
const isSubreaper = true

// supervisorName is the supervisor's process name for ps, killall and pkill: killing
// every a2astdio leaves the ones that clean up. At most 15 bytes.
const supervisorName = "a2a-supervisor"

func becomeSupervisor() {
	// Each kernel since 3.4 has both; without them less is found.
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	// A process's name is that of its first thread, which may not be this one.
	_ = os.WriteFile("/proc/self/comm", []byte(supervisorName), 0)
}

// agentAttr: the kernel kills the agent when the supervisor ends.
func agentAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// ownChildren lists the processes whose parent is this one. The kernel keeps the list
// by thread, and may leave out a process while others end. The next round finds it, and
// only wait4 reports that no children are left.
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

// walkChildren looks at every process, where the kernel has no list. Among thousands on
// a busy machine that takes too long.
func walkChildren() (children []int) {
	self := os.Getpid()
	eachProcess(func(pid int, dir string) {
		if stat, err := os.ReadFile(dir + "stat"); err == nil && parentOf(stat) == self {
			children = append(children, pid)
		}
	})
	return children
}

// parentOf reads "pid (name) state ppid …". A name may contain any character.
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

// quietRounds is how many rounds in a row must find nothing. During exec a process
// shows no environment, which may last on a busy machine.
const quietRounds = 8

// sweep kills what a killed supervisor has left.
func sweep(mark string) {
	timer := time.NewTimer(round)
	defer timer.Stop()
	// The limit is for processes that cannot be killed.
	for limit, quiet := time.Now().Add(hopeless), 0; quiet < quietRounds && time.Now().Before(limit); {
		quiet++
		if killMarked(mark) {
			quiet = 0
		}
		<-timer.C // at most hopeless in all
		timer.Reset(round)
	}
}

// killMarked kills each process with the mark in its environment, and reports whether
// there was one.
func killMarked(mark string) (found bool) {
	eachProcess(func(pid int, dir string) {
		if !hasMark(dir, mark) || pid == os.Getpid() {
			return
		}
		// FindProcess holds the process, not only its number, which another may have by now:
		// so check again.
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
