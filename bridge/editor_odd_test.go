package bridge_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// Requests are refused while an agent is looked for, whose options take the place of the ones before.
func TestRefusedMeanwhile(t *testing.T) {
	client, meanwhile := demoClient(t, "0.3"), make(chan struct{})
	c, end := serve(t, &bridge.Options{Setup: func(context.Context) (*bridge.Options, error) {
		<-meanwhile
		return &bridge.Options{Client: client}, nil
	}})
	defer end()
	c.write(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":1}}`)
	c.next("i")
	c.write(`{"jsonrpc":"2.0","id":"s","method":"authenticate","params":{"methodId":"stored"}}`)
	for i := range 200 {
		if i == 10 {
			close(meanwhile)
		}
		c.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"x/y"}`, i))
	}
	if m := c.next("199"); m.Get("error.code").Int() != acp.CodeMethodNotFound {
		t.Errorf("%s", m)
	}
}

// A prompt and its cancel wait for an agent that is looked for, and stay in their order.
func TestOrderMeanwhile(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			client, meanwhile := demoClient(t, "0.3"), make(chan struct{})
			c, end := serve(t, &bridge.Options{Protocol: bridge.ProtocolA2A, Setup: func(context.Context) (*bridge.Options, error) {
				<-meanwhile
				return &bridge.Options{Client: client}, nil
			}})
			defer end()
			time.AfterFunc(time.Second, func() { close(meanwhile) })
			c.write(`{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{"text":"slow"}}`)
			c.write(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`)
			c.write(`{"jsonrpc":"2.0","method":"$/nothing"}`)
			if m := c.next("1"); m.Get("result.state").Str != string(a2a.StateCanceled) {
				t.Errorf("%s", m)
			}
		})
	}
}

// What the editor has announced first stays, also for its companion.
func TestInitializeTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var editor bridge.CompanionEditor
		companion := func(e bridge.CompanionEditor, _ bridge.CompanionInfo) (bridge.Companion, error) {
			editor = e
			return fakeCompanion{"/"}, nil
		}
		c, end := serve(t, &bridge.Options{Client: demoClient(t, "0.3"), Companion: companion})
		defer end()
		c.opens(`"_meta":{"a2astdio":{"companion":{}}}`)
		c.write(`{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":1}}`)
		c.next("3")
		must.Do(t, editor.Notify(t.Context(), "ide/diffShown", struct{}{}))
	})
}
