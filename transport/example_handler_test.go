package transport_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/a2astdio/a2astdio/transport"
)

// inProcess carries requests to an agent in the same process, without a socket and
// without a buffer: the client reads each write of the agent at once.
type inProcess struct{ agent http.Handler }

func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	body, out := io.Pipe()
	w := &pipeResponse{header: http.Header{}, out: out, status: make(chan int, 1)}
	go func() { // ends with the agent's handler
		p.agent.ServeHTTP(w, r)
		w.WriteHeader(http.StatusOK)
		out.Close()
	}()
	return &http.Response{StatusCode: <-w.status, Header: w.header, Body: body, Request: r}, nil
}

type pipeResponse struct {
	header http.Header
	out    *io.PipeWriter
	once   sync.Once
	status chan int
}

func (w *pipeResponse) Header() http.Header    { return w.header }
func (w *pipeResponse) WriteHeader(status int) { w.once.Do(func() { w.status <- status }) }
func (w *pipeResponse) Flush()                 {}
func (w *pipeResponse) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.out.Write(b)
}

// An agent in the same process, by its http.Handler.
func ExampleClientOptions_roundTripper() {
	agent := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"name":"neighbour","url":"http://neighbour.invalid/","protocolVersion":"0.3.0"}`)
	})
	client, err := transport.NewClient("http://neighbour.invalid", &transport.ClientOptions{RoundTripper: inProcess{agent}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	card, err := client.Card(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(card.Name)
	// Output: neighbour
}
