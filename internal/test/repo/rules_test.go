package repo

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

const module = "github.com/a2astdio/a2astdio"

// mayImport says which packages of ours each package may import, besides those
// below itself, and why no others. internal/* may import any, and is not named
// by the public ones: so no type of theirs can be in an exported signature.
// internal/rawjson is, because it has no types (see TestShape), and internal/fastpath,
// because its types are what other programs are not to name. internal/poison is one that
// only tests give to transport.
var mayImport = map[string]struct {
	packages []string
	reason   string
}{
	"transport/a2a":      {[]string{"internal/fastpath"}, "the protocol's terms are for everybody: they may know no spelling of it"},
	"transport/stdio":    {[]string{"internal/rawjson"}, "the editor's end knows nothing of the agent's"},
	"transport":          {[]string{"transport/a2a", "internal/rawjson", "internal/fastpath", "internal/poison", "internal/safe"}, "how things travel must not depend on what they mean"},
	"mapping/acp":        {nil, "an editor protocol's terms are for everybody"},
	"mapping/ask":        {[]string{"mapping/calls", "mapping/acp", "transport/a2a", "internal/rawjson"}, "a question is asked in any editor protocol, and answered in any dialect"},
	"mapping/calls":      {[]string{"transport/a2a", "internal/rawjson"}, "the life of a call may know neither how agents spell it nor how an editor shows it"},
	"mapping/shown":      {[]string{"transport/a2a", "internal/rawjson"}, "what is new is told from items alone"},
	"mapping/spell":      {[]string{"transport/a2a", "mapping", "mapping/acp", "mapping/mcp", "mapping/calls", "mapping/ask", "internal/rawjson"}, "how steps are spelled may know neither a dialect nor what happens next"},
	"mapping/dialect":    {[]string{"transport/a2a", "mapping/acp", "mapping/calls", "mapping/ask", "internal/rawjson"}, "how agents say it may know neither what was shown nor an editor"},
	"mapping":            {[]string{"transport/a2a", "mapping/acp", "mapping/calls", "mapping/ask", "internal/rawjson", "internal/fastpath"}, "meaning is pure: it neither does I/O nor knows how things travel"},
	"bridge":             {[]string{"transport", "transport/a2a", "transport/stdio", "mapping", "mapping/acp", "mapping/mcp", "mapping/ask", "mapping/shown", "mapping/dialect", "mapping/spell"}, "what happens next is the public face: internal types stay out of it"},
	"bridge/store":       {[]string{"transport/a2a", "internal/safe"}, "what is stored has no edge back into what happens"},
	"mapping/mcp":        {nil, "a protocol's terms are for everybody"},
	"internal/companion": {[]string{"mapping/mcp", "internal/mcphttp", "internal/rawjson", "internal/safe"}, "the companion needs no A2A"},
	"internal/mcphttp":   {[]string{"mapping/mcp", "internal/rawjson"}, "who may come in may not depend on what is served"},
	"internal/fastpath":  {nil, "what an event carries for speed may not know what it says"},
	"internal/poison":    {nil, "a tool of tests may need nothing"},
	"internal/rawjson":   {nil, "looking into text is for everybody: it may not know whose it is"},
	"internal/demo":      {nil, "the embedded agent shares no code with us, so that it cannot agree with our mistakes"},
}

// onlyCLI are packages that nothing but the command line names, or one of them: what is
// heavy is made when a flag or a command asks for it.
var onlyCLI = []string{"internal/companion", "internal/cardsign", "internal/credentials", "internal/webhook"}

// pure packages do no I/O, read no clock and start no goroutine.
var notPure = []string{"os", "net", "net/http", "time", "sync", "io/ioutil", "math/rand", "math/rand/v2", "os/exec"}

// mayUse reports whether a package below internal/cli may import another one there. Commands
// may use what describes a card, and a sign-in.
func mayUse(group, other string) bool {
	floors := []string{"frame", "reach", "talk", "card", "auth"}
	other, isCLI := strings.CutPrefix(other, "internal/cli/")
	at, from := slices.Index(floors, other), slices.Index(floors, group)
	return !isCLI || at >= 0 && (from < 0 || at < from)
}

func TestImports(t *testing.T) {
	for _, f := range sources(t) {
		rule, ok := mayImport[f.pkg]
		for _, spec := range f.ast.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			ours, isOurs := strings.CutPrefix(path, module+"/")
			if ok && isOurs && !slices.Contains(rule.packages, ours) && !strings.HasPrefix(ours, f.pkg+"/") {
				t.Errorf("%s imports %s: %s", f.path, ours, rule.reason)
			}
			if isOurs && slices.Contains(onlyCLI, ours) && !slices.Contains(onlyCLI, f.pkg) && !strings.HasPrefix(f.pkg+"/", "internal/cli/") {
				t.Errorf("%s imports %s: only internal/cli does, when it is asked for", f.path, ours)
			}
			if below, group := strings.CutPrefix(f.pkg, "internal/cli/"); isOurs && group && !mayUse(below, ours) {
				t.Errorf("%s imports %s: commands are built on talk, that on reach, that on frame, and none imports what is above it", f.path, ours)
			}
			if (f.pkg == "mapping" || strings.HasPrefix(f.pkg, "mapping/") || f.pkg == "transport/a2a" || f.pkg == "internal/rawjson") && slices.Contains(notPure, path) {
				t.Errorf("%s imports %s: package %s does no I/O, reads no clock and starts no goroutine", f.path, path, f.pkg)
			}
		}
	}
}

