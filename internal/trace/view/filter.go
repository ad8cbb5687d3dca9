package view

import (
	"path"
	"strings"

	"github.com/a2astdio/a2astdio/internal/trace"
)

// A Filter picks records. An empty member picks all.
type Filter struct {
	// Method is a method, or the kind of an update or event, with * for any text.
	Method string
	// Session is an ID, or its beginning.
	Session string
	// Bad picks errors, cuts and refusals.
	Bad bool
}

// Picks reports whether to show a record.
func (f *Filter) Picks(r *trace.Record, it *Item) bool {
	return (f.Method == "" || matches(f.Method, it.Name) || matches(f.Method, r.Method)) &&
		strings.HasPrefix(it.Session, f.Session) && (it.Bad || !f.Bad)
}

func matches(pattern, name string) bool {
	// path.Match stops * at a slash, which methods have.
	ok, err := path.Match(strings.ReplaceAll(pattern, "/", "\x00"), strings.ReplaceAll(name, "/", "\x00"))
	return err == nil && ok && name != ""
}
