package repo

import (
	"fmt"
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// maxWords bounds the glossary: a maintainer has to learn it.
const maxWords = 25

// TestMap: each file, package and identifier in docs/architecture.md exists, and if a
// row says "name in file", it is in that file. The glossary has at most 25 words.
func TestMap(t *testing.T) {
	raw := must.Get(os.ReadFile("docs/architecture.md"))(t)
	document := string(fence.ReplaceAll(raw, nil))
	modules := must.Get(os.ReadFile("go.mod"))(t)
	declared := declaredNames(t)
	named := 0
	for _, m := range code.FindAllString(document, -1) {
		name := strings.Trim(m, "`")
		if strings.ContainsAny(name, " ") || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "-") {
			continue // a command or an option
		}
		named++
		if _, err := os.Stat(name); err == nil || strings.Contains(string(modules), "/"+name+" ") || strings.Contains(string(modules), name+" ") {
			continue
		}
		if strings.Contains(name, "/") || strings.HasSuffix(name, ".go") {
			t.Errorf("docs/architecture.md names %s, which is not there", name)
		} else if len(declared[name]) == 0 {
			t.Errorf("docs/architecture.md names %s, which nothing declares", name)
		}
	}
	pairs := regexp.MustCompile("`([\\w.]+)`(?: and `([\\w.]+)`)? in `([\\w./]+\\.go)`").FindAllStringSubmatch(document, -1)
	for _, m := range pairs {
		for _, name := range m[1:3] {
			must.True(t, name == "" || declared[name][m[3]], name, "is not in", m[3], "as docs/architecture.md says")
		}
	}
	if named < 100 || len(pairs) < 30 {
		t.Errorf("only %d names and %d places were found: does the test read the document?", named, len(pairs))
	}
	for _, name := range regexp.MustCompile("`([A-Za-z]+\\.[A-Za-z]+)`").FindAllStringSubmatch(read(t, "CONTRIBUTING.md"), -1) {
		if _, err := os.Stat(name[1]); err != nil && len(declared[name[1]]) == 0 && !slices.Contains([]string{".go", ".txt"}, path.Ext(name[1])) {
			t.Errorf("CONTRIBUTING.md names %s, which nothing declares", name[1])
		}
	}
	_, glossary, _ := strings.Cut(document, "## Words")
	glossary, _, _ = strings.Cut(glossary, "\n## ")
	words := strings.Count(glossary, "\n| ") - 1
	must.True(t, words >= 15 && words <= maxWords, "the glossary has", words, "words, and may have", maxWords)
}

// declaredNames are what non-test code declares, with the files: functions, types,
// constants and variables of packages, also with the package before them, and methods
// and fields with their type.
func declaredNames(t *testing.T) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, f := range sources(t) {
		note := func(name string) {
			for _, n := range []string{name, filepath.Base(f.pkg) + "." + name} {
				if all[n] == nil {
					all[n] = map[string]bool{}
				}
				all[n][f.path] = true
			}
		}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				note(f.nameOf(d))
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						note(spec.Name.Name)
						if s, ok := spec.Type.(*ast.StructType); ok {
							for _, field := range fieldNames(s) {
								note(spec.Name.Name + "." + field.Name)
							}
						}
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							note(name.Name)
						}
					}
				}
			}
		}
	}
	return all
}

func fieldNames(s *ast.StructType) (all []*ast.Ident) {
	for _, f := range s.Fields.List {
		all = append(all, f.Names...)
	}
	return all
}

// roomRow is a row of the table of rooms in docs/architecture.md.
var roomRow = regexp.MustCompile("(?m)^\\| `([a-z0-9/]+)` \\| ([0-9,]+) \\| ")

// TestRooms: the table of rooms says how many lines of Go, without tests, each has that is not in
// the room of another row. A room that has grown by more than a tenth wants its row changed, so
// that the growth is seen: -update does it.
func TestRooms(t *testing.T) {
	const document = "docs/architecture.md"
	page := read(t, document)
	lines := map[string]int{}
	for _, m := range roomRow.FindAllStringSubmatch(page, -1) {
		lines[m[1]] = 0
	}
	if len(lines) < 20 {
		t.Fatalf("the table has %d rooms with a size", len(lines))
	}
	for file := range files(t, ".go") {
		if strings.HasSuffix(file, "_test.go") || strings.Contains(file, "testdata/") {
			continue
		}
		room := path.Dir(file)
		for _, ok := lines[room]; !ok && room != "."; _, ok = lines[room] {
			room = path.Dir(room)
		}
		if _, ok := lines[room]; ok {
			lines[room] += strings.Count(read(t, file), "\n")
		} else if path.Dir(file) != "." && !strings.HasPrefix(file, "packaging/") {
			t.Errorf("%s is in no room of the table", file)
		}
	}
	if *update {
		page = roomRow.ReplaceAllStringFunc(page, func(row string) string {
			m := roomRow.FindStringSubmatch(row)
			return fmt.Sprintf("| `%s` | %d | ", m[1], (lines[m[1]]+5)/10*10)
		})
		must.Do(t, os.WriteFile(document, []byte(page), 0o644))
		return
	}
	for _, m := range roomRow.FindAllStringSubmatch(page, -1) {
		said, _ := strconv.Atoi(m[2])
		if now := lines[m[1]]; now > said+said/10 && now > said+20 {
			t.Errorf("%s: %s has %d lines, and its row says %d: go test ./internal/test/repo -run Rooms -update, and the commit says why", document, m[1], now, said)
		}
	}
}
