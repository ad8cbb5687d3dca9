package companion

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// contextInterval is the least time between two contexts for a CLI: the 50 ms
	// that the contract recommends, and so much more that no second sees 21.
	contextInterval = 52 * time.Millisecond
	// maxOpenFiles and maxSelectedText are what the CLIs cut a context to.
	maxOpenFiles    = 10
	maxSelectedText = 16 << 10
	// maxListedFiles is how many of the editor's files are looked at: far more
	// than are shown, and few enough to be asked of a slow disk.
	maxListedFiles = 1000

	truncated = "... [TRUNCATED]" // as the CLIs mark it
)

// A Context is what the user has open in the editor: the contract's IdeContext.
type Context struct {
	WorkspaceState *WorkspaceState `json:"workspaceState,omitempty"`
}

// WorkspaceState is the state of the editor's workspace.
type WorkspaceState struct {
	// OpenFiles are the files that are open. Those that are not on the disk are
	// left out of what the CLIs get, and so are all but ten.
	OpenFiles []File `json:"openFiles,omitzero"`
	// IsTrusted wins over the CLI's own list of trusted folders, and a change of
	// it makes the CLI ask for a restart: nil unless the editor knows such a thing.
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

// update takes the context that the editor says is the user's. One that is wrong
// changes nothing: a CLI disconnects for good from a companion that sends it one.
func (h *hub) update(c Context) error {
	if err := c.check(); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.said = &c
	h.poke()
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

// publish shows the newest context to every client that has not seen it, one in
// contextInterval at most, until the hub is closed. The files are looked for here,
// so that a disk that hangs keeps nothing else from the CLIs.
func (h *hub) publish() {
	for {
		select {
		case <-h.wake:
		case <-h.ctx.Done():
			return
		}
		timer := time.NewTimer(contextInterval)
		select {
		case <-timer.C:
		case <-h.ctx.Done():
			timer.Stop()
			return
		}
		h.mu.Lock()
		said := h.said
		h.mu.Unlock()
		if said == nil {
			continue
		}
		params, err := encode(said.shown())
		if err != nil { // cannot be: the numbers have been checked
			h.log.Error("the context cannot be encoded", "err", err)
			continue
		}
		h.mu.Lock()
		for c, shown := range h.clients {
			if !bytes.Equal(shown, params) {
				h.clients[c] = params
				c.show(params)
			}
		}
		h.mu.Unlock()
	}
}

func (h *hub) current() Context {
	h.mu.Lock()
	said := h.said
	h.mu.Unlock()
	if said == nil {
		return Context{}
	}
	return said.shown()
}

// shown is what a CLI is shown of c: files that exist, the active one first and
// with the highest timestamp, because that is the one that the CLIs take for
// active; then the others, the last focused first.
func (c *Context) shown() Context {
	if c.WorkspaceState == nil {
		return Context{}
	}
	state := WorkspaceState{IsTrusted: c.WorkspaceState.IsTrusted}
	if c.WorkspaceState.OpenFiles == nil {
		return Context{&state}
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
	return Context{&state}
}

// exists reports whether path is a file on the disk. A buffer without a file, the
// editor's settings and a terminal are none.
func exists(path string) bool {
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// truncate cuts text to maxSelectedText bytes, between two characters. The CLIs
// count UTF-16 units, of which there are never more than bytes: they do not cut it
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
