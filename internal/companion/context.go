package companion

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"time"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/rawjson"
)

const (
	// contextInterval is the least time between two contexts for a CLI: a little more than
	// the 50 ms that the contract recommends, so that no second has 21.
	contextInterval = 52 * time.Millisecond
	// maxOpenFiles and maxSelectedText are what the CLIs cut a context to.
	maxOpenFiles    = 10
	maxSelectedText = 16 << 10
	// maxListedFiles is how many of the editor's files are checked on the disk: far more
	// than are shown, but not too many for a slow disk.
	maxListedFiles = 1000

	truncated = "... [TRUNCATED]" // as the CLIs mark it
)

// A Context is what the user has open in the editor: the contract's IdeContext.
type Context struct {
	WorkspaceState *WorkspaceState `json:"workspaceState,omitempty"`
}

// WorkspaceState is the state of the editor's workspace.
type WorkspaceState struct {
	// OpenFiles are the files that are open. The CLIs get at most ten of those that are
	// on the disk.
	OpenFiles []File `json:"openFiles,omitzero"`
	// IsTrusted overrides the CLI's own list of trusted folders; when it changes, the CLI
	// asks for a restart. Nil if the editor has no such setting.
	IsTrusted *bool `json:"isTrusted,omitempty"`
}

// A File is a file that is open in the editor.
type File struct {
	// Path is absolute.
	Path string `json:"path"`
	// Timestamp is when it was last focused, in any unit since 1970 that all
	// files share. It is required.
	Timestamp *float64 `json:"timestamp"`
	// IsActive is set in the file that has the focus.
	IsActive bool `json:"isActive,omitempty"`
	// Cursor and SelectedText are of the active file.
	Cursor       *Position `json:"cursor,omitempty"`
	SelectedText string    `json:"selectedText,omitempty"`
}

// A Position is a place in a file. Both begin with 1.
type Position struct {
	Line      float64 `json:"line"`
	Character float64 `json:"character"`
}

// update sets the context that the editor sent. It refuses a wrong one, because a CLI
// that gets one disconnects for good.
func (h *hub) update(c Context) error {
	if err := c.check(); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.latest = &c
	h.wakePublisher()
	return nil
}

func (c *Context) check() error {
	if c.WorkspaceState == nil {
		return nil
	}
	for i, f := range c.WorkspaceState.OpenFiles {
		switch p := f.Cursor; {
		case f.Timestamp == nil:
			return paramsError("openFiles[%d] (%s) needs a timestamp, a number: when it was last focused", i, f.Path)
		case p != nil && !(isCount(p.Line) && isCount(p.Character)):
			return paramsError("openFiles[%d] (%s) has the cursor at line %v, character %v: both are whole numbers and begin with 1",
				i, f.Path, p.Line, p.Character)
		}
	}
	return nil
}

func isCount(n float64) bool { return n >= 1 && n == math.Trunc(n) && !math.IsInf(n, 0) }

// publish sends the newest context to every session that does not have it, at most one in
// contextInterval, until the hub is closed. Files are checked in this goroutine, so that
// a disk that hangs stops nothing else.
func (h *hub) publish() {
	for {
		select {
		case <-h.wake:
		case <-h.ctx.Done():
			return
		}
		select {
		case <-time.After(contextInterval):
		case <-h.ctx.Done():
			return
		}
		current := h.current()
		if current == nil {
			continue
		}
		params, _ := rawjson.Marshal(current) // texts, and numbers that came as JSON, always encode
		h.mu.Lock()
		for s, shown := range h.sessions {
			if !bytes.Equal(shown, params) {
				h.sessions[s] = params
				s.sendContext(params)
			}
		}
		h.mu.Unlock()
	}
}

// current returns what the CLIs get of the editor's last context; nil: it has sent none.
func (h *hub) current() *Context {
	h.mu.Lock()
	latest := h.latest
	h.mu.Unlock()
	return latest.shown()
}

// shown is what a CLI gets of c: files that exist, the active one first and with the
// highest timestamp, because the CLIs take that one for active; then the others, the
// last focused first. nil stays nil.
func (c *Context) shown() *Context {
	if c == nil || c.WorkspaceState == nil {
		return c
	}
	state := WorkspaceState{IsTrusted: c.WorkspaceState.IsTrusted}
	if c.WorkspaceState.OpenFiles == nil {
		return &Context{&state}
	}
	files := slices.Clone(c.WorkspaceState.OpenFiles)
	sort.SliceStable(files, func(i, j int) bool { return *files[i].Timestamp > *files[j].Timestamp })
	files = files[:min(len(files), maxListedFiles)]
	state.OpenFiles = []File{}
	active := slices.IndexFunc(files, func(f File) bool { return f.IsActive && exists(f.Path) })
	if active >= 0 {
		f := files[active]
		if newest := *files[0].Timestamp; active > 0 || len(files) > 1 && *files[1].Timestamp == newest {
			newest++
			f.Timestamp = &newest
		}
		f.SelectedText = truncate(f.SelectedText)
		state.OpenFiles = append(state.OpenFiles, f)
	}
	for i, f := range files {
		if len(state.OpenFiles) == maxOpenFiles {
			break
		}
		if i != active && exists(f.Path) {
			state.OpenFiles = append(state.OpenFiles, File{Path: f.Path, Timestamp: f.Timestamp})
		}
	}
	return &Context{&state}
}

// exists reports whether path is a file on the disk, and not a terminal or an unsaved
// buffer.
func exists(path string) bool {
	info, err := os.Stat(path)
	return err == nil && filepath.IsAbs(path) && info.Mode().IsRegular()
}

// truncate shortens text to maxSelectedText bytes, between two characters. The CLIs
// count UTF-16 units, which are never more than the bytes, so they do not shorten it
// again.
func truncate(text string) string {
	if len(text) <= maxSelectedText {
		return text
	}
	end := maxSelectedText - len(truncated)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + truncated
}
