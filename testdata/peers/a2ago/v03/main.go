// Command v03 is an agent made with github.com/a2aproject/a2a-go v0.3.15: A2A 0.3.
// See the README of the module.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2asrv"
	"github.com/a2aproject/a2a-go/a2asrv/push"
)

func main() {
	noStreaming := flag.Bool("no-streaming", false, "refuse to stream")
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	base := "http://" + l.Addr().String()
	card := newCard(base, !*noStreaming)
	extended := *card
	extended.Description = "the extended card"
	handler := a2asrv.NewHandler(agent{},
		a2asrv.WithExtendedAgentCard(&extended),
		a2asrv.WithCallInterceptor(gate{noStreaming: *noStreaming}),
		a2asrv.WithPushNotifications(push.NewInMemoryStore(), push.NewHTTPPushSender(nil)))
	mux := http.NewServeMux()
	mux.Handle("/rpc", a2asrv.NewJSONRPCHandler(handler))
	mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(card))
	fmt.Println(base)
	go func() {
		// It ends the process when stdin does, so that no server is left behind.
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	log.Fatal(http.Serve(l, mux))
}

func newCard(base string, streaming bool) *a2a.AgentCard {
	return &a2a.AgentCard{
		Name:               "a2a-go",
		Description:        "an agent of a2a-go v0.3.15",
		Version:            "0.3.15",
		ProtocolVersion:    string(a2a.Version),
		URL:                base + "/rpc",
		PreferredTransport: a2a.TransportProtocolJSONRPC,
		DefaultInputModes:  []string{"text"},
		Skills:             []a2a.AgentSkill{},
		DefaultOutputModes: []string{"text"},
		Capabilities:       a2a.AgentCapabilities{Streaming: streaming, PushNotifications: true},

		SupportsAuthenticatedExtendedCard: true,
	}
}

// A gate refuses to stream, if it is told to.
type gate struct {
	a2asrv.PassthroughCallInterceptor
	noStreaming bool
}

func (g gate) Before(ctx context.Context, call *a2asrv.CallContext, _ *a2asrv.Request) (context.Context, error) {
	if g.noStreaming && (call.Method() == "OnSendMessageStream" || call.Method() == "OnResubscribeToTask") {
		return ctx, a2a.ErrUnsupportedOperation
	}
	return ctx, nil
}
