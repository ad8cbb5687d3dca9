package agentproc

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
)

const (
	// Waits between two looks at an address: short at first, for an agent that starts
	// fast; later no longer than anybody notices, for minutes of npx downloading.
	firstWait = 20 * time.Millisecond
	maxWait   = 250 * time.Millisecond
	// probeTime bounds one look: a server that accepts and stays silent is not ready.
	probeTime = 2 * time.Second
	// settle is how long an agent must live after its card was seen at an address that we
	// did not choose. If its port is taken, Gemini's server announces its URL and then
	// ends: the card was another server's.
	settle       = 500 * time.Millisecond
	maxAddresses = 16      // bounds the printed URLs that are tried
	maxCard      = 4 << 20 // what package transport reads of a card
)

// cardPaths are the well-known paths of A2A 0.3 and later, and of earlier versions.
var cardPaths = []string{"/.well-known/agent-card.json", "/.well-known/agent.json"}

// A finder looks for a card at several addresses. The first card wins.
type finder struct {
	ctx    context.Context
	cancel context.CancelFunc
	client *http.Client
	port   string // which we chose, so that the server there is the agent

	mu        sync.Mutex
	addresses []string
	wg        sync.WaitGroup
	url       string // "": none is found; behind that ctx ends
}

func newFinder(port string) *finder {
	f := &finder{port: port}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	f.client = &http.Client{
		// No proxy: it is this machine. No idle connections that could be left behind.
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return f
}

// add watches an address until a card is found or stop is called.
func (f *finder) add(address string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ctx.Err() != nil || len(f.addresses) == maxAddresses || slices.Contains(f.addresses, address) {
		return
	}
	f.addresses = append(f.addresses, address)
	// Ends with f.ctx, which stop and success cancel.
	f.wg.Go(func() { f.watch(address) })
}

// addPort is add for a port of this machine.
func (f *finder) addPort(port string) {
	f.add("http://127.0.0.1:" + port)
	f.add("http://[::1]:" + port)
}

// stop ends the search, and waits for its goroutines.
func (f *finder) stop() {
	f.mu.Lock() // nothing is added after that
	f.cancel()
	f.mu.Unlock()
	f.wg.Wait()
}

func (f *finder) watch(address string) {
	u, err := url.Parse(address)
	if err != nil {
		return // a broken escape
	}
	chosen := u.Port() == f.port
	for wait := firstWait; ; wait = min(wait*3/2, maxWait) {
		if f.hasCard(address, chosen) {
			if !chosen && !f.pause(settle) {
				return
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			f.url = cmp.Or(f.url, address)
			f.cancel()
			return
		}
		if !f.pause(wait) {
			return
		}
	}
}

// pause waits, and reports whether the search goes on.
func (f *finder) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return f.ctx.Err() == nil
	case <-f.ctx.Done():
		return false
	}
}

// hasCard reports whether there is a card below an address. At an address that we
// chose, an agent that wants credentials for its card counts, too.
func (f *finder) hasCard(address string, chosen bool) bool {
	ctx, cancel := context.WithTimeout(f.ctx, probeTime)
	defer cancel()
	for _, path := range cardPaths {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+path, nil)
		if err != nil {
			return false
		}
		req.Header.Set("Accept", "application/json")
		resp, err := f.client.Do(req)
		if err != nil {
			return false // nobody listens, so other paths fail, too
		}
		var card struct{ Name *string }
		isCard := resp.StatusCode == http.StatusOK &&
			json.NewDecoder(io.LimitReader(resp.Body, maxCard)).Decode(&card) == nil && card.Name != nil
		resp.Body.Close()
		protected := resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden
		if isCard || chosen && protected {
			return true
		}
	}
	return false
}

// longWait is how long a card may be missing before an error doubts the command.
const longWait = time.Minute

// lastWords returns what the agent printed last, as the end of an error.
func (p *process) lastWords() string {
	if words := p.output.lastWords(); words != "" {
		return "; its last words: " + words
	}
	return "; it printed nothing"
}

// found returns the URL below which the card is, "" while that is not known.
func (f *finder) found() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.url
}

func (p *process) isFound() bool { return p.finder.found() != "" }

// find waits for the agent's card, and returns the URL below which it is. The error is p.err
// if the agent has ended, and a slowError when impatient fires.
func (p *process) find(ctx context.Context, impatient <-chan time.Time) (string, error) {
	select {
	case <-p.done:
		return "", p.err
	default:
	}
	select {
	case <-p.finder.ctx.Done():
		if url := p.finder.found(); url != "" {
			p.output.unwatch()
			return url, nil
		}
		<-p.done // which follows
		return "", p.err
	case <-impatient:
		return "", &slowError{fmt.Sprintf("agent: %q runs, but %s; it may come yet, and --timeout allows more%s", p.name, p.noCard(), p.lastWords())}
	case <-ctx.Done():
		return "", fmt.Errorf("agent: waiting for %q was given up: %w; %s%s", p.name, ctx.Err(), p.noCard(), p.lastWords())
	}
}

// A slowError says that the caller's patience has ended.
type slowError struct{ text string }

func (e *slowError) Error() string { return e.text }

// Timeout implements the interface of package net's timeouts.
func (e *slowError) Timeout() bool { return true }

// noCard tells how long there has been no card, and what to check after a long time.
func (p *process) noCard() string {
	waited := time.Since(p.began)
	if waited < longWait {
		return fmt.Sprintf("it has no card after %v", waited.Round(100*time.Millisecond))
	}
	return fmt.Sprintf("it has no card after %v: does it serve A2A, on {port} or at a URL that it prints?", waited.Round(time.Second))
}
