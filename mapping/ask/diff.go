package ask

import (
	"cmp"
	"path"

	"github.com/aymanbagabas/go-udiff"

	"github.com/a2astdio/a2astdio/mapping/calls"
)

// Unified is the change of a file as a diff of its texts. The agent's own diff is shown
// only where it is all that is known: elsewhere the user would approve what it leaves
// out.
func Unified(f *calls.FileDiff) string {
	if f.OldContent == nil && f.NewContent == "" {
		return f.Formatted
	}
	from, old, name := "/dev/null", "", path.Base(cmp.Or(f.FilePath, f.FileName))
	if f.OldContent != nil {
		from, old = "a/"+name, *f.OldContent
	}
	return udiff.Unified(from, "b/"+name, old, f.NewContent)
}
