package companion

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"
)

// A decision is the params of ide/diffAccepted and ide/diffRejected for a CLI. A
// rejection must have no content.
type decision struct {
	FilePath string  `json:"filePath"`
	Content  *string `json:"content,omitempty"`
}

// A hub stands between the editor and the CLIs. It owns the user's context and the
// diffs that are open.
type hub struct {
	editor Editor
	log    *slog.Logger

	// ctx is for work outside of the CLIs' requests; stop ends it.
	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup
	// noDiffs: the editor shows none.
	noDiffs atomic.Bool
	// wake tells the publisher that a session may lack the newest context.
	wake chan struct{}

	mu       sync.Mutex
	latest   *Context                     // the editor's last context, checked
	sessions map[*session]json.RawMessage // the context that each was sent last
	diffs    map[string]*diff
	number   uint64 // of the last diff
	closed   bool
}

func newHub(editor Editor, log *slog.Logger) *hub {
	h := &hub{editor: editor, log: log, wake: make(chan struct{}, 1),
		sessions: map[*session]json.RawMessage{}, diffs: map[string]*diff{}}
	h.ctx, h.stop = context.WithCancel(context.Background())
	return h
}

// join adds a session; its CLI is shown the context soon.
func (h *hub) join(s *session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sessions[s] = nil
	h.wakePublisher()
}

// resend has a session sent the context again, because it may have forgotten
// it. One that has left gets nothing.
func (h *hub) resend(s *session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.sessions[s]; ok {
		h.sessions[s] = nil
		h.wakePublisher()
	}
}

// disconnected removes a session. The editor is asked to close its diffs.
func (h *hub) disconnected(s *session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sessions, s)
	for _, d := range h.diffs {
		if d.session == s && !d.closing {
			h.dismiss(d)
		}
	}
}

// wakePublisher has publish look which sessions lack the newest context.
func (h *hub) wakePublisher() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

func (h *hub) notify(method string, params any) {
	if err := h.editor.Notify(h.ctx, method, params); err != nil {
		h.log.Warn("the editor was not notified", "method", method, "err", err)
	}
}

// close ends all work, and waits for it. After that the editor gets no request.
func (h *hub) close() {
	h.mu.Lock()
	h.closed = true // before what waits for the editor wakes up
	h.mu.Unlock()
	h.stop()
	h.work.Wait()
}
