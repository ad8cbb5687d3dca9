package transport

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

func bearer(token string) *Credential {
	return &Credential{Header: http.Header{"Authorization": {"Bearer " + token}}}
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
	return bearer(one), nil
}

// A certificate of an unknown authority is refused unless the user names the authority.
// TLS before 1.2 is refused.
func TestTLS(t *testing.T) {
	agent := &wireAgent{answer: wireSSE(sseCompleted)}
	server := httptest.NewUnstartedServer(agent)
	server.TLS = &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	agent.Server = server
	c := wireClient(t, server.URL, &ClientOptions{TLS: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10}})
	if _, err := c.Card(t.Context()); err == nil {
		t.Error("TLS 1.1 was spoken")
	}
	var e *a2a.Error
	if _, err := wireClient(t, server.URL, nil).Card(t.Context()); err == nil || errors.As(err, &e) {
		t.Errorf("got %v", err)
	}
}
