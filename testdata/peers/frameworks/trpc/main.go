// Command trpc is an agent made with github.com/trpc-group/trpc-a2a-go: A2A 0.3. It
// repeats each prompt, in two pieces of an artifact with the same ID in every task. See
// the README of the module.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"

	"trpc.group/trpc-go/trpc-a2a-go/protocol"
	"trpc.group/trpc-go/trpc-a2a-go/server"
	"trpc.group/trpc-go/trpc-a2a-go/taskmanager"
)

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	base := "http://" + l.Addr().String()
	manager, err := taskmanager.NewMemoryTaskManager(echo{})
	if err != nil {
		log.Fatal(err)
	}
	streaming := true
	made, err := server.NewA2AServer(server.AgentCard{
		Name: "trpc", Description: "an agent of trpc-a2a-go", URL: base + "/", Version: "0.2.5",
		Capabilities:      server.AgentCapabilities{Streaming: &streaming},
		DefaultInputModes: []string{"text"}, DefaultOutputModes: []string{"text"}, Skills: []server.AgentSkill{},
	}, manager)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(base)
	go func() {
		// It ends the process when stdin does, so that no server is left behind.
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	log.Fatal(http.Serve(l, made.Handler()))
}

// echo says what it is told.
type echo struct{}

func (echo) ProcessMessage(_ context.Context, m protocol.Message, _ taskmanager.ProcessOptions, tasks taskmanager.TaskHandler) (*taskmanager.MessageProcessingResult, error) {
	id, err := tasks.BuildTask(nil, m.ContextID)
	if err != nil {
		return nil, err
	}
	events, err := tasks.SubscribeTask(&id)
	if err != nil {
		return nil, err
	}
	go func() { // ends with the answer
		defer events.Close()
		if err := answer(tasks, id, said(m)); err != nil {
			log.Print(err)
		}
	}()
	return &taskmanager.MessageProcessingResult{StreamingEvents: events}, nil
}

func answer(tasks taskmanager.TaskHandler, id, text string) error {
	if err := tasks.UpdateTaskState(&id, protocol.TaskStateWorking, nil); err != nil {
		return err
	}
	pieces := []string{"You said ", text + "."}
	for i, piece := range pieces {
		a := protocol.Artifact{ArtifactID: "answer", Parts: []protocol.Part{protocol.NewTextPart(piece)}}
		if err := tasks.AddArtifact(&id, a, i == len(pieces)-1, i > 0); err != nil {
			return err
		}
	}
	return tasks.UpdateTaskState(&id, protocol.TaskStateCompleted, nil)
}

func said(m protocol.Message) string {
	var b strings.Builder
	for _, p := range m.Parts {
		switch p := p.(type) {
		case protocol.TextPart:
			b.WriteString(p.Text)
		case *protocol.TextPart:
			b.WriteString(p.Text)
		}
	}
	return b.String()
}
