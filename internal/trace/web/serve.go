// Package web shows a trace in a browser: as a page served on this machine, as one file
// with the trace in it, or, as HAR, in the browser's own network panel.
//
// The page is in page/: plain scripts and a style sheet, embedded as they are. It
// uses no framework, and nothing from a network. A trace is untrusted:
// the page inserts it as text, never as markup, and a content security policy blocks
// all other scripts. The page shows rows made by package view, and fetches
// single records when needed.
//
// [Serve] has a goroutine that reads the trace into the index, under its mutex, until Serve ends.
package web

import (
	"bytes"
	"context"
	"crypto/rand"
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/local"
)

//go:embed page
var pageFiles embed.FS

func readFile(name string) ([]byte, error) { return pageFiles.ReadFile("page/" + name) }

// policy lets the page load itself, talk to its server, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const (
	maxAnswer = 20_000                 // bounds the rows of one answer
	maxFound  = 20_000                 // bounds the results of a search
	liveTime  = 100 * time.Millisecond // the interval of looking for new rows
)

// Serve serves the page of a trace at a TCP address until ctx ends. It calls ready with
// the URL, which holds a token; requests without the token get nothing. It follows a
// trace that is still being written.
func Serve(ctx context.Context, addr, path string, ready func(url string)) error {
	r, err := trace.Open(path, nil)
	if err != nil {
		return err
	}
	file := r.File()
	defer file.Close()
	s := &server{index: newIndex(r), path: path, file: file, token: rand.Text()}
	ctx, cancel := context.WithCancel(ctx)
	var filling sync.WaitGroup
	filling.Go(func() { _ = s.index.fill(ctx) }) // ends with ctx; what was read is shown
	defer filling.Wait()
	defer cancel()
	s.ctx = ctx
	return local.Serve(ctx, addr, func(url string) http.Handler {
		ready(url + s.token + "/")
		return s
	})
}

type server struct {
	index *index
	path  string
	file  *trace.File
	token string
	ctx   context.Context
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	rest, ok := strings.CutPrefix(r.URL.Path, "/"+s.token+"/")
	switch {
	case !ok:
		http.Error(w, "this page's URL holds a token, and this one does not: take the one that a2astdio has written", http.StatusForbidden)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		http.Error(w, "GET", http.StatusMethodNotAllowed)
	case rest == "":
		s.page(w, "index.html")
	case strings.HasPrefix(rest, "api/"):
		s.api(w, r, strings.TrimPrefix(rest, "api/"))
	default:
		s.page(w, rest)
	}
}

func (s *server) page(w http.ResponseWriter, name string) {
	types := map[string]string{".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
	b, err := readFile(name)
	if err != nil || types[filepath.Ext(name)] == "" {
		http.Error(w, "there is no such thing", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", types[filepath.Ext(name)])
	_, _ = w.Write(b) // the browser may have left
}

func (s *server) api(w http.ResponseWriter, r *http.Request, what string) {
	number := func(name string) int {
		n, _ := strconv.Atoi(r.FormValue(name)) // 0 is as good
		return n
	}
	w.Header().Set("Content-Type", "application/json")
	switch what {
	case "head":
		_ = json.NewEncoder(w).Encode(s.index.head(filepath.Base(s.path)))
	case "rows":
		_, _ = w.Write(s.index.rowsFrom(number("from"), min(number("count"), maxAnswer)))
	case "problems":
		_, _ = w.Write(s.index.problems())
	case "spans":
		_, _ = w.Write(s.index.spans())
	case "record":
		s.record(w, number("row"))
	case "search":
		_ = json.NewEncoder(w).Encode(s.search(r.Context(), r.FormValue("text")))
	case "live":
		s.live(w, r)
	default:
		http.Error(w, "there is no such thing", http.StatusNotFound)
	}
}

func (s *server) record(w http.ResponseWriter, number int) {
	at, ok := s.index.position(number)
	if !ok {
		http.Error(w, "there is no such record any more", http.StatusNotFound)
		return
	}
	_, line, err := s.file.Read(at)
	if err != nil {
		http.Error(w, err.Error(), http.StatusGone)
		return
	}
	_, _ = w.Write(line) // the browser may have left
}

// search returns the rows whose records contain a text, ignoring case.
func (s *server) search(ctx context.Context, text string) []int {
	found := []int{}
	if text == "" {
		return found
	}
	lower := bytes.ToLower([]byte(text))
	h := s.index.head("")
	for i := 0; i < h.Count && len(found) < maxFound && ctx.Err() == nil; i++ {
		at, _ := s.index.position(i)
		if _, line, err := s.file.Read(at); err == nil && bytes.Contains(bytes.ToLower(line), lower) {
			found = append(found, i)
		}
	}
	return found
}

// live reports new rows, as server-sent events.
func (s *server) live(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	tick := time.NewTicker(liveTime)
	defer tick.Stop()
	var sent []byte
	for {
		if b, _ := json.Marshal(s.index.head(filepath.Base(s.path))); !bytes.Equal(b, sent) { // it can always be encoded
			sent = b
			if _, err := fmt.Fprintf(w, "data: %s\n\n", b); err != nil || http.NewResponseController(w).Flush() != nil {
				return
			}
		}
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		case <-s.ctx.Done():
			return
		}
	}
}
