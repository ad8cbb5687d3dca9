package oauth

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
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

// pageTime bounds how long the last page may take to reach the browser.
const pageTime = 2 * time.Second

// A loopback is the local server that the browser begins at and comes back to. It asks
// nothing: its first page leads to the provider, once, and gives the browser a cookie. It
// takes one answer, which must have that cookie and the sign-in's state; what has not is
// ignored, so that nobody can end a sign-in, or put a foreign one in its place, by having
// a browser visit this address. Its Login closes it.
type loopback struct {
	redirect string
	host     string
	callback string // its path
	// name is of the cookie that ties the answer to the browser that began. It has the port,
	// because browsers do not tell servers of one host apart.
	name    string
	server  *http.Server
	serving sync.WaitGroup

	mu      sync.Mutex
	start   string // the path to begin at; "" before serve, and once it was visited
	page    string
	state   string
	cookie  string // "" before serve, and once it has its answer
	answers chan url.Values
}

func newLoopback(listener net.Listener, redirect *url.URL) *loopback {
	l := &loopback{redirect: redirect.String(), host: redirect.Host, callback: cmp.Or(redirect.Path, "/"), name: "a2astdio-sign-in-" + redirect.Port(), answers: make(chan url.Values, 1)}
	l.server = &http.Server{Handler: l, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10, ErrorLog: log.New(io.Discard, "", 0)}
	l.serving.Go(func() { _ = l.server.Serve(listener) }) // ended by close
	return l
}

// serve begins a sign-in and returns the URL for the browser. That is a local one:
// others can read command lines, and the provider's URL has the state in it.
func (l *loopback) serve(page, state string) (local string, answers <-chan url.Values) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.start, l.page, l.state, l.cookie = "/"+rand.Text(), page, state, rand.Text()
	return "http://" + l.host + l.start, l.answers
}

func (l *loopback) close() {
	ctx, cancel := context.WithTimeout(context.Background(), pageTime)
	defer cancel()
	if l.server.Shutdown(ctx) != nil {
		l.server.Close()
	}
	l.serving.Wait()
}

// ServeHTTP implements http.Handler.
func (l *loopback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	h.Set("Content-Type", "text/html; charset=utf-8")
	switch {
	// A page of another site may have made its own name resolve to this machine.
	case !strings.EqualFold(r.Host, l.host):
		show(w, http.StatusForbidden, "Not here", "This address is not that of the sign-in.")
	case r.Method != http.MethodGet:
		show(w, http.StatusMethodNotAllowed, "Not so", "A sign-in is under way, elsewhere.")
	case r.URL.Path == l.callback && l.answer(r, r.URL.Query()):
		show(w, http.StatusOK, "Answered", "You can close this page, and go on where you came from: there it says whether you are signed in.")
	case r.URL.Path == l.callback:
		show(w, http.StatusBadRequest, "Not this sign-in", "This is no answer to a sign-in that a2astdio has begun in this browser and that waits for one, so it is not used.")
	case !l.begin(w, r):
		show(w, http.StatusNotFound, "Nothing here", "A sign-in is under way, elsewhere; or this page was opened before: begin again.")
	}
}

// begin leads the first visitor to the provider.
func (l *loopback) begin(w http.ResponseWriter, r *http.Request) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.start == "" || subtle.ConstantTimeCompare([]byte(r.URL.Path), []byte(l.start)) != 1 {
		return false
	}
	l.start = ""
	// Lax, since the browser comes back from the provider's site.
	http.SetCookie(w, &http.Cookie{Name: l.name, Value: l.cookie, Path: "/", MaxAge: int(loginTime.Seconds()), HttpOnly: true, SameSite: http.SameSiteLaxMode})
	http.Redirect(w, r, l.page, http.StatusSeeOther)
	return true
}

// answer passes on the first answer that is ours: with the state, once, and the cookie.
func (l *loopback) answer(r *http.Request, query url.Values) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	cookie, err := r.Cookie(l.name)
	if err != nil || l.cookie == "" || subtle.ConstantTimeCompare([]byte(cookie.Value), []byte(l.cookie)) != 1 ||
		len(query["state"]) != 1 || subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(l.state)) != 1 {
		return false
	}
	l.cookie = ""
	l.answers <- query
	return true
}

// show writes a page. (Rejected: html/template, whose tables each start of the program
// would make.)
func show(w http.ResponseWriter, status int, title, text string) {
	title, text = html.EscapeString(title), html.EscapeString(text)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, pageHead+"<title>a2astdio: "+title+"</title></head><body><h1>"+title+"</h1>\n<p>"+text+"</p></body></html>\n") // the browser may have left
}

const pageHead = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<style>
body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:12vh auto;padding:0 1rem;color:#1c1c1e;background:#fff}
@media(prefers-color-scheme:dark){body{color:#eee;background:#1c1c1e}}
</style>
`
