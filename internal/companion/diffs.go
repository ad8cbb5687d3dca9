package companion

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/sourcegraph/jsonrpc2"
)

const (
	// editorWait is how long the editor may take to show a diff, or to close one. A CLI
	// itself waits ten minutes, and asks in the terminal meanwhile.
	editorWait = 10 * time.Second
	// maxDiffs is how many diffs one CLI may have open: the real ones open one
	// after the other.
	maxDiffs = 64
)

// A diff is one that the editor shows, or is about to.
type diff struct {
	id      string
	path    string // as the CLI wrote it: it compares the text
	session *session
	empty   bool // the proposed content is empty
	// closing: the editor has been asked to close it. final is the content with which the user has
	// accepted it meanwhile, which counts.
	closing bool
	final   *string
}

// openDiff asks the editor to show a diff. It returns an error for the CLI only if no
// editor could show it.
//
// That this editor cannot show it is no error, unlike in the contract: the CLI also asks
// in the terminal, and an error would make it give up the edit.
func (h *hub) openDiff(ctx context.Context, s *session, path, content string) error {
	d := &diff{path: path, session: s, empty: content == ""}
	if err := h.add(d); err != nil {
		return err
	}
	if h.noDiffs.Load() {
		h.forget(d)
		return nil
	}
	call, cancel := context.WithTimeout(ctx, editorWait)
	defer cancel()
	var shown any // any answer but an error
	err := h.editor.Request(call, MethodOpenDiff, OpenDiff{DiffID: d.id, FilePath: path, NewContent: content}, &shown)
	if err == nil {
		return nil
	}
	h.log.Info("the editor does not show a diff: the CLI asks in the terminal", "file", path, "err", err)
	if unknown, ok := errors.AsType[*jsonrpc2.Error](err); ok && unknown.Code == jsonrpc2.CodeMethodNotFound {
		h.noDiffs.Store(true)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.diffs[d.id] == nil || d.closing: // decided or closed already
	case call.Err() != nil:
		h.dismiss(d) // the editor may still show it
	default:
		delete(h.diffs, d.id)
	}
	return nil
}

func (h *hub) forget(d *diff) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.diffs, d.id)
}

// add registers a diff, and gives it its ID. A CLI waits for one decision about a file, so an older
// diff of the same file is closed.
func (h *hub) add(d *diff) error {
	if !filepath.IsAbs(d.path) {
		return errors.New("filePath must be an absolute path")
	}
	if strings.ContainsFunc(d.path, unicode.IsControl) { // an editor might show another path than it writes to
		return errors.New("filePath has control characters")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.sessions[d.session]; !ok {
		return errors.New("the session has ended")
	}
	open := 0
	for _, old := range h.diffs {
		switch {
		case old.session != d.session || old.closing:
		case old.path == d.path:
			h.dismiss(old)
		default:
			open++
		}
	}
	if open >= maxDiffs {
		return errors.New("too many diffs are open: close some")
	}
	h.number++
	d.id = strconv.FormatUint(h.number, 10)
	h.diffs[d.id] = d
	return nil
}

// closeDiff asks the editor to close a diff, and returns its content with the user's
// changes; nil if there is no such diff.
func (h *hub) closeDiff(s *session, path string) (*string, error) {
	h.mu.Lock()
	var d *diff
	for _, open := range h.diffs {
		if open.session == s && open.path == path && !open.closing {
			d = open
			d.closing = true
		}
	}
	h.mu.Unlock()
	if d == nil {
		return nil, nil
	}
	// Not with the request's context: the diff must be closed even if the CLI is gone.
	var result CloseDiffResult
	err := h.requestClose(d, &result)
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.diffs, d.id)
	if d.final != nil {
		return d.final, nil
	}
	return result.Content, err
}

// dismiss has the editor asked to close a diff that no CLI waits for. The caller holds mu.
func (h *hub) dismiss(d *diff) {
	d.closing = true
	if h.closed {
		return
	}
	h.work.Go(func() { // ends with the editor's answer, editorWait, or close
		if err := h.requestClose(d, &CloseDiffResult{}); err != nil {
			h.log.Info("the editor has not closed a diff", "file", d.path, "err", err)
		}
		h.forget(d)
	})
}

func (h *hub) requestClose(d *diff, result *CloseDiffResult) error {
	ctx, cancel := context.WithTimeout(h.ctx, editorWait)
	defer cancel()
	return h.editor.Request(ctx, MethodCloseDiff, CloseDiff{DiffID: d.id, FilePath: d.path}, result)
}

// decide tells the CLI that opened a diff what the user decided. If the diff is not
// registered, its CLI has closed it or is gone, and nobody waits.
func (h *hub) decide(method string, p Decision) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	d := h.diffs[p.DiffID]
	accepted := method == MethodDiffAccepted
	switch {
	case p.DiffID == "":
		return paramsError("say which diff by its diffId")
	case d == nil:
		return nil
	case accepted && p.Content == nil:
		return paramsError("content must be the whole file as the user accepts it")
	case accepted && *p.Content == "" && !d.empty:
		// The CLIs take an empty content for none, and would write their proposal, which
		// the user has deleted.
		return paramsError("%s cannot be accepted empty, because the CLI would write its own proposal: "+
			"have the user reject the diff; it is still open", d.path)
	case d.closing:
		if accepted {
			d.final = p.Content
		}
		return nil
	}
	delete(h.diffs, d.id)
	if !accepted {
		p.Content = nil
	}
	d.session.sendDecision(method, decision{d.path, p.Content})
	return nil
}
