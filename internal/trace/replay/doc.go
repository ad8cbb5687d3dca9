// Package replay plays the agent of a recorded conversation as an A2A server, for any
// client. It answers as the agent did then, in the recorded order.
//
// It matches requests by their meaning, because IDs differ from run to run: it replaces
// the recorded IDs of messages and contexts by the client's current ones.
package replay
