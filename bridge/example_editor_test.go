package bridge_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/a2astdio/a2astdio/bridge"
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
	server := httptest.NewServer(http.HandlerFunc(greets))
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
	// Good morning
	// end_turn completed <nil>
}

// greets is an agent.
func greets(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		fmt.Fprintf(w, `{"name":"greeter","url":"http://%s/","protocolVersion":"0.3.0","capabilities":{"streaming":true}}`, r.Host)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, result := range []string{
		`{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"working","message":{"kind":"message","role":"agent","messageId":"m","parts":[{"kind":"text","text":"Good "}]}}}`,
		`{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"working","message":{"kind":"message","role":"agent","messageId":"m","parts":[{"kind":"text","text":"morning"}]}}}`,
		`{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"completed"},"final":true}`,
	} {
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":%s}\n\n", result)
	}
}
