// Command v1 is an agent made with github.com/a2aproject/a2a-go/v2: A2A 1.0, and
// 0.3 by its compatibility layer. See the README of the module.
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

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
)

func main() {
	noStreaming := flag.Bool("no-streaming", false, "refuse to stream")
	signed := flag.Bool("sign", false, "sign the card; the key is at /jwks.json, the card for 1.0 alone below /pure")
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	base := "http://" + l.Addr().String()
	card := newCard(base, !*noStreaming)
	mux := http.NewServeMux()
	if *signed {
		keys, err := sign(card)
		if err != nil {
			log.Fatal(err)
		}
		mux.Handle("/jwks.json", keys)
		mux.Handle("/pure"+a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(card))
	}
	extended := *card
	extended.Description = "the extended card"
	extended.Skills = []a2a.AgentSkill{{ID: "echo", Name: "echo", Description: "says it again", Tags: []string{"echo"}}}
	handler := a2asrv.NewHandler(agent{},
		a2asrv.WithCapabilityChecks(&card.Capabilities),
		a2asrv.WithExtendedAgentCard(&extended),
		a2asrv.WithCallInterceptors(gate{}),
		a2asrv.WithPushNotifications(push.NewInMemoryStore(),
			push.NewHTTPPushSender(&push.HTTPSenderConfig{AllowPrivateNetworks: true})))
	mux.Handle("/rpc", a2asrv.NewJSONRPCHandler(handler))
	mux.Handle("/v03", a2av0.NewJSONRPCHandler(handler))
	mux.Handle("/rest/", http.StripPrefix("/rest", a2asrv.NewRESTHandler(handler)))
	mux.Handle("/rest03/", http.StripPrefix("/rest03", a2av0.NewRESTHandler(handler)))
	mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewAgentCardHandler(a2av0.NewStaticAgentCardProducer(card)))
	fmt.Println(base)
	go func() {
		// It ends the process when stdin does, so that no server is left behind.
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	log.Fatal(http.Serve(l, mux))
}

func newCard(base string, streaming bool) *a2a.AgentCard {
	v03 := a2a.NewAgentInterface(base+"/v03", a2a.TransportProtocolJSONRPC)
	v03.ProtocolVersion = a2av0.Version
	rest03 := a2a.NewAgentInterface(base+"/rest03", a2a.TransportProtocolHTTPJSON)
	rest03.ProtocolVersion = a2av0.Version
	return &a2a.AgentCard{
		Name:        "a2a-go v2",
		Description: "an agent of a2a-go v2.4.0",
		Version:     "2.4.0",
		SupportedInterfaces: []*a2a.AgentInterface{
			a2a.NewAgentInterface(base+"/rpc", a2a.TransportProtocolJSONRPC), v03,
			a2a.NewAgentInterface(base+"/rest", a2a.TransportProtocolHTTPJSON), rest03,
		},
		DefaultInputModes:  []string{"text"},
		DefaultOutputModes: []string{"text"},
		Capabilities:       a2a.AgentCapabilities{Streaming: streaming, PushNotifications: true, ExtendedAgentCard: true},
	}
}

// A gate admits calls as one user's, because the SDK lists tasks only for users.
type gate struct {
	a2asrv.PassthroughCallInterceptor
}

func (gate) Before(ctx context.Context, call *a2asrv.CallContext, _ *a2asrv.Request) (context.Context, any, error) {
	call.User = a2asrv.NewAuthenticatedUser("tester", nil)
	return ctx, nil, nil
}
