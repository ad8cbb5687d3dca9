package agentproc

import "runtime"

// Words splits a command like [Options.Command]: into words as in a shell, but no shell
// runs it. It returns leading VAR=value words apart.
func Words(command string) (env, words []string, err error) {
	return splitWords(command, runtime.GOOS == "windows")
}
