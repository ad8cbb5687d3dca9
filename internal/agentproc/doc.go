// Package agentproc starts an agent's server for the bridge, finds its URL, and ends
// it.
//
// # How it is held
//
//	bridge ──leash (a pipe)──▶ supervisor (a2astdio supervise) ──▶ agent ──▶ its children …
//
// The bridge starts a supervisor, our own binary again, which starts the agent. The
// bridge keeps the write end of a pipe to the supervisor. However the bridge ends, the
// kernel closes that pipe, and the supervisor ends the agent: SIGTERM, then SIGKILL. To
// stop the agent the bridge closes it, too.
// (Rejected: a parent-death signal alone. npx dies of it and its node lives on. And it
// is tied to a thread of the bridge, which Go may end at any time.)
//
// The supervisor has a session of its own, so that Ctrl-C, a hangup or a kill of the
// editor's process group does not end it early. It also has a name of its own, because
// of killall -9 a2astdio.
//
// # Where it runs
//
// In a directory of ours, which has nothing in it: npx and others prefer programs and
// settings of the directory in which they run, and a workspace may be a repository that
// was cloned a minute ago. The agent is told of the workspace by its settings. PATH leads
// neither into the workspace nor to relative directories.
//
// # What is guaranteed
//
//	what dies                    Linux                     macOS, BSD          Windows (cross-built, untested)
//	bridge, also by kill -9      the agent's group         the agent's group   all descendants
//	agent, by itself             the agent's group         the agent's group   all descendants
//	supervisor, by kill -9       the agent's own process   nothing             all descendants
//
// A process that left the agent's group (setsid) survives. On Linux the agent's process
// gets the parent-death signal; on Windows the supervisor is in a job object that is
// killed when it ends. (Rejected: a subreaper that searches /proc for what has left the
// group. Only Linux has it, and it was three times as much code.)
//
// All of that takes less than a second, of which the agent gets 300 ms; longer on an
// overloaded machine.
//
// What is not a descendant cannot be ended: a container (docker run is only a client of
// its daemon; --rm and --init help), a unit of systemd, a process of another user
// (sudo).
//
// # Goroutines, and who ends them
//
//	one per agent                its supervisor's end, which Keeper.Stop brings about
//	one that reads what the      the agent's end, or soon after it where another process holds
//	agent prints                 the pipe; if the log blocks, with the log
//	one per address where a      the first card, or the agent's end
//	card may be
//	in the supervisor: one that  the end of the pipe, or of the process
//	reads the leash
//	in the supervisor: one that  the agent's end, or that of the process
//	waits for the agent
//
// What a [Keeper] and its processes share has a mutex, since turns and commands call it at any time.
package agentproc
