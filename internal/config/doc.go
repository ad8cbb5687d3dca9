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
// Each start of the program reads the file. So go-toml's parser (package unstable,
// which has neither tables nor reflection) walks the file once, and only the values of
// the used agent are kept. Fifty agents cost as many allocations as one. Decoding into
// a map took eleven times as long with this library, and forty times with the most
// popular one.
package config