// maxFileLines holds for each Go file, also for tests; split longer ones.
const maxFileLines = 400

// TestFileLength: no Go file is over 400 lines, also in nested modules.
func TestFileLength(t *testing.T) {
	for path := range files(t, ".go") {
		lines := strings.Count(read(t, path), "\n")
		must.True(t, lines <= maxFileLines, path, "has", lines, "lines: it wants a split over", maxFileLines)
	}
}

// TestShape keeps what every file of the project promises.
func TestShape(t *testing.T) {
	documented := map[string]string{}
	starts := map[string]string{} // where a package starts a goroutine
	for _, f := range sources(t) {
		documented[f.pkg] += f.ast.Doc.Text()
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Name.Name == "init" && n.Recv == nil {
					t.Errorf("%s: there is no init in this project: what happens is called", f.at(n))
				}
			case *ast.TypeSpec:
				if f.pkg == "internal/rawjson" && n.Name.IsExported() {
					t.Errorf("%s: a type of an internal package, in one that transport and mapping use, would get into their exported signatures", f.at(n))
				}
			case *ast.GoStmt:
				starts[f.pkg] = f.at(n)
			case *ast.SelectorExpr:
				if n.Sel.Name == "Go" {
					starts[f.pkg] = f.at(n)
				}
				pkg, ok := n.X.(*ast.Ident)
				if !ok {
					break
				}
				switch name := pkg.Name + "." + n.Sel.Name; {
				case name == "time.Sleep":
					t.Errorf("%s: time.Sleep gives no order and ends with nothing: wait on a timer and a context", f.at(n))
				case strings.HasPrefix(name, "fmt.Print") || name == "os.Stdout":
					must.True(t, f.path == "main.go", f.at(n), name, "stdout is the editor's, and only main knows it")
				}
			}
			return true
		})
	}
	for pkg, comment := range documented {
		must.True(t, comment != "", pkg, "has no package comment")
		must.True(t, starts[pkg] == "" || strings.Contains(strings.ToLower(comment), "goroutine"),
			starts[pkg], "starts a goroutine, and the package comment does not say what ends it")
	}
}

// wireWords are what A2A's bindings write: methods of JSON-RPC in both versions, and
// the paths of HTTP+JSON. Those that end in * are beginnings.
var wireWords = []string{
	"message/send", "message/stream", "tasks/*", "agent/getAuthenticatedExtendedCard",
	"SendMessage", "SendStreamingMessage", "GetTask", "ListTasks", "CancelTask", "SubscribeToTask", "GetExtendedAgentCard",
	"CreateTaskPushNotificationConfig", "GetTaskPushNotificationConfig", "ListTaskPushNotificationConfigs", "DeleteTaskPushNotificationConfig",
	"/message:*", "/v1/message:*", "/tasks*", "/v1/tasks*", ":cancel*", ":subscribe*", "/pushNotificationConfigs*", "/extendedAgentCard", "jsonrpc",
}

// TestBindingWords: how operations are spelled on the wire is the bindings' alone, so
// that another one is one file. The methods of A2A lines, which editors write, are
// bridge's lines*.go.
func TestBindingWords(t *testing.T) {
	found := 0
	for _, f := range sources(t) {
		name := filepath.Base(f.path)
		if f.pkg != "transport" && f.pkg != "bridge" && f.pkg != "mapping" && !strings.HasPrefix(f.pkg, "mapping/") || f.pkg == "bridge" && strings.HasPrefix(name, "lines") {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, _ := strconv.Unquote(lit.Value)
			for _, word := range wireWords {
				begin, isBegin := strings.CutSuffix(word, "*")
				switch {
				case text != word && !(isBegin && strings.HasPrefix(text, begin)):
				case f.path == "mapping/dialect/gemini_mcp.go" && word == "/tasks*": // an endpoint of that server's own
				case f.pkg == "transport" && (strings.HasPrefix(name, "binding_") || name == "binding.go"): // it has the table
					found++
				default:
					t.Errorf("%s: %q is a binding's word: only transport/binding_* has them", f.at(n), text)
				}
			}
			return true
		})
	}
	must.True(t, found >= len(wireWords), found, "of these words are in the bindings: is the rule up to date?")
}

