package repo

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var measured = flag.String("measure", "", "the tree that TestMeasure measures, such as a worktree of an older commit: this one if it is ., none if it is empty")

// A room is a package, or several, and what there is in it.
type room struct {
	lines, tests, comments      int // lines
	long, branched              int // functions over 40 lines, and of a complexity over 15
	booleans, channels, atomics int // fields of structs that are bool; makes; uses of sync/atomic's types
	goroutines, mutexes         int
	exported                    int // functions, methods, types
}

// heart is what answers "was this shown already?" and "is the turn over?", in this tree and in the
// one before package shown.
var heart = regexp.MustCompile(`^(mapping/(shown/[a-z_]+|fold[a-z_]*)|bridge/(follow|refresh|subscribed|arrived|over|live|phase|verb|readers|leg_orders|leg_errors|silence|end))\.go$`)

// TestMeasure prints the size of the rooms: go test ./internal/test/repo -run Measure -v -measure .
func TestMeasure(t *testing.T) {
	if *measured == "" {
		t.Skip("-measure DIR prints the size of the rooms")
	}
	root := *measured // the tests of this package run in the tree's root
	rooms := map[string]*room{"heart": {}, "all": {}}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != root):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		parts := strings.Split(name, "/")
		in := "root"
		switch {
		case len(parts) > 2 && parts[0] == "internal":
			in = parts[0] + "/" + parts[1]
		case len(parts) > 1:
			in = parts[0]
		}
		if rooms[in] == nil {
			rooms[in] = &room{}
		}
		of := []*room{rooms[in], rooms["all"]}
		if in == "internal/test" {
			of = of[:1]
		}
		if heart.MatchString(name) {
			of = append(of, rooms["heart"])
		}
		return measure(path, of)
	})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range rooms {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return rooms[b].lines - rooms[a].lines })
	fmt.Printf("%-22s %6s %6s %8s %6s %8s %5s %5s %5s %5s %5s %8s\n", "room", "lines", "tests", "comments", "over40", "branched", "bools", "chans", "go", "locks", "atoms", "exported")
	for _, name := range names {
		r := rooms[name]
		fmt.Printf("%-22s %6d %6d %7d%% %6d %8d %5d %5d %5d %5d %5d %8d\n", name, r.lines, r.tests, 100*r.comments/max(1, r.lines), r.long, r.branched,
			r.booleans, r.channels, r.goroutines, r.mutexes, r.atomics, r.exported)
	}
}

func measure(path string, rooms []*room) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	lines := strings.Count(string(text), "\n")
	if strings.HasSuffix(path, "_test.go") {
		for _, r := range rooms {
			r.tests += lines
		}
		return nil
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, text, parser.ParseComments)
	if err != nil {
		return err
	}
	one := room{lines: lines}
	for _, g := range file.Comments {
		one.comments += fset.Position(g.End()).Line - fset.Position(g.Pos()).Line + 1
	}
	ast.Inspect(file, func(n ast.Node) bool {
		one.count(fset, n)
		return true
	})
	for _, r := range rooms {
		r.add(&one)
	}
	return nil
}

// count counts a node.
func (r *room) count(fset *token.FileSet, n ast.Node) {
	switch n := n.(type) {
	case *ast.FuncDecl:
		if n.Name.IsExported() {
			r.exported++
		}
		if fset.Position(n.End()).Line-fset.Position(n.Pos()).Line >= 40 {
			r.long++
		}
		if n.Body != nil && complexity(n) > 15 {
			r.branched++
		}
	case *ast.TypeSpec:
		if n.Name.IsExported() {
			r.exported++
		}
	case *ast.StructType:
		for _, f := range n.Fields.List {
			if id, ok := f.Type.(*ast.Ident); ok && id.Name == "bool" {
				r.booleans += len(f.Names)
			}
		}
	case *ast.GoStmt:
		r.goroutines++
	case *ast.CallExpr:
		if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "make" {
			if _, ok := n.Args[0].(*ast.ChanType); ok {
				r.channels++
			}
		}
	case *ast.SelectorExpr:
		switch id, ok := n.X.(*ast.Ident); {
		case !ok:
		case id.Name == "sync" && strings.HasSuffix(n.Sel.Name, "Mutex"):
			r.mutexes++
		case id.Name == "atomic":
			r.atomics++
		}
	}
}

func (r *room) add(o *room) {
	for _, p := range [...]struct {
		to *int
		n  int
	}{{&r.lines, o.lines}, {&r.comments, o.comments}, {&r.long, o.long}, {&r.branched, o.branched}, {&r.booleans, o.booleans}, {&r.channels, o.channels},
		{&r.atomics, o.atomics}, {&r.goroutines, o.goroutines}, {&r.mutexes, o.mutexes}, {&r.exported, o.exported}} {
		*p.to += p.n
	}
}
