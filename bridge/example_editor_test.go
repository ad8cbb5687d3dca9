package bridge_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/demo"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/transport"
)

// A printer is an editor that prints what the agent says, and approves nothing.
type printer struct{}

func (printer) Show(_ context.Context, steps []mapping.Step) error {
	for _, s := range steps { // valid until Show returns
		switch s.Kind {
		case mapping.StepText: // a chunk: the next one goes on with it, unless Shown differs
			fmt.Print(s.Text)
		case mapping.StepNotice: // has its own line feeds
			fmt.Print(s.Text)
		case mapping.StepTool:
			fmt.Printf("\ntool: %s %s\n", s.Tool.Name, s.Tool.Status)
		}
	}
	return nil
}

func (printer) Ask(_ context.Context, questions []mapping.Question) (answers []mapping.Answer, err error) {
	for _, q := range questions {
		answers = append(answers, mapping.Answer{Call: q.Call, OptionID: q.Reject().ID})
	}
	return answers, nil
}

// An editor of one's own: it shows steps, and answers what the agent asks.
func ExampleEditor() {
	greeter := demo.New(&demo.Options{Pace: -1})
	defer greeter.Close()
	server := httptest.NewServer(greeter)
	defer server.Close()
	client, err := transport.NewClient(server.URL, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	agent := bridge.NewAgent(&bridge.Options{Client: client})
	defer agent.Close()

	result, err := agent.NewSession("/").Prompt(context.Background(), []acp.ContentBlock{{Type: "text", Text: "hello"}}, printer{})
	fmt.Println()
	fmt.Println(result.StopReason, result.State, err)
	// Output:
	// Hello from the a2astdio demo agent.
	// end_turn completed <nil>
}