// editorsEnd are the files of package bridge that speak with an editor; the others are about a
// session, its turns and their legs.
var editorsEnd = regexp.MustCompile(`^bridge/(acp|lines|mcp|editor|elicit|ide|serve|setup|session_close)`)

// TestEditorsEnd: in package bridge what speaks with an editor is above what happens next, which
// names nothing of it. (A package of its own would need 60 names of the other's exported.)
func TestEditorsEnd(t *testing.T) {
	declared := map[string]string{}
	for name, files := range declaredNames(t) {
		for path := range files {
			if editorsEnd.MatchString(path) && !strings.Contains(name, ".") && !ast.IsExported(name) {
				declared[name] = path
			}
		}
	}
	if len(declared) < 40 {
		t.Fatalf("only %d names are those of the editor's end: is the rule up to date?", len(declared))
	}
	for _, f := range sources(t) {
		if f.pkg != "bridge" || editorsEnd.MatchString(f.path) {
			continue
		}
		for _, id := range f.ast.Unresolved { // by this file
			if path := declared[id.Name]; path != "" {
				t.Errorf("%s: %s is of %s, which is above; if this file speaks with an editor, too, editorsEnd has to have its name", f.at(id), id.Name, path)
			}
		}
	}
}

var machinePath = regexp.MustCompile(`/(?:root|work)/[a-z.]`)

// TestNoMachine: no file names a path of the machine on which it was written.
func TestNoMachine(t *testing.T) {
	for path := range files(t, "") {
		if path == "internal/test/repo/rules_test.go" || filepath.Ext(path) == ".sum" {
			continue
		}
		m := machinePath.FindString(read(t, path))
		must.True(t, m == "", path, "names a path of a machine", m)
	}
}

type source struct {
	path, pkg string
	fset      *token.FileSet
	ast       *ast.File
}

func (s source) at(n ast.Node) string { return s.fset.Position(n.Pos()).String() }

// nameOf is a function's name, that of a method with its type.
func (s source) nameOf(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	return strings.TrimLeft(types.ExprString(d.Recv.List[0].Type), "*") + "." + d.Name.Name
}

// sources are the module's own files, without tests and nested modules.
func sources(t *testing.T) []source {
	all, err := parsed()
	if err != nil || len(all) == 0 {
		t.Fatalf("no sources: %v", err)
	}
	return all
}

var parsed = sync.OnceValues(func() (all []source, err error) {
	paths, err := list()
	for _, path := range paths {
		if err != nil || !ours(path) || strings.HasSuffix(path, "_test.go") {
			continue
		}
		s := source{path: path, pkg: filepath.ToSlash(filepath.Dir(path)), fset: token.NewFileSet()}
		s.ast, err = parser.ParseFile(s.fset, path, nil, parser.ParseComments)
		all = append(all, s)
	}
	return all, err
})

// ours reports whether a file is Go of this module.
func ours(path string) bool {
	return strings.HasSuffix(path, ".go") && !strings.HasPrefix(path, "testdata/")
}

// realSleeps may wait in real time: no event tells when to go on.
var realSleeps = map[string]string{
	"internal/agentproc/helper_test.go":  "processes that stay until they are killed, others that are looked for in /proc, and goroutines that are about to end",
	"internal/credentials/world_test.go": "a process that hangs until it is killed",
}

// TestSleeps: tests sleep in virtual time, where it costs nothing and nothing else can
// be late.
func TestSleeps(t *testing.T) {
	needed := map[string]bool{}
	for path := range files(t, "_test.go") {
		text := read(t, path)
		if !ours(path) || path == "internal/test/repo/rules_test.go" || !strings.Contains(text, "time.Sleep(") || strings.Contains(text, `"testing/synctest"`) {
			continue
		}
		needed[path] = true
		must.True(t, realSleeps[path] != "", path, "a sleep in real time: use testing/synctest, or wait for what it is about")
	}
	for path := range realSleeps {
		must.True(t, needed[path], path, "sleeps no more, and needs no exception")
	}
}

// topLevel is all that the repository shows first: the program, its three packages, its
// documents, and an open project's usual files. Notes of work in progress do not belong here.
var topLevel = []string{
	".ci", ".git", ".github", ".gitignore", ".goreleaser.yaml", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md",
	"bridge", "docs", "go.mod", "go.sum", "internal", "main.go", "mapping", "packaging", "testdata", "transport",
}

func TestTopLevel(t *testing.T) {
	out, err := exec.Command("git", "-C", ".", "ls-files", "--full-name", ":/").Output()
	if err != nil {
		t.Skip("git does not list the files:", err)
	}
	for path := range strings.Lines(string(out)) {
		first, _, _ := strings.Cut(strings.TrimSpace(path), "/")
		must.True(t, slices.Contains(topLevel, first), first, "not of the top level")
	}
}
