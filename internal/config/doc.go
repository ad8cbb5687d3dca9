// Package config reads a2astdio.toml: the user's own file, where agents get names,
// and the file of a workspace, which may say two things only.
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
// The first that says something wins. Options and variables belong to the command
// line (package cli); this package returns the rest, each value with its file and
// line.
//
// # The workspace's file
//
// It comes with whatever the user has cloned, so it is not the user's word. It may
// name an agent that the user's own file defines, and a mode that is stricter than
// the user's. Anything else in it is an error, also what is known elsewhere: a user
// is to learn that somebody has tried.
//
// # What it costs
//
// Each start of the program reads the file, so the file is walked once, by the
// parser of go-toml (package unstable, which has neither tables nor reflection),
// and only the values of the agent that is used are kept. Fifty agents cost as
// many allocations as one. Decoding into a map took forty times as long with the
// library that is used most, and eleven times with this one.
package config
