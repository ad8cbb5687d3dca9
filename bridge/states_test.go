package bridge_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// statePlaces maps each state of the table to the functions in which a turn has it; "any"
// has none.
var statePlaces = map[string]string{"start": "turn.ready", "streaming": "turn.stream", "asking": "turn.ask", "any": ""}

// TestStatesHaveTranscripts: each row of the table of a turn's states in the
// package comment names the transcripts that show it, and they are there.
func TestStatesHaveTranscripts(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(doc), "# States of a turn")
	table, _, _ = strings.Cut(table, "# Goroutines")
	columns := regexp.MustCompile(`  +`)
	names := sourceNames(t)
	rows := 0
	for line := range strings.Lines(table) {
		row, ok := strings.CutPrefix(strings.TrimSpace(line), "//\t")
		if !ok || strings.HasPrefix(row, "in ") {
			continue
		}
		rows++
		cells := columns.Split(row, -1)
		if place, ok := statePlaces[cells[0]]; !ok || place != "" && !names[place] {
			t.Errorf("no place in the code is the state %q: %q", cells[0], place)
		}
		for name := range strings.SplitSeq(cells[len(cells)-1], ", ") {
			files, err := filepath.Glob("../testdata/transcript/" + name + ".txt")
			if err != nil || len(files) == 0 {
				t.Errorf("no transcript %q shows the row %q", name, row)
			}
		}
	}
	if rows < 15 {
		t.Errorf("the table has only %d rows", rows)
	}
}

// TestDocNames: the files, functions and limits that the package comment names are
// there, and its times are the constants'.
func TestDocNames(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	names := sourceNames(t)
	for _, file := range regexp.MustCompile(`\w+\.go\b`).FindAllString(string(doc), -1) {
		if _, err := os.Stat(file); err != nil {
			t.Errorf("doc.go names %s, which is not there", file)
		}
	}
	checked := 0
	for _, name := range regexp.MustCompile(`\b(?:server|[Tt]urn|Session|Agent|Editor|leg)\.\w+\b|\b\w+(?:Wait|Grace)\b`).FindAllString(string(doc), -1) {
		checked++
		if !names[name] && !names[strings.ToLower(name[:1])+name[1:]] && !strings.HasSuffix(name, ".go") {
			t.Errorf("doc.go names %s, which nothing declares", name)
		}
	}
	if checked < 10 {
		t.Errorf("only %d names were found", checked)
	}
	turn, err := os.ReadFile("turn.go")
	if err != nil {
		t.Fatal(err)
	}
	for said, code := range map[string]string{"for 250 ms,": "approvalSettle = 250 * time.Millisecond", "2 s after a cancel": "cancelGrace = 2 * time.Second"} {
		if !strings.Contains(string(doc), said) || !strings.Contains(string(turn), code) {
			t.Errorf("the table says %q, and the code is not %q", said, code)
		}
	}
}

// sourceNames are what the package declares: names of its scope, and methods with
// their type.
func sourceNames(t *testing.T) map[string]bool {
	all := map[string]bool{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for name := range f.Scope.Objects {
			all[name] = true
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil {
					of := n.Recv.List[0].Type
					if star, ok := of.(*ast.StarExpr); ok {
						of = star.X
					}
					all[of.(*ast.Ident).Name+"."+n.Name.Name] = true
				}
			case *ast.TypeSpec:
				if i, ok := n.Type.(*ast.InterfaceType); ok {
					for _, m := range i.Methods.List {
						for _, name := range m.Names {
							all[n.Name.Name+"."+name.Name] = true
						}
					}
				}
			}
			return true
		})
	}
	return all
}
