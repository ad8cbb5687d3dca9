package config

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the documentation's table of keys")

// TestDocs: docs/configuration.md has a line for each key, with what the template says
// of it.
func TestDocs(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "configuration.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("| key | where | what it is for | example |\n|---|---|---|---|\n")
	for _, k := range keys {
		var where []string
		for place, name := range []string{"top", "agent", "workspace"} {
			if k.In&(1<<place) != 0 {
				where = append(where, name)
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | `%s` |\n", k.Name, strings.Join(where, ", "), k.Help, k.Example)
	}
	before, rest, ok := strings.Cut(string(text), "\n| key |")
	if *update {
		if !ok {
			before, rest, _ = strings.Cut(string(text), "\nKEYS\n")
		}
		_, after, _ := strings.Cut("\n"+rest, "\n## ")
		if err := os.WriteFile(path, []byte(before+"\n"+b.String()+"\n## "+after), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !strings.Contains(string(text), "\n"+b.String()+"\n") {
		t.Errorf("the table of keys is not this (go test ./internal/config -run Docs -update rewrites it):\n%s", b.String())
	}
}
