package agentproc

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// Waits between looks at an address: short at first, for an agent that is
	// there at once; at the most a wait that nobody notices, for minutes of npx
	// downloading.
	firstWait = 20 * time.Millisecond
	maxWait   = 250 * time.Millisecond
	// probeTime bounds one look: a server that accepts and says nothing is not
	// ready.
	probeTime = 2 * time.Second
	// settle is how long an agent must stay after a card was seen at an address
	// that we did not choose. Gemini's server announces its URL and then ends if
	// the port is another's: the card is that other's.
	settle = 500 * time.Millisecond
	// maxAddresses bounds how many printed URLs are looked at.
	maxAddresses = 16
	// maxCard is as much of a card as package transport reads.
	maxCard = 4 << 20
)

// cardPaths are where cards are: of A2A 0.3 and later, and before.
var cardPaths = []string{"/.well-known/agent-card.json", "/.well-known/agent.json"}

// A finder looks for a card at several addresses. The first that has one wins.
type finder struct {
	ctx    context.Context
	cancel context.CancelFunc
	client *http.Client
	ports  []string // those that we chose, where nobody else is

	mu        sync.Mutex
	addresses []string
	stopped   bool
	wg        sync.WaitGroup

	once  sync.Once
	found chan struct{} // closed when url is set
	url   string
}

func newFinder(ctx context.Context, ports ...string) *finder {
	f := &finder{ports: ports, found: make(chan struct{})}
	f.ctx, f.cancel = context.WithCancel(ctx)
	f.client = &http.Client{
		// No proxy: this is the same machine. No idle connections: there is
		// nothing to be left behind.
		Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
	return f
}

// add looks at an address until a card was found or stop is called.
func (f *finder) add(address string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped || len(f.addresses) == maxAddresses || slices.Contains(f.addresses, address) {
		return
	}
	f.addresses = append(f.addresses, address)
	// Ends with f.ctx, which stop cancels, and success, too.
	f.wg.Go(func() { f.watch(address) })
}

// addPort is add for a port of this machine.
func (f *finder) addPort(port string) {
	f.add("http://127.0.0.1:" + port)
	f.add("http://[::1]:" + port)
}

// stop ends the search; when it returns, no goroutine of it is left.
func (f *finder) stop() {
	f.mu.Lock()
	f.stopped = true
	f.mu.Unlock()
	f.cancel()
	f.wg.Wait()
}

func (f *finder) watch(address string) {
	host := strings.TrimPrefix(address, "http://")
	host, _, _ = strings.Cut(host, "/")
	_, port, _ := net.SplitHostPort(host)
	chosen := slices.Contains(f.ports, port)
	for wait := firstWait; ; wait = min(wait*3/2, maxWait) {
		if f.hasCard(address, chosen) {
			if !chosen && !f.pause(settle) {
				return
			}
			f.once.Do(func() {
				f.url = address
				close(f.found)
				f.cancel()
			})
			return
		}
		if !f.pause(wait) {
			return
		}
	}
}

// pause waits, and reports whether the search goes on.
func (f *finder) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return f.ctx.Err() == nil
	case <-f.ctx.Done():
		return false
	}
}

// hasCard reports whether there is a card below an address. Where we told the
// agent to listen, one that wants credentials first counts, too.
func (f *finder) hasCard(address string, chosen bool) bool {
	ctx, cancel := context.WithTimeout(f.ctx, probeTime)
	defer cancel()
	for _, path := range cardPaths {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+path, nil)
		if err != nil {
			return false // a port above 65535, a broken escape
		}
		req.Header.Set("Accept", "application/json")
		resp, err := f.client.Do(req)
		if err != nil {
			return false // nobody is there; another path changes nothing
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
