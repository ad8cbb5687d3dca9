package companion_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing"

	"github.com/a2astdio/a2astdio/bridge/companion"
)

// TestMain gives the tests discovery directories of their own.
func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if os.Getenv("COMPANION_TEST_WORKSPACE") != "" {
		return m.Run() // a process of TestStale has those of its test
	}
	dir, err := os.MkdirTemp("", "companion-")
	if err != nil {
		log.Print(err)
		return 1
	}
	defer os.RemoveAll(dir)
	for _, name := range []string{"TMPDIR", "TMP", "TEMP", "QWEN_HOME"} {
		os.Setenv(name, dir)
	}
	return m.Run()
}

// An editor that shows diffs as lines, and decides nothing.
type textEditor struct{}

func (textEditor) Request(_ context.Context, method string, params, result any) error {
	switch p := params.(type) {
	case companion.OpenDiff:
		fmt.Printf("diff %s of %s\n", p.DiffID, p.FilePath)
	case companion.CloseDiff:
		// What the user has left in the diff, if it is open.
		result.(*companion.CloseDiffResult).Content = nil
	}
	return nil
}

func (textEditor) Notify(_ context.Context, method string, params any) error {
	if started, ok := params.(companion.Started); ok {
		fmt.Println(method, len(started.Workspaces))
	}
	return nil
}

func ExampleStart() {
	dir, err := os.Getwd()
	if err != nil {
		log.Fatal(err)
	}
	server, err := companion.Start(textEditor{}, &companion.Options{DisplayName: "Text Editor", Workspaces: []string{dir}})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()

	// The user opens a file: every CLI hears it.
	timestamp := 1763769600123.0
	params, err := json.Marshal(companion.Context{WorkspaceState: &companion.WorkspaceState{OpenFiles: []companion.File{
		{Path: filepath.Join(dir, "doc.go"), Timestamp: &timestamp, IsActive: true, Cursor: &companion.Position{Line: 1, Character: 1}}}}})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := server.Handle(companion.MethodContextUpdate, params); err != nil {
		log.Fatal(err)
	}
	fmt.Println(filepath.Base(server.Context().WorkspaceState.OpenFiles[0].Path))
	// Output:
	// companion/started 1
	// doc.go
}
