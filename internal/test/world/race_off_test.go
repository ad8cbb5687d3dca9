//go:build !race

package world

// defaultWorlds are played in a few seconds.
const defaultWorlds = 4000
