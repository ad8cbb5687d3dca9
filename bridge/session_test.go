package bridge_test

import (
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport"
)

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
