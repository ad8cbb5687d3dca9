package repo

import (
	"fmt"
	"go/ast"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// A passed is a function that a chunk of text passes.
type passed struct{ file, function string }

// TestPasses prints which functions a chunk of text passes from the agent's stream to the editor's
// line: those that two thousand more chunks call at least a thousand times more.
//
//	go test ./internal/test/repo -run Passes -v -measure .
func TestPasses(t *testing.T) {
	if *measured == "" {
		t.Skip("-measure . prints the functions that a chunk passes")
	}
	few, many := countCalls(t, 1000), countCalls(t, 3000)
	files := map[string]bool{}
	maps.DeleteFunc(many, func(f passed, n int) bool { return n-few[f] < 1000 })
	for f := range many {
		files[f.file] = true
	}
	for _, f := range slices.SortedFunc(maps.Keys(many), func(a, b passed) int { return strings.Compare(a.file+a.function, b.file+b.function) }) {
		fmt.Printf("%-40s %s\n", f.file, f.function)
	}
	fmt.Printf("%d functions in %d files\n", len(many), len(files))
}

// countCalls returns how often each function is called where so many chunks are played.
func countCalls(t *testing.T, chunks int) map[passed]int {
	t.Helper()
	profile := filepath.Join(t.TempDir(), "profile")
	cmd := exec.Command("go", "test", "./internal/test/bench", "-run", "Chunks", "-count=1", "-covermode=atomic",
		"-coverpkg=./bridge/...,./mapping/...,./transport/...,./internal/rawjson,./internal/fastpath,./internal/safe", "-coverprofile="+profile, "-chunks", fmt.Sprint(chunks))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text := must.Get(os.ReadFile(profile))(t)
	calls, of := map[passed]int{}, map[string]source{}
	for _, f := range sources(t) {
		of[f.path] = f
	}
	for line := range strings.Lines(string(text)) {
		path, block, ok := strings.Cut(strings.TrimPrefix(line, module+"/"), ":")
		var from, column, to, end, statements, n int
		if _, err := fmt.Sscanf(block, "%d.%d,%d.%d %d %d", &from, &column, &to, &end, &statements, &n); !ok || err != nil {
			continue // the mode
		}
		file := of[path]
		for _, d := range file.ast.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && file.fset.Position(f.Pos()).Line <= from && from <= file.fset.Position(f.End()).Line {
				p := passed{path, file.nameOf(f)}
				calls[p] = max(calls[p], n)
			}
		}
	}
	return calls
}
