package repo

import (
	"go/ast"
	"go/token"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

const (
	maxFunctionLines = 70
	maxComplexity    = 20
)

// longFunctions may be over a limit, each for a reason.
var longFunctions = map[string]string{
	"mapping.Fold.noteFast":  "one condition for each thing that may differ between events of a shape",
	"mapping/ask.readWords":  "one case a phrase of an option's label; their order decides, and is read best in one piece",
	"transport.payload.read": "one case a member of an event",
}

// TestFunctions: no function is longer than a screen or branches more often than a
// reader can follow.
func TestFunctions(t *testing.T) {
	excused := map[string]bool{}
	for _, f := range sources(t) {
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			name := f.pkg + "." + f.nameOf(fn)
			lines := f.fset.Position(fn.End()).Line - f.fset.Position(fn.Pos()).Line + 1
			branches := complexity(fn)
			if lines > maxFunctionLines || branches > maxComplexity {
				if longFunctions[name] == "" {
					t.Errorf("%s: %s has %d lines and a cyclomatic complexity of %d: %d and %d are the limits", f.at(fn), name, lines, branches, maxFunctionLines, maxComplexity)
				}
				excused[name] = true
			}
		}
	}
	for name := range longFunctions {
		must.True(t, excused[name], name, "is within the limits, and needs no exception")
	}
}

// complexity is McCabe's, as gocyclo counts it: one, and one for each branch. Inner
// functions count, too.
func complexity(fn *ast.FuncDecl) int {
	n := 1
	ast.Inspect(fn, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if node.List != nil {
				n++
			}
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}
