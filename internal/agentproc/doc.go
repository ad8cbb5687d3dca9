// Package agentproc starts an agent's server for the bridge, finds out at which
// URL it is, and ends it. No process of the agent outlives the bridge.
//
// # How it is held
//
//	bridge ──leash (a pipe)──▶ supervisor (a2astdio supervise) ──▶ agent ──▶ its children …
//
// The bridge does not start the agent but a supervisor, which is our own binary
// again, and keeps the write end of a pipe to it. However the bridge dies, the
// kernel closes that pipe, and the supervisor ends the agent: SIGTERM, then
// SIGKILL. A parent-death signal alone would not do: npx dies of it and its node
// lives on; and Go ties it to a thread of the bridge that may end at any time.
//
// The supervisor has a session of its own, so that neither Ctrl-C, nor a hangup,
// nor a kill of the editor's process group takes it away before its work is done,
// and a name of its own, so that killall -9 a2astdio does not, either.
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
// On Linux the supervisor is a subreaper: whatever of the agent's loses its
// parent becomes the supervisor's child, however it detached itself, and it is
// done when the kernel says that it has no children left. If it is killed itself,
// the agent's process gets the parent-death signal, and the bridge kills what has
// the mark, an environment variable, which it finds in /proc.
//
// Elsewhere a process that left the agent's group (setsid) survives. On Windows
// the supervisor is in a job object that is killed when it ends.
//
// All of that takes less than a second, of which 400 ms are the agent's own, unless
// the machine is so busy that nothing gets its turn.
//
// Nobody can end what is not a descendant at all: a container (docker run is only
// a client of its daemon; --rm and --init help), a unit of systemd, a process of
// another user (sudo).
package agentproc
