package cli

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"github.com/creack/pty"
)

// atTerminal runs a command at a terminal of its own, where a file is typed: terminal FILE COMMAND...
// Its stdout is what the terminal shows, to the end (testscript's ttyout may lose that), its stderr what
// the command writes elsewhere, its status the command's.
func atTerminal() {
	status, err := runAtTerminal(os.Args[1], os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(status)
}

func runAtTerminal(file string, command []string) (status int, err error) {
	typed, err := os.ReadFile(file)
	if err != nil {
		return 1, err
	}
	master, slave, err := pty.Open()
	if err != nil {
		return 1, err
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = os.Stderr, os.Stderr, []*os.File{slave}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	slave.Close()
	go func() { _, _ = master.Write(append(typed, 4)) }() // ends with this process; 4 ends the input
	_, _ = io.Copy(os.Stdout, master)                     // it fails when the last one has closed the terminal
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode(), nil
}
