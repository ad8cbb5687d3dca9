package bridge_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport"
)

// A session has one turn at a time, until that has been given up.
func TestBusy(t *testing.T) {
	a := bridge.NewAgent(&bridge.Options{})
	defer a.Close()
	s := a.NewSession("/")
	first, err := s.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Begin(); !errors.Is(err, bridge.ErrBusy) {
		t.Errorf("a second turn: %v, want ErrBusy", err)
	}
	first.Discard()
	if _, err := s.Begin(); err != nil {
		t.Errorf("a turn after that: %v", err)
	}
}

// Options that do not exist are refused at the first prompt, and nothing is sent.
func TestOptionsRefused(t *testing.T) {
	for want, opts := range map[string]bridge.Options{
		`bridge: unknown mode "nonsense"; use one of default, accept-edits, yolo`: {Mode: "nonsense"},
		`bridge: unknown dialect "nonsense"; use one of auto, `:                   {Dialect: "nonsense"},
	} {
		agent := &talker{}
		client, err := transport.NewClient("http://agent.invalid", &transport.ClientOptions{RoundTripper: agent})
		if err != nil {
			t.Fatal(err)
		}
		opts.Client = client
		a := bridge.NewAgent(&opts)
		_, err = a.NewSession("/").Prompt(t.Context(), []acp.ContentBlock{{Type: "text", Text: "go"}}, &lostEditor{})
		if err == nil || !strings.HasPrefix(err.Error(), want) || agent.end != nil {
			t.Errorf("got %v, want %s; a message was sent: %t", err, want, agent.end != nil)
		}
		a.Close()
		client.Close()
	}
}
