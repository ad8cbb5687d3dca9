package repo

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// promised are the importable packages: their exported names change only on purpose.
var promised = []string{
	"bridge", "bridge/store", "mapping", "mapping/acp", "mapping/mcp", "mapping/ask", "mapping/calls", "mapping/dialect", "mapping/spell", "transport", "transport/a2a", "transport/stdio",
}

// TestAPI: testdata/api.txt has the promised packages' exported names, a line each, so
// that reviews show changes. -update rewrites it.
func TestAPI(t *testing.T) {
	lines := map[string]bool{}
	for _, f := range sources(t) {
		if slices.Contains(promised, f.pkg) {
			for _, d := range f.ast.Decls {
				for _, line := range exported(f, d) {
					lines[f.pkg+": "+line] = true // once, if it is there for several systems
				}
			}
		}
	}
	got := strings.Join(slices.Sorted(maps.Keys(lines)), "\n") + "\n"
	path := filepath.Join("testdata", "api.txt")
	if *update {
		must.Do(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want := must.Get(os.ReadFile(path))(t)
	was := strings.Split(strings.TrimSpace(string(want)), "\n")
	for _, line := range was {
		if !lines[line] {
			t.Errorf("no longer exported: %s", line)
		}
		delete(lines, line)
	}
	for line := range lines {
		t.Errorf("newly exported: %s", line)
	}
	if t.Failed() {
		t.Log("if that is meant: go test ./internal/test/repo -run API -update, and a line in CHANGELOG.md")
	}
}

// TestAPITypes: signatures of the promised packages name only types of the standard
// library and ours, so that programs that embed us choose their own libraries.
func TestAPITypes(t *testing.T) {
	for _, f := range sources(t) {
		if !slices.Contains(promised, f.pkg) {
			continue
		}
		foreign := map[string]string{}
		for _, spec := range f.ast.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") && !strings.HasPrefix(path, module+"/") {
				name := filepath.Base(path)
				if spec.Name != nil {
					name = spec.Name.Name
				}
				foreign[name] = path
			}
		}
		for _, d := range f.ast.Decls {
			for _, line := range exported(f, d) {
				for name, path := range foreign {
					if strings.Contains(line, name+".") {
						t.Errorf("%s: %s: that is a type of %s", f.path, line, path)
					}
				}
			}
		}
	}
}

// exported returns a declaration's lines in a package's API: itself, and the exported
// fields and methods of its type.
func exported(f source, d ast.Decl) (lines []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		receiver := ""
		if d.Recv != nil {
			of := text(f, d.Recv.List[0].Type)
			if !ast.IsExported(strings.TrimLeft(of, "*")) {
				return nil
			}
			receiver = "(" + of + ") "
		}
		if d.Name.IsExported() {
			lines = append(lines, "func "+receiver+d.Name.Name+signature(f, d.Type))
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Name.IsExported() {
					lines = append(lines, typeLines(f, spec)...)
				}
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					if name.IsExported() {
						lines = append(lines, strings.TrimSpace(d.Tok.String()+" "+name.Name+" "+text(f, spec.Type)))
					}
				}
			}
		}
	}
	return lines
}

func typeLines(f source, spec *ast.TypeSpec) []string {
	begin := "type " + spec.Name.Name
	var fields *ast.FieldList
	kind := ""
	switch typ := spec.Type.(type) {
	case *ast.StructType:
		fields, kind = typ.Fields, " struct"
	case *ast.InterfaceType:
		fields, kind = typ.Methods, " interface"
	default:
		if spec.Assign.IsValid() {
			begin += " ="
		}
		return []string{begin + " " + text(f, spec.Type)}
	}
	lines := []string{begin + kind}
	for _, field := range fields.List {
		of := " " + text(f, field.Type)
		if method, ok := field.Type.(*ast.FuncType); ok && kind == " interface" {
			of = signature(f, method)
		}
		if len(field.Names) == 0 && ast.IsExported(strings.TrimLeft(of[strings.LastIndex(of, ".")+1:], " *")) {
			lines = append(lines, begin+","+of)
		}
		for _, name := range field.Names {
			if name.IsExported() {
				lines = append(lines, begin+", "+name.Name+of)
			}
		}
	}
	return lines
}

// signature leaves out names of parameters: they are no promise.
func signature(f source, typ *ast.FuncType) string {
	list := func(fields *ast.FieldList) (types []string) {
		if fields != nil {
			for _, field := range fields.List {
				types = append(types, slices.Repeat([]string{text(f, field.Type)}, max(1, len(field.Names)))...)
			}
		}
		return types
	}
	line := "(" + strings.Join(list(typ.Params), ", ") + ")"
	switch results := list(typ.Results); len(results) {
	case 0:
	case 1:
		line += " " + results[0]
	default:
		line += " (" + strings.Join(results, ", ") + ")"
	}
	return line
}

// text is an expression in gofmt's form, on one line.
func text(f source, n ast.Expr) string {
	if n == nil {
		return ""
	}
	if fn, ok := n.(*ast.FuncType); ok {
		return "func" + signature(f, fn)
	}
	var b bytes.Buffer
	if err := printer.Fprint(&b, f.fset, n); err != nil {
		panic(err) // a node that was parsed
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// TestTestModules: tests of the promised packages import no module that their code does
// not need, because "go mod tidy" fetches it for every program that embeds us. A test
// that needs more belongs to internal/test/repo, or to an internal one.
func TestTestModules(t *testing.T) {
	needed, wanted := map[string]bool{}, map[string]string{}
	for _, pkg := range promised {
		files, err := filepath.Glob(filepath.FromSlash(pkg) + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pkg, len(files), err)
		}
		for _, path := range files {
			f := must.Get(parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly))(t)
			for _, spec := range f.Imports {
				of, _ := strconv.Unquote(spec.Path.Value)
				if first, _, _ := strings.Cut(of, "/"); !strings.Contains(first, ".") || strings.HasPrefix(of, module) {
					continue
				} else if strings.HasSuffix(path, "_test.go") {
					wanted[of] = path
				} else {
					needed[of] = true
				}
			}
		}
	}
	for of, path := range wanted {
		if !needed[of] {
			t.Errorf("%s imports %s, which only tests need", path, of)
		}
	}
}
