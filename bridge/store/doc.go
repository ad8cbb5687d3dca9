// Package store keeps sessions, their journals and what is known of agents' cards,
// for later processes. It knows nothing of a running bridge: it stores records and
// lines, and returns them. [Open] opens a directory of them; several processes may use
// it at once.
package store
