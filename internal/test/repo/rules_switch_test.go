package repo

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// A rule is one that a line of the code holds.
type rule struct {
	name, file string
	line       int
	off        []byte // the file without it
}

var mark = regexp.MustCompile(`// rule: (\S+)`)

// find finds all rules of the program.
func find(t *testing.T) (all []*rule) {
	for path := range files(t, ".go") {
		if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "internal/test/") || strings.Contains(path, "testdata/") {
			continue
		}
		text := must.Get(os.ReadFile(path))(t)
		for n, line := range strings.Split(string(text), "\n") {
			code, _, _ := strings.Cut(line, "//")
			m := mark.FindStringSubmatch(line)
			if m == nil || strings.TrimSpace(code) == "" {
				continue
			}
			off, err := without(path, text, n+1)
			if err != nil {
				t.Fatalf("%s:%d: rule %s: %v", path, n+1, m[1], err)
			}
			all = append(all, &rule{name: m[1], file: path, line: n + 1, off: off})
		}
	}
	return all
}

// An edit replaces bytes of a file.
type edit struct {
	from, to token.Pos
	by       string
}

// without switches off the rule of a line.
func without(path string, text []byte, line int) ([]byte, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, text, 0)
	if err != nil {
		return nil, err
	}
	var found []edit
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil || found != nil || set.Position(n.Pos()).Line != line {
			return n != nil && found == nil
		}
		found = switchOff(n)
		return found == nil
	})
	if found == nil {
		return nil, fmt.Errorf("nothing on this line can be switched off")
	}
	out := string(text)
	for i := len(found) - 1; i >= 0; i-- { // from the end, so that offsets stay true
		e := found[i]
		out = out[:set.Position(e.from).Offset] + e.by + out[set.Position(e.to).Offset:]
	}
	if _, err := parser.ParseFile(token.NewFileSet(), path, out, 0); err != nil {
		return nil, fmt.Errorf("what is left is no Go: %w", err)
	}
	return []byte(out), nil
}

// switchOff is how to switch off a node, nil if that is not done here.
func switchOff(n ast.Node) []edit {
	never := func(e ast.Expr) []edit { return []edit{{e.Pos(), e.Pos(), "false && ("}, {e.End(), e.End(), ")"}} }
	switch n := n.(type) {
	case *ast.IfStmt:
		return never(n.Cond)
	case *ast.CaseClause:
		var all []edit
		for _, e := range n.List {
			all = append(all, never(e)...)
		}
		return all
	case *ast.FuncDecl:
		if result, ok := nothing(n.Type.Results); ok {
			return []edit{{n.Body.Lbrace + 1, n.Body.Lbrace + 1, " if true { return " + result + " }; "}}
		}
	case *ast.AssignStmt:
		last := n.Rhs[len(n.Rhs)-1]
		if n.Tok == token.DEFINE {
			return never(last)
		}
		if b, ok := last.(*ast.BinaryExpr); ok && (b.Op == token.LAND || b.Op == token.LOR) {
			of := map[token.Token]string{token.LAND: "(true || ", token.LOR: "(false && "}[b.Op]
			return []edit{{b.Y.Pos(), b.Y.Pos(), of}, {b.Y.End(), b.Y.End(), ")"}}
		}
		return gone(n)
	case *ast.ExprStmt, *ast.IncDecStmt:
		return gone(n)
	}
	return nil
}

// gone keeps a statement, so that all that it names is used, and does not run it.
func gone(n ast.Node) []edit {
	return []edit{{n.Pos(), n.Pos(), "if false { "}, {n.End(), n.End(), " }"}}
}

// nothing is what a function returns that does nothing.
func nothing(results *ast.FieldList) (string, bool) {
	if results == nil {
		return "", true
	}
	var all []string
	for _, f := range results.List {
		zero := "nil"
		if id, ok := f.Type.(*ast.Ident); ok {
			zero = map[string]string{"bool": "false", "string": `""`, "int": "0", "error": "nil"}[id.Name]
		}
		if zero == "" {
			return "", false
		}
		for range max(1, len(f.Names)) {
			all = append(all, zero)
		}
	}
	return strings.Join(all, ", "), true
}
