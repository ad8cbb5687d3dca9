package transport

import (
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

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
