// Command adkgo is an agent made with Google's ADK for Go, google.golang.org/adk/v2,
// with a scripted model: below /run its server says what a run says in two artifacts,
// below /event each event in one of its own. See the README of the module.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/server/adka2a/v2"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
)

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	base := "http://" + l.Addr().String()
	mux := http.NewServeMux()
	for path, mode := range map[string]adka2a.OutputMode{"/run": adka2a.OutputArtifactPerRun, "/event": adka2a.OutputArtifactPerEvent} {
		if err := serve(mux, base, path, mode); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(base)
	go func() {
		// It ends the process when stdin does, so that no server is left behind.
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	log.Fatal(http.Serve(l, mux))
}

// serve adds the agent in one of its output modes, in both versions of A2A.
func serve(mux *http.ServeMux, base, path string, mode adka2a.OutputMode) error {
	made, err := newAgent()
	if err != nil {
		return err
	}
	card := &a2a.AgentCard{
		Name: made.Name(), Description: made.Description(), Version: "2.2.0",
		DefaultInputModes: []string{"text/plain"}, DefaultOutputModes: []string{"text/plain"},
		Capabilities: a2a.AgentCapabilities{Streaming: true}, Skills: adka2a.BuildAgentSkills(made),
		SupportedInterfaces: []*a2a.AgentInterface{
			{URL: base + path + "/v1", ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: a2a.Version},
			{URL: base + path + "/v03", ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: a2av0.Version},
		},
	}
	handler := a2asrv.NewHandler(adka2a.NewExecutor(adka2a.ExecutorConfig{
		OutputMode:   mode,
		RunConfig:    agent.RunConfig{StreamingMode: agent.StreamingModeSSE},
		RunnerConfig: runner.Config{AppName: made.Name(), Agent: made, SessionService: session.InMemoryService()},
	}))
	mux.Handle(path+a2asrv.WellKnownAgentCardPath, a2asrv.NewAgentCardHandler(a2av0.NewStaticAgentCardProducer(card)))
	mux.Handle(path+"/v1", a2asrv.NewJSONRPCHandler(handler))
	mux.Handle(path+"/v03", a2av0.NewJSONRPCHandler(handler))
	return nil
}

type city struct {
	City string `json:"city"`
}

type directory struct {
	Path string `json:"path"`
}

type result struct {
	Result string `json:"result"`
}

// newAgent makes the agent: wipe asks before it runs.
func newAgent() (agent.Agent, error) {
	weather, err := functiontool.New(functiontool.Config{Name: "weather", Description: "tells the weather"},
		func(_ agent.Context, c city) (result, error) { return result{"5 degrees in " + c.City}, nil })
	if err != nil {
		return nil, err
	}
	wipe, err := functiontool.New(functiontool.Config{Name: "wipe", Description: "wipes a directory", RequireConfirmation: true},
		func(_ agent.Context, d directory) (result, error) { return result{"wiped " + d.Path}, nil })
	if err != nil {
		return nil, err
	}
	return llmagent.New(llmagent.Config{Name: "scripted", Description: "an agent of ADK for Go with a scripted model", Model: script{},
		Tools: []tool.Tool{weather, wipe}})
}
