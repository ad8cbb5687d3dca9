//go:build race

package world

// defaultWorlds: the race detector makes a world ten times as long.
const defaultWorlds = 300
