// V1client is a client made with a2a-go v2, unchanged: it sends its second argument to
// the agent at its first, and writes a line for each event.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
)

func main() {
	ctx := context.Background()
	card, err := agentcard.DefaultResolver.Resolve(ctx, os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	client, err := a2aclient.NewFromCard(ctx, card)
	if err != nil {
		log.Fatal(err)
	}
	var task a2a.TaskID
	message := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(os.Args[2]))
	for event, err := range client.SendStreamingMessage(ctx, &a2a.SendMessageRequest{Message: message}) {
		if err != nil {
			log.Fatal(err)
		}
		switch e := event.(type) {
		case *a2a.Task:
			task = e.ID
			fmt.Println("task", e.Status.State)
		case *a2a.TaskStatusUpdateEvent:
			fmt.Println("status", e.Status.State)
		case *a2a.TaskArtifactUpdateEvent:
			fmt.Println("artifact", e.Artifact.Parts[0].Text())
		case *a2a.Message:
			fmt.Println("message", e.Parts[0].Text())
		}
	}
	if task != "" {
		t, err := client.GetTask(ctx, &a2a.GetTaskRequest{ID: task})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("in the end", t.Status.State)
	}
}
