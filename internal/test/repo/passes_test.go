package repo

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
	text, err := os.ReadFile(profile)
	if err != nil {
		t.Fatal(err)
	}
	calls, found := map[passed]int{}, map[string][]*ast.FuncDecl{}
	places := token.NewFileSet()
	for line := range strings.Lines(string(text)) {
		path, block, ok := strings.Cut(strings.TrimPrefix(line, module+"/"), ":")
		var from, column, to, end, statements, n int
		if _, err := fmt.Sscanf(block, "%d.%d,%d.%d %d %d", &from, &column, &to, &end, &statements, &n); !ok || err != nil {
			continue // the mode
		}
		if found[path] == nil {
			file, err := parser.ParseFile(places, path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok {
					found[path] = append(found[path], f)
				}
			}
		}
		for _, f := range found[path] {
			if places.Position(f.Pos()).Line <= from && from <= places.Position(f.End()).Line {
				name := f.Name.Name
				if f.Recv != nil {
					name = receiver(f.Recv.List[0].Type) + "." + name
				}
				calls[passed{path, name}] = max(calls[passed{path, name}], n)
			}
		}
	}
	return calls
}

// receiver is the name of a method's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}
