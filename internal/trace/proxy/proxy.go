// Package proxy is an HTTP reverse proxy in front of an A2A agent, for any client. It
// can record the traffic, and make it fail.
//
// Its goroutines are those of the server and of net/http. They share what was noted, under a mutex.
package proxy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/trace/card"
	"github.com/a2astdio/a2astdio/internal/trace/fault"
)

const (
	maxCard    = 4 << 20  // bounds a card that is changed on its way
	maxRequest = 64 << 20 // bounds a request, which is read whole before it is passed on
)

// Options tell which agent is behind the proxy, and what is done to its traffic.
type Options struct {
	// Agent is the agent's URL: a base with the card at its well-known path, or the card's
	// own URL, which ends in .json.
	Agent string
	// Card is the agent's card, instead of fetching one.
	Card []byte
	// Header is added to requests to the agent's origin; nil: nothing.
	Header http.Header
	// Transport reaches the agent.
	Transport http.RoundTripper
	// Faults are the faults to apply; nil: none.
	Faults *fault.Plan
	// Note is called with each message for the user, once. It may be called concurrently.
	Note func(string)
}

// A Proxy is an [http.Handler]. It changes the URLs in the agent's card to its own, and asks
// for no compression and no upgrade. Else requests and answers pass unchanged, and streams
// of answers without delay.
type Proxy struct {
	opts  Options
	agent *url.URL // its origin, and its path
	card  *url.URL // of the agent's card
	base  string   // the proxy's own URL

	mu    sync.Mutex
	noted map[string]bool // by the message
}

func New(opts *Options) (*Proxy, error) {
	p := &Proxy{opts: *opts, noted: map[string]bool{}}
	agent := opts.Agent
	if opts.Card != nil {
		if agent = card.URL(opts.Card); agent == "" {
			return nil, errors.New("proxy: the card has no URL")
		}
	}
	var err error
	if p.agent, err = url.Parse(agent); err != nil || p.agent.Host == "" {
		return nil, fmt.Errorf("proxy: %q is no URL of an agent", agent)
	}
	p.agent.Path = cmp.Or(p.agent.Path, "/")
	p.card = p.agent
	if !strings.HasSuffix(p.agent.Path, ".json") {
		p.card = p.agent.JoinPath("/.well-known/agent-card.json")
	}
	return p, nil
}

// At sets the URL of the proxy, to which its card leads. Call it before the first request.
func (p *Proxy) At(url string) { p.base = url }

// note tells the user something, the first time that it is called with it.
func (p *Proxy) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	p.mu.Lock()
	again := p.noted[text]
	if len(p.noted) < 1000 {
		p.noted[text] = true
	}
	p.mu.Unlock()
	if !again && p.opts.Note != nil {
		p.opts.Note(text)
	}
}

// A passing is a request on its way.
type passing struct {
	to     *url.URL
	method string // of JSON-RPC, or the verb and the path
	card   bool   // it asks for the card, or the extended card
	faults *fault.Set
}

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect {
		http.Error(w, "this is a proxy in front of one agent, and makes no way to others: CONNECT is not passed on", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		http.Error(w, "the request's body cannot be read: "+err.Error(), http.StatusBadRequest)
		return
	}
	r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	pass := p.route(r, body)
	if pass.card && p.opts.Card != nil && r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "application/json")
		w.Write(p.moved(p.opts.Card))
		return
	}
	pass.faults = p.opts.Faults.Take(pass.method)
	if pass.faults.Status != 0 {
		w.WriteHeader(pass.faults.Status)
		return
	}
	reverse := &httputil.ReverseProxy{Transport: p.opts.Transport, FlushInterval: -1, ErrorHandler: p.fails, ErrorLog: log.New(io.Discard, "", 0),
		Rewrite:        func(r *httputil.ProxyRequest) { p.rewrite(r, pass) },
		ModifyResponse: func(resp *http.Response) error { return p.answer(resp, pass) }}
	reverse.ServeHTTP(w, r)
}

