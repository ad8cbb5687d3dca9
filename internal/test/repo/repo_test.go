package repo

import (
	"flag"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

var update = flag.Bool("update", false, "write testdata/api.txt anew")

// TestMain goes to the root of the repository, from which all paths here are.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := os.Chdir("../../.."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// list are the repository's files: without what is built or installed.
var list = sync.OnceValues(func() (all []string, err error) {
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." && path != ".ci" && path != ".github" || d.Name() == "node_modules" || path == "dist"):
			return filepath.SkipDir
		case d.Type().IsRegular() && path != ".git": // of a worktree, a file
			all = append(all, filepath.ToSlash(path))
		}
		return nil
	})
	return all, err
})

// files are those whose names end so.
func files(t *testing.T, end string) iter.Seq[string] {
	t.Helper()
	all, err := list()
	if err != nil || len(all) < 500 {
		t.Fatalf("%d files: %v", len(all), err)
	}
	return func(yield func(string) bool) {
		for _, path := range all {
			if strings.HasSuffix(path, end) && !yield(path) {
				return
			}
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(path))(t))
}
