// Package shapes enumerates kinds of agents by how they put their text on the wire, and
// judges what a program has shown of it. What is right follows from the shape alone.
//
// To see each wrong turn: go test ./internal/test/shapes -run TestShapes -tell 20
package shapes