// route returns where a request goes, and what it asks for, without its faults.
func (p *Proxy) route(r *http.Request, body []byte) *passing {
	to := &url.URL{Scheme: p.agent.Scheme, Host: p.agent.Host, Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery}
	pass := &passing{to: to, method: r.Method + " " + to.Path}
	switch name := path.Base(to.Path); r.Method {
	case http.MethodGet:
		public := name == "agent-card.json" || to.Path == p.card.Path
		if public && r.URL.Path == "/.well-known/agent-card.json" {
			pass.to = p.card // below the agent's path, or elsewhere
		}
		pass.card = public || name == "agent.json" || name == "extendedAgentCard" || strings.HasSuffix(to.Path, "/v1/card")
	case http.MethodPost:
		if method := gjson.GetBytes(body, "method").Str; method != "" {
			pass.method = method
			pass.card = method == "GetExtendedAgentCard" || method == "agent/getAuthenticatedExtendedCard"
		}
	}
	return pass
}

func (p *Proxy) rewrite(r *httputil.ProxyRequest, pass *passing) {
	r.Out.URL, r.Out.Host = pass.to, ""
	// A2A uses no upgrade. An upgraded connection could be neither traced nor checked: h2c
	// would carry requests with any Host and Origin.
	r.Out.Header.Del("Connection")
	r.Out.Header.Del("Upgrade")
	// A trace could not read compressed answers, nor faults cut them into events.
	r.Out.Header.Del("Accept-Encoding")
	if _, ok := r.Out.Header["User-Agent"]; !ok {
		r.Out.Header.Set("User-Agent", "") // the client has sent none
	}
	if pass.card {
		for _, name := range []string{"If-None-Match", "If-Modified-Since", "Range"} {
			r.Out.Header.Del(name) // the client's copy of the card is a changed one
		}
	}
	r.Out.Header.Del("Origin") // it names this server, which the agent does not know
	for name, values := range p.opts.Header {
		r.Out.Header[http.CanonicalHeaderKey(name)] = slices.Clone(values)
	}
}

// answer changes a card and a Location, and nothing else, and applies faults.
func (p *Proxy) answer(resp *http.Response, pass *passing) error {
	defer func() { pass.faults.Apply(resp) }()
	if where := resp.Header.Get("Location"); where != "" {
		if now, ok := p.move(where); ok {
			resp.Header.Set("Location", now)
		}
	}
	if !pass.card || resp.StatusCode != http.StatusOK {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxCard+1))
	resp.Body.Close()
	if err != nil {
		return err
	}
	if len(body) > maxCard {
		return fmt.Errorf("the card is larger than %d bytes", maxCard)
	}
	if result := gjson.GetBytes(body, "result"); result.Exists() && card.IsCard([]byte(result.Raw)) && result.Index > 0 {
		body = slices.Concat(body[:result.Index], p.moved([]byte(result.Raw)), body[result.Index+len(result.Raw):])
	} else if card.IsCard(body) {
		body = p.moved(body)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	resp.ContentLength = int64(len(body))
	resp.Header.Set("Content-Length", strconv.Itoa(len(body)))
	resp.Header.Del("Etag")
	return nil
}

// moved returns a card whose URLs lead here, and notes what is left out.
func (p *Proxy) moved(doc []byte) []byte {
	moved, dropped, signed, err := card.Move(doc, p.base, p.move)
	if err != nil {
		return doc
	}
	for _, u := range dropped {
		p.note("the card leads to %s as well, which clients will not find here: it is no HTTP, or another origin: a2astdio card get -o json > card.json, and a proxy with --agent card.json leads to the URL that the card names first", u)
	}
	if signed {
		p.note("the card's signature is left out: it holds for the agent's own URLs, and not for this proxy's")
	}
	return moved
}

func (p *Proxy) move(old string) (string, bool) { return card.Mover(p.agent.String(), p.base)(old) }

func (p *Proxy) fails(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		panic(http.ErrAbortHandler) // the client has gone
	}
	p.note("the agent has not answered: %v", err)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadGateway)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": "proxy: the agent has not answered: " + err.Error()})
}
