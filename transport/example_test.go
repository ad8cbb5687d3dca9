package transport_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// answers is an agent that says two words to each prompt.
func answers(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		fmt.Fprintf(w, `{"name":"two words","url":"http://%s/","protocolVersion":"0.3.0","capabilities":{"streaming":true}}`, r.Host)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, result := range []string{
		`{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"working","message":{"kind":"message","role":"agent","messageId":"m","parts":[{"kind":"text","text":"Good morning"}]}}}`,
		`{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"completed"},"final":true}`,
	} {
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":%s}\n\n", result)
	}
}

// A prompt through a Client alone, without the bridge.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(answers))
	defer server.Close()

	client, err := transport.NewClient(server.URL, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	stream, err := client.Send(context.Background(), &a2a.Outgoing{ID: "1", Parts: []a2a.OutPart{{Text: "hello"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stream.Close()
	for {
		events, err := stream.Read()
		for _, e := range events { // valid until the next Read
			var text strings.Builder
			for part := range e.Message.Parts.All() {
				text.WriteString(part.Text)
			}
			fmt.Printf("%s %q\n", e.State, text.String())
		}
		if errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			fmt.Println(err)
			return
		}
	}
	// Output:
	// working "Good morning"
	// completed ""
}
