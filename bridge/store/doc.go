// Package store keeps sessions, their journals and what is known of agents' cards,
// for the processes that come after this one. It knows nothing of a running
// bridge: it takes records and lines, and gives them back. [Open] opens a directory
// of them; several processes may use it at once.
package store
