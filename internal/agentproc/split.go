package agentproc

import "runtime"

// Words splits a command as [Options.Command] is split: words as in a shell, but
// without one. Leading VAR=value words are returned apart.
func Words(command string) (env, words []string, err error) {
	return splitWords(command, runtime.GOOS == "windows")
}
