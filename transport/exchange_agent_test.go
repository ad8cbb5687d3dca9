package transport

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/tidwall/gjson"
)

// A playedAnswer is what an agent of testdata/exchange answers.
type playedAnswer struct {
	what   string
	status int
	header http.Header
	body   string
	late   time.Duration
	cut    bool
	stalls bool
	given  bool
}

// RoundTrip is the network, in which requests may fail.
func (x *played) RoundTrip(r *http.Request) (*http.Response, error) {
	if x.failsLeft > 0 && (r.Method == http.MethodPost || x.failsAt == "first") {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.failsLeft--
		x.asked = append(x.asked, r.Method+" in vain")
		return nil, &net.OpError{Op: strings.Replace(x.failsAt, "first", "dial", 1), Err: syscall.ECONNREFUSED}
	}
	r = r.Clone(r.Context())
	r.URL.Scheme = "http" // also of an agent with a certificate
	return x.network.RoundTrip(r)
}

// ServeHTTP is the agent, and all others.
func (x *played) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var call struct{ Method string }
	_ = json.Unmarshal(body, &call) // of HTTP+JSON there is none
	path := r.URL.RequestURI()
	if r.Host != "agent.example" {
		path = "http://" + r.Host + path
	}
	a := x.note(call.Method, path, r, body)
	if a == nil && r.Host == "agent.example" && r.URL.Path == cardPath && x.card != "none" {
		_, _ = io.WriteString(w, x.card)
		return
	}
	if a == nil {
		http.NotFound(w, r)
		return
	}
	if a.late > 0 {
		select {
		case <-time.After(a.late):
		case <-r.Context().Done():
			return
		}
	}
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body)
	if a.cut || a.stalls {
		w.(http.Flusher).Flush()
	}
	if a.stalls {
		<-r.Context().Done()
	}
	if a.cut {
		panic(http.ErrAbortHandler)
	}
}

// note keeps what is asked, and returns its answer.
func (x *played) note(method, path string, r *http.Request, body []byte) *playedAnswer {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !strings.HasSuffix(r.URL.Path, ".json") || x.show != nil {
		what := strings.TrimSpace(method + " " + strings.TrimSuffix(r.Method+" "+path, "POST /rpc"))
		if key := r.Header.Get("Authorization"); key != "" {
			what += " with " + key
		}
		for _, name := range x.show {
			if member := gjson.GetBytes(body, name); member.Exists() {
				what += "; " + name + ": " + member.Raw
			}
			if lines := r.Header.Values(name); len(lines) > 0 {
				what += "; " + name + ": " + strings.Join(lines, " and ")
			}
		}
		x.asked = append(x.asked, what)
	}
	return x.answer(method, path)
}

func (x *played) answer(method, path string) (last *playedAnswer) {
	for _, what := range []string{method, path, "*"} {
		for _, a := range x.answers {
			if a.what == what && what != "" {
				if last = a; !a.given {
					a.given = true
					return a
				}
			}
		}
		if last != nil || strings.HasSuffix(path, ".json") && what == path {
			return last
		}
	}
	return nil
}

// credential notes what a source is asked with.
func (x *played) credential(at *Challenge, one, two string) (*Credential, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	note := "(for a token"
	if at.Status != 0 {
		note += fmt.Sprint(" behind a ", at.Status, " of ", at.Refused.Header.Get("Authorization"), ", ", at.Authenticate)
		one = two
	}
	if at.Card != nil {
		note += " by the card of " + at.Card.Name
		for _, s := range at.Card.Schemes {
			note += " with " + s.Name
		}
	}
	if x.asked = append(x.asked, note+")"); one == "" {
		return nil, nil
	}
	if strings.HasPrefix(one, "{") {
		whole := new(Credential)
		return whole, json.Unmarshal([]byte(one), whole)
	}
	if cure, ok := strings.CutPrefix(one, "!"); ok {
		return nil, errors.New(cure)
	}
	return &Credential{Header: http.Header{"Authorization": {"Bearer " + one}}}, nil
}
