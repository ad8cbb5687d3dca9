package agentproc

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// supervise on Windows is cross-built and untested. The supervisor puts itself into a
// job, which is killed when the supervisor ends and closes the last handle. All that it
// starts belongs to the job. A process without a window has no SIGTERM, so there is no
// grace period.
func supervise(path string, argv []string, order <-chan struct{}, out *os.File) int {
	if err := enterJob(); err != nil {
		// Without a job processes may be left behind, so nothing is started.
		fmt.Fprintf(out, "a2astdio: no job object for the agent: %v\n", err)
		return statusCannotRun
	}
	agent := &exec.Cmd{Path: path, Args: argv, Stdout: out, Stderr: out}
	if err := agent.Start(); err != nil {
		fmt.Fprintf(out, "a2astdio: %s cannot be run: %v\n", path, err)
		return statusCannotRun
	}
	ended := make(chan struct{})
	go func() { // ends with the agent, or with the process
		_ = agent.Wait() // its status is in ProcessState
		close(ended)
	}()
	select {
	case <-ended:
		return agent.ProcessState.ExitCode()
	case <-order:
		return 1 // like TerminateProcess
	}
}

// enterJob leaves the handle open: it closes with the process.
func enterJob() error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return err
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
			LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
		},
	}
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		return err
	}
	return windows.AssignProcessToJobObject(job, windows.CurrentProcess())
}

// supervisorAttr hides the window: an editor has no console, and a new one would flash
// up.
func supervisorAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW}
}

func signalName(int) string { return "" }

// ownGroup does nothing here: only the command itself is ended.
func ownGroup(*exec.Cmd) {}
