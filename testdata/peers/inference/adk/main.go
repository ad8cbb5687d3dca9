// Command adk is an agent made with github.com/inference-gateway/adk: A2A 0.3, each token as an event with
// the whole task. Its model is a script: see frameworks/README.md.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/inference-gateway/adk/server"
	"github.com/inference-gateway/adk/server/config"
	"github.com/inference-gateway/adk/types"
	"go.uber.org/zap"
)

func main() {
	gin.SetMode(gin.ReleaseMode)
	gin.DefaultWriter = io.Discard // stdout has the URL alone
	// The server listens by itself, on a port that has to be known.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	url := "http://127.0.0.1:" + port
	agent, err := made(url, port)
	if err != nil {
		log.Fatal(err)
	}
	go func() { // ends the process when stdin does, so that no server is left behind
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	go func() { // tells the URL when the server listens
		for range time.Tick(10 * time.Millisecond) {
			if c, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
				c.Close()
				fmt.Println(url)
				return
			}
		}
	}()
	log.Fatal(agent.Start(context.Background()))
}

func made(url, port string) (server.A2AServer, error) {
	log := zap.NewNop()
	var conf config.Config
	conf.AgentName, conf.AgentDescription, conf.AgentVersion = "inference", "an agent of inference-gateway's ADK", "0.26.3"
	conf.ServerConfig.Port = port
	conf.CapabilitiesConfig.Streaming = true
	conf.AgentConfig.MaxChatCompletionIterations = 10
	conf.QueueConfig.CleanupInterval, conf.QueueConfig.MaxSize = time.Minute, 100
	tools := server.NewDefaultToolBox(&config.ToolBoxConfig{})
	tools.AddTool(server.NewBasicTool("weather", "tells the weather of a city", map[string]any{"type": "object"},
		func(context.Context, map[string]any) (string, error) { return "5 degrees in Oslo", nil }))
	model, err := server.NewAgentBuilder(log).WithConfig(&conf.AgentConfig).WithLLMClient(script{}).WithMaxChatCompletion(10).WithToolBox(tools).Build()
	if err != nil {
		return nil, err
	}
	streams := true
	return server.NewA2AServerBuilder(conf, log).WithAgent(model).
		WithStreamingTaskHandler(server.NewDefaultStreamingTaskHandler(log, model)).
		WithBackgroundTaskHandler(server.NewDefaultBackgroundTaskHandlerWithAgent(log, model)).
		WithAgentCard(types.AgentCard{
			Name: conf.AgentName, Description: conf.AgentDescription, Version: conf.AgentVersion, URL: &url, ProtocolVersion: "0.3.0",
			Capabilities:      types.AgentCapabilities{Streaming: &streams},
			DefaultInputModes: []string{"text/plain"}, DefaultOutputModes: []string{"text/plain"}, Skills: []types.AgentSkill{},
		}).Build()
}
