// Package config reads a2astdio.toml: the user's own file, which names agents, and a
// workspace's file, which may have two keys only.
//
// # Where a value comes from
//
//	the option            --mode yolo
//	its variable          A2ASTDIO_MODE=yolo
//	the workspace's file  mode = "accept-edits"    agent and mode alone
//	the named agent       [agents.work] mode = …   the user's file
//	the top of the file   mode = …                 the user's file
//	what is built in
//
// The first of these that has a value wins. Options and variables belong to the command
// line (package cli); this package returns the rest, each value with its file and line.
//
// # The workspace's file
//
// It may come with a cloned repository, so it does not speak for the user. It may name
// an agent that the user's own file defines, and a mode that is stricter than the
// user's. Any other key is an error, also one that is valid elsewhere: the user should
// learn of the attempt.
//
// # What it costs
//
// Each start of the program reads the file. Two agents are decoded in some microseconds,
// fifty in a tenth of a millisecond. The decoder keeps no positions, so a fault's line is
// looked up when there is one, and the values of agents that are not used are looked at
// only where all agents are listed.
package config
