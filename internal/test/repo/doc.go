// Package repo has only tests. They hold what is true of the repository as a whole:
// exported names, who imports whom, the length of functions and files, the documents and
// the map, and the lines of the transcripts by the schemas of their protocols.
package repo
