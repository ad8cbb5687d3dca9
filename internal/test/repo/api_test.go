package repo

import (
	"fmt"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
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

// TestAPI: testdata/api.txt has the promised packages' exported names, a line each, so that reviews
// show changes. -update rewrites it. They name only types of the standard library and ours, so that
// programs that embed us choose their own libraries.
func TestAPI(t *testing.T) {
	got := strings.Join(exported(t), "\n") + "\n"
	path := filepath.Join("testdata", "api.txt")
	if *update {
		must.Do(t, os.WriteFile(path, []byte(got), 0o644))
	}
	was, now := strings.Split(read(t, path), "\n"), strings.Split(got, "\n")
	for _, line := range was {
		must.True(t, slices.Contains(now, line), "no longer exported", line)
	}
	for _, line := range now {
		must.True(t, slices.Contains(was, line), "newly exported", line)
	}
	if t.Failed() {
		t.Log("if that is meant: go test ./internal/test/repo -run API -update, and a line in CHANGELOG.md")
	}
}

// exported are the lines of the promised packages: what they declare, and the exported fields and
// methods of their types.
func exported(t *testing.T) (lines []string) {
	list := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}
	for _, name := range promised {
		list = append(list, "./"+name)
	}
	out := must.Get(exec.Command("go", list...).Output())(t)
	archives := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		archives[path] = file
	}
	load := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(archives[path]) })
	for _, name := range promised {
		pkg := must.Get(load.Import(module + "/" + name))(t)
		of := func(p *types.Package) string {
			if p == pkg {
				return ""
			}
			if first, _, _ := strings.Cut(p.Path(), "/"); strings.Contains(first, ".") && !strings.HasPrefix(p.Path(), module+"/") {
				t.Errorf("%s exports a type of %s", name, p.Path())
			}
			return p.Name()
		}
		add := func(format string, args ...any) { lines = append(lines, name+": "+fmt.Sprintf(format, args...)) }
		for _, member := range pkg.Scope().Names() {
			if o := pkg.Scope().Lookup(member); o.Exported() {
				declared(o, of, add)
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// declared adds the lines of what a package declares.
func declared(o types.Object, of types.Qualifier, add func(format string, args ...any)) {
	word := func(typ types.Type) string { return types.TypeString(withoutNames(typ), of) }
	switch o := o.(type) {
	case *types.Func:
		add("func %s%s", o.Name(), strings.TrimPrefix(word(o.Type()), "func"))
	case *types.Const:
		add("const %s %s", o.Name(), word(o.Type()))
	case *types.Var:
		add("var %s %s", o.Name(), word(o.Type()))
	case *types.TypeName:
		if o.IsAlias() {
			add("type %s = %s", o.Name(), word(types.Unalias(o.Type())))
			return
		}
		switch typ := o.Type().Underlying().(type) {
		case *types.Struct:
			add("type %s struct", o.Name())
			for f := range typ.Fields() {
				if f.Exported() {
					add("type %s, %s %s", o.Name(), f.Name(), word(f.Type()))
				}
			}
		case *types.Interface:
			add("type %s interface", o.Name())
		default:
			add("type %s %s", o.Name(), word(typ))
		}
		receiver := o.Type()
		if !types.IsInterface(receiver) {
			receiver = types.NewPointer(receiver)
		}
		for m := range types.NewMethodSet(receiver).Methods() {
			if f := m.Obj().(*types.Func); f.Exported() {
				add("func (%s) %s%s", types.TypeString(f.Signature().Recv().Type(), of), f.Name(), strings.TrimPrefix(word(f.Type()), "func"))
			}
		}
	}
}

// withoutNames leaves out names of parameters: they are no promise.
func withoutNames(typ types.Type) types.Type {
	sig, ok := typ.(*types.Signature)
	if !ok {
		return typ
	}
	list := func(tuple *types.Tuple) *types.Tuple {
		var vars []*types.Var
		for v := range tuple.Variables() {
			vars = append(vars, types.NewParam(v.Pos(), v.Pkg(), "", withoutNames(v.Type())))
		}
		return types.NewTuple(vars...)
	}
	return types.NewSignatureType(nil, nil, nil, list(sig.Params()), list(sig.Results()), sig.Variadic())
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
		must.True(t, needed[of], path, "imports what only tests need", of)
	}
}
