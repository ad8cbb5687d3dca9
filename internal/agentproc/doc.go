// Package agentproc starts an agent's server for the bridge, finds its URL, and ends
// it. No process of the agent outlives the bridge.
//
// # How it is held
//
//	bridge ──leash (a pipe)──▶ supervisor (a2astdio supervise) ──▶ agent ──▶ its children …
//
// The bridge starts a supervisor, our own binary again, which starts the agent. The
// bridge keeps the write end of a pipe to the supervisor. However the bridge ends, the
// kernel closes that pipe, and the supervisor ends the agent: SIGTERM, then SIGKILL.
// (Rejected: a parent-death signal alone. npx dies of it and its node lives on. And it
// is tied to a thread of the bridge, which Go may end at any time.)
//
// The supervisor has a session of its own, so that Ctrl-C, a hangup or a kill of the
// editor's process group does not end it early. It also has a name of its own, because
// of killall -9 a2astdio.
//
// # What is guaranteed
//
//	what dies                    Linux                     macOS, BSD          Windows (cross-built, untested)
//	bridge, also by kill -9      all descendants           the agent's group   all descendants
//	agent, by itself             all descendants           the agent's group   all descendants
//	supervisor, by kill -9       all that have our mark    nothing             all descendants
//	bridge and supervisor at     the agent's own process,  nothing             all descendants
//	once, by kill -9             not its children
//
// On Linux the supervisor is a subreaper: descendants that lose their parent become its
// children, however they detached themselves. It is done when the kernel reports no
// children. If it is killed itself, the agent's process gets the parent-death signal,
// and the bridge kills each process in /proc that has the mark, an environment
// variable.
//
// Elsewhere a process that left the agent's group (setsid) survives. On Windows
// the supervisor is in a job object that is killed when it ends.
//
// All of that takes less than a second, of which the agent gets 400 ms; longer on an
// overloaded machine.
//
// What is not a descendant cannot be ended: a container (docker run is only a client of
// its daemon; --rm and --init help), a unit of systemd, a process of another user
// (sudo).
package agentproc
