package companion

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"time"
)

const (
	// openWait is how long the editor may take to show a diff, closeWait to take
	// one away on a CLI's behalf, dismissWait to do so when no CLI waits. A CLI
	// itself gives up after ten minutes, and asks in the terminal meanwhile.
	openWait    = 10 * time.Second
	closeWait   = 10 * time.Second
	dismissWait = 10 * time.Second
	// maxDiffs is how many diffs one CLI may have open: the real ones open one
	// after the other.
	maxDiffs = 64
)

// A diff is one that the editor shows, or is about to.
type diff struct {
	id     string
	path   string // as the client wrote it: it compares the text
	client client
	empty  bool // the proposed content is empty
	// closing: the editor has been asked to take it away. What the user accepts
	// while that is under way is final.
	closing bool
	final   *string
}

// openDiff has the editor show a diff. It returns an error, for the CLI, only if
// the CLI asks for what no editor could show.
//
// If this editor shows nothing, that is no error, whatever the contract says: the
// CLI asks the user in the terminal at the same time, and makes the edit fail if
// it hears of one.
func (h *hub) openDiff(ctx context.Context, c client, path, content string) error {
	d := &diff{path: path, client: c, empty: content == ""}
	if err := h.add(d); err != nil {
		return err
	}
	if h.noDiffs.Load() {
		h.drop(d)
		return nil
	}
	call, cancel := context.WithTimeout(ctx, openWait)
	defer cancel()
	var shown any // whatever the editor answers, if it is no error
	err := h.editor.Request(call, MethodOpenDiff, OpenDiff{DiffID: d.id, FilePath: path, NewContent: content}, &shown)
	if err == nil {
		return nil
	}
	h.log.Info("the editor does not show a diff: the CLI asks in the terminal", "file", path, "err", err)
	if errors.Is(err, ErrNoDiffs) {
		h.noDiffs.Store(true)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.diffs[d.id] == nil || d.closing: // decided or closed already
	case call.Err() != nil:
		h.dismiss(d) // it may come yet
	default:
		delete(h.diffs, d.id)
	}
	return nil
}

func (h *hub) drop(d *diff) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.diffs, d.id)
}

// add registers a diff. The CLI waits for one decision about a file, so an older
// diff of the same file is taken away.
func (h *hub) add(d *diff) error {
	if !filepath.IsAbs(d.path) {
		return errors.New("filePath must be an absolute path")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.clients[d.client]; !ok {
		return errors.New("the session has ended")
	}
	open := 0
	for _, old := range h.diffs {
		if old.client == d.client && !old.closing {
			open++
			if old.path == d.path {
				h.dismiss(old)
			}
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

// closeDiff has the editor take a diff away, and returns the content that the user
// has left in it; nil if there is no such diff.
func (h *hub) closeDiff(c client, path string) (*string, error) {
	h.mu.Lock()
	var d *diff
	for _, open := range h.diffs {
		if open.client == c && open.path == path && !open.closing {
			d = open
			d.closing = true
		}
	}
	h.mu.Unlock()
	if d == nil {
		return nil, nil
	}
	// Not with the request's context: the CLI may be gone, and the diff is to go.
	var result CloseDiffResult
	err := h.requestClose(d, closeWait, &result)
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.diffs, d.id)
	if d.final != nil {
		return d.final, nil
	}
	return result.Content, err
}

// dismiss has the editor take a diff away that no CLI waits for any more.
func (h *hub) dismiss(d *diff) {
	d.closing = true
	h.spawn(func() { // ends with the editor's answer, dismissWait, or close
		if err := h.requestClose(d, dismissWait, &CloseDiffResult{}); err != nil {
			h.log.Info("the editor has not closed a diff", "file", d.path, "err", err)
		}
		h.drop(d)
	})
}

func (h *hub) requestClose(d *diff, wait time.Duration, result *CloseDiffResult) error {
	ctx, cancel := context.WithTimeout(h.ctx, wait)
	defer cancel()
	return h.editor.Request(ctx, MethodCloseDiff, CloseDiff{DiffID: d.id, FilePath: d.path}, result)
}

// decide tells the CLI that opened a diff what the user decided. A diff that is
// there no more was closed by its CLI, or that is gone: nobody waits.
func (h *hub) decide(method string, p Decision) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	d, err := h.find(p)
	if d == nil || err != nil {
		return err
	}
	accepted := method == MethodDiffAccepted
	switch {
	case accepted && p.Content == nil:
		return paramsError("content must be the whole file as the user accepts it")
	case accepted && *p.Content == "" && !d.empty:
		// The CLIs take an empty content for none, and would write what they have
		// proposed, which the user has deleted.
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
	d.client.decide(method, decision{d.path, p.Content})
	return nil
}

// find returns the diff that the editor means. By its path that is only clear if
// there is one: an answer to one question must not answer another one.
func (h *hub) find(p Decision) (found *diff, err error) {
	if p.DiffID != "" {
		return h.diffs[p.DiffID], nil
	}
	if p.FilePath == "" {
		return nil, paramsError("say which diff: diffId, or filePath")
	}
	for _, d := range h.diffs {
		switch {
		case d.path != p.FilePath || d.closing && found != nil:
		case found != nil && !found.closing:
			return nil, paramsError("several diffs of %s are open: say which by its diffId", p.FilePath)
		default:
			found = d
		}
	}
	return found, nil
}
