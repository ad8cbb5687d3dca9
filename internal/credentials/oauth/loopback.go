package oauth

import (
	"context"
	"crypto/rand"
	"html"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// declined marks that the user refused to go to the provider. No provider can send it:
// it is no name of a callback's parameters.
const declined = "\x00declined"

// pageTime bounds how long the last page may take to reach the browser.
const pageTime = 2 * time.Second

// A Question is asked before a sign-in at a provider that only the agent has named.
type Question struct {
	Agent, Provider string
	// Token is the token endpoint's host, if it is not Provider's.
	Token  string
	Scopes []string
	// Unencrypted: the agent is reached without TLS.
	Unencrypted bool
}

// A loopback is the local server that the browser begins at and comes back to. It takes
// one answer. Its CodeLogin closes it.
type loopback struct {
	redirect string
	host     string
	callback string // its path
	server   *http.Server
	done     chan struct{} // closed when Serve has returned

	mu       sync.Mutex
	start    string // the path to begin at
	page     string
	ask      *Question
	confirm  string // the token in the form
	answered bool
	answers  chan url.Values
	verdict  chan error
}

func newLoopback(listener net.Listener, redirect *url.URL) *loopback {
	l := &loopback{redirect: redirect.String(), host: redirect.Host, callback: redirect.Path, done: make(chan struct{}),
		answers: make(chan url.Values, 1), verdict: make(chan error, 1)}
	l.server = &http.Server{Handler: l, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { // ended by close
		defer close(l.done)
		_ = l.server.Serve(listener)
	}()
	return l
}

// serve begins a sign-in and returns the URL for the browser. That is a local one:
// others can read command lines, and the provider's URL has the state in it.
func (l *loopback) serve(page string, ask *Question) (local string, answers <-chan url.Values) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.start, l.page, l.ask, l.confirm = "/"+rand.Text(), page, ask, rand.Text()
	return "http://" + l.host + l.start, l.answers
}

// say shows the waiting browser how the sign-in has ended.
func (l *loopback) say(err error) {
	select {
	case l.verdict <- err:
	default:
	}
}

func (l *loopback) close() {
	ctx, cancel := context.WithTimeout(context.Background(), pageTime)
	defer cancel()
	if l.server.Shutdown(ctx) != nil {
		l.server.Close()
	}
	<-l.done
}

// ServeHTTP implements http.Handler.
func (l *loopback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action *; frame-ancestors 'none'")
	h.Set("Content-Type", "text/html; charset=utf-8")
	// A page of another site may have made its own name resolve to this machine.
	if !strings.EqualFold(r.Host, l.host) {
		l.show(w, http.StatusForbidden, view{Title: "Not here", Text: "This address is not that of the sign-in."})
		return
	}
	l.mu.Lock()
	start, page, ask, confirm := l.start, l.page, l.ask, l.confirm
	l.mu.Unlock()
	switch {
	case start != "" && r.URL.Path == start && r.Method == http.MethodPost && r.PostFormValue("confirm") == confirm:
		if r.PostFormValue("go") == "" {
			l.answer(url.Values{declined: {""}})
			l.show(w, http.StatusOK, view{Title: "Not signed in", Text: "You can close this page."})
			return
		}
		http.Redirect(w, r, page, http.StatusSeeOther)
	case start != "" && r.URL.Path == start && ask != nil:
		l.show(w, http.StatusOK, view{Title: "Sign in?", Ask: ask, Confirm: confirm})
	case start != "" && r.URL.Path == start:
		http.Redirect(w, r, page, http.StatusSeeOther)
	case r.URL.Path == l.callback && r.Method == http.MethodGet:
		l.back(w, r)
	default:
		l.show(w, http.StatusNotFound, view{Title: "Nothing here", Text: "A sign-in is under way, elsewhere."})
	}
}

// back takes the provider's answer.
func (l *loopback) back(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	delete(query, declined)
	if len(query) == 0 || !l.answer(query) {
		l.show(w, http.StatusConflict, view{Title: "Already answered", Text: "This sign-in has had its answer. You can close this page."})
		return
	}
	select {
	case err := <-l.verdict:
		if err != nil {
			l.show(w, http.StatusOK, view{Title: "Not signed in", Text: err.Error()})
			return
		}
		l.show(w, http.StatusOK, view{Title: "Signed in", Text: "You can close this page, and go on where you came from."})
	case <-r.Context().Done():
	}
}

// answer passes on the first answer; false: there was one.
func (l *loopback) answer(v url.Values) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.answered || l.start == "" {
		return false
	}
	l.answered = true
	l.answers <- v
	return true
}

type view struct {
	Title, Text string
	Ask         *Question
	Confirm     string
}

// show writes a page. (Rejected: html/template, whose tables each start of the program
// would make.)
func (l *loopback) show(w http.ResponseWriter, status int, v view) {
	var b strings.Builder
	text := func(markup string, values ...string) {
		for i, piece := range strings.Split(markup, "%") {
			if i > 0 {
				b.WriteString(html.EscapeString(values[i-1]))
			}
			b.WriteString(piece)
		}
	}
	b.WriteString(pageHead)
	text("<title>a2astdio: %</title></head><body><h1>%</h1>\n", v.Title, v.Title)
	if q := v.Ask; q != nil {
		text("<p>An agent asks you to sign in. Go on if you know both.</p>\n<dl><dt>The agent</dt><dd>%</dd><dt>Signs you in at</dt><dd>%</dd>", q.Agent, q.Provider)
		if q.Token != "" {
			text("<dt>Which answers by</dt><dd>%</dd>", q.Token)
		}
		if len(q.Scopes) > 0 {
			text("<dt>And asks there for</dt><dd>%</dd>", strings.Join(q.Scopes, ", "))
		}
		b.WriteString("</dl>\n")
		if q.Unencrypted {
			b.WriteString("<p class=\"warn\">The agent is reached without encryption: whoever is on the way can read what it is shown.</p>\n")
		}
		text(`<form method="post"><input type="hidden" name="confirm" value="%"><button class="go" name="go" value="1">Go to %</button><button>Do not sign in</button></form>`, v.Confirm, q.Provider)
	} else {
		text("<p>%</p>", v.Text)
	}
	b.WriteString("</body></html>\n")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, b.String()) // the browser may have left
}

const pageHead = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<style>
body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:12vh auto;padding:0 1rem;color:#1c1c1e;background:#fff}
h1{font-size:1.4rem}dl{display:grid;grid-template-columns:max-content 1fr;gap:.3rem 1rem}dt{color:#555}dd{margin:0;overflow-wrap:anywhere;font-weight:600}
button{font:inherit;padding:.5rem 1rem;border-radius:.4rem;border:1px solid #888;background:#f2f2f2;cursor:pointer;margin-right:.5rem}
button.go{background:#0a58ca;border-color:#0a58ca;color:#fff}.warn{color:#a40000}
@media(prefers-color-scheme:dark){body{color:#eee;background:#1c1c1e}dt{color:#aaa}button{background:#333;color:#eee}button.go{background:#0a58ca}.warn{color:#ff9a9a}}
</style>
`
