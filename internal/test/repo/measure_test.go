package repo

import (
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

var measured = flag.Bool("measure", false, "TestMeasure and TestPasses print what they measure")

// A room is a package, or several, and what there is in it, by the names of columns.
type room map[string]int

// columns are lines; functions over 40 lines, and of a complexity over 15; fields of structs that
// are bool; makes of channels, go statements, mutexes, uses of sync/atomic's types; what is exported;
// uses between files that go upward.
var columns = []string{"lines", "tests", "comments", "over40", "branched", "bools", "chans", "go", "locks", "atoms", "exported", "upward"}

// heart is what answers "was this shown already?" and "is the turn over?".
var heart = regexp.MustCompile(`^(mapping/(shown/[a-z_]+|fold[a-z_]*)|bridge/(leg|leg_[a-z]+|look|subscription|arrived|silence|live|machine|known|verdict|readers))\.go$`)

// TestMeasure prints the size of the rooms: go test ./internal/test/repo -run Measure -v -measure
func TestMeasure(t *testing.T) {
	if !*measured {
		t.Skip("-measure prints the size of the rooms")
	}
	rooms := map[string]room{"heart": {}, "all": {}}
	of := func(path string) (all []room) {
		in, _, _ := strings.Cut(path, "/")
		if parts := strings.Split(path, "/"); len(parts) > 2 && in == "internal" {
			in += "/" + parts[1]
		}
		if rooms[in] == nil {
			rooms[in] = room{}
		}
		all = append(all, rooms[in])
		if in != "internal/test" {
			all = append(all, rooms["all"])
		}
		if heart.MatchString(path) {
			all = append(all, rooms["heart"])
		}
		return all
	}
	for path := range files(t, "_test.go") {
		if ours(path) {
			for _, r := range of(path) {
				r["tests"] += strings.Count(read(t, path), "\n")
			}
		}
	}
	for _, f := range sources(t) {
		for _, r := range of(f.path) {
			r["lines"] += f.fset.Position(f.ast.FileEnd).Line - 1
			for _, g := range f.ast.Comments {
				r["comments"] += f.fset.Position(g.End()).Line - f.fset.Position(g.Pos()).Line + 1
			}
			ast.Inspect(f.ast, func(n ast.Node) bool {
				r.count(f.fset, n)
				return true
			})
		}
	}
	for path, n := range upward(t) {
		for _, r := range of(path) {
			r["upward"] += n
		}
	}
	fmt.Printf("%-22s %s", "room", strings.Join(columns, " "))
	for _, name := range slices.SortedFunc(maps.Keys(rooms), func(a, b string) int { return rooms[b]["lines"] - rooms[a]["lines"] }) {
		fmt.Printf("\n%-22s", name)
		for _, c := range columns {
			fmt.Printf(" %*d", len(c), rooms[name][c])
		}
	}
	fmt.Println()
}

// count counts a node.
func (r room) count(fset *token.FileSet, n ast.Node) {
	switch n := n.(type) {
	case *ast.FuncDecl:
		if n.Name.IsExported() {
			r["exported"]++
		}
		if fset.Position(n.End()).Line-fset.Position(n.Pos()).Line >= 40 {
			r["over40"]++
		}
		if n.Body != nil && complexity(n) > 15 {
			r["branched"]++
		}
	case *ast.TypeSpec:
		if n.Name.IsExported() {
			r["exported"]++
		}
	case *ast.StructType:
		for _, f := range n.Fields.List {
			if id, ok := f.Type.(*ast.Ident); ok && id.Name == "bool" {
				r["bools"] += len(f.Names)
			}
		}
	case *ast.GoStmt:
		r["go"]++
	case *ast.CallExpr:
		if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "make" {
			if _, ok := n.Args[0].(*ast.ChanType); ok {
				r["chans"]++
			}
		}
	case *ast.SelectorExpr:
		switch id, ok := n.X.(*ast.Ident); {
		case !ok:
		case id.Name == "sync" && strings.HasSuffix(n.Sel.Name, "Mutex"):
			r["locks"]++
		case id.Name == "atomic":
			r["atoms"]++
		}
	}
}

// upward counts for each file how often it uses what another file of its package declares that uses it
// more often in turn: against the direction of most uses between the two. Names that several files
// declare do not count, nor exported methods and fields, which other packages may have, too.
func upward(t *testing.T) map[string]int {
	declared := map[string]string{} // in which file; "": in several
	for name, files := range declaredNames(t) {
		for file := range files {
			key := filepath.Dir(file) + " " + name[strings.LastIndex(name, ".")+1:]
			if was, ok := declared[key]; ok && was != file {
				file = ""
			}
			declared[key] = file
		}
	}
	uses, counts := map[[2]string]int{}, map[string]int{}
	for _, f := range sources(t) {
		use := func(id *ast.Ident) {
			if file := declared[f.pkg+" "+id.Name]; file != "" && file != f.path {
				uses[[2]string{f.path, file}]++
			}
		}
		for _, id := range f.ast.Unresolved {
			use(id)
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && !s.Sel.IsExported() {
				use(s.Sel)
			}
			return true
		})
	}
	for pair, n := range uses {
		if m := uses[[2]string{pair[1], pair[0]}]; n < m || n == m && pair[0] > pair[1] {
			counts[pair[0]] += n
		}
	}
	return counts
}

// A passed is a function that a chunk of text passes.
type passed struct{ file, function string }

// TestPasses prints which functions a chunk of text passes from the agent's stream to the editor's
// line: those that two thousand more chunks call at least a thousand times more.
//
//	go test ./internal/test/repo -run Passes -v -measure
func TestPasses(t *testing.T) {
	if !*measured {
		t.Skip("-measure prints the functions that a chunk passes")
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
