package transport

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// toy is a third binding: operations are numbers in the path, answers are arrays of a
// word and a value.
type toy struct{}

const bindingToy = "https://example.com/bindings/toy/v1"

func (toy) request(p protocol, c *operation) (*request, error) {
	params, err := p.params(c)
	if err != nil {
		return nil, err
	}
	return &request{verb: http.MethodPut, path: fmt.Sprintf("/%d", c.kind), query: "toy=1", body: params, what: "toy"}, nil
}

func (toy) home(_ protocol, u *url.URL) *url.URL { return u }

func (toy) result(_ *operation, a *answer) (json.RawMessage, *a2a.Error) {
	var said []json.RawMessage
	if json.Unmarshal(a.body, &said) != nil || len(said) != 2 || a.status != http.StatusOK {
		return nil, nil
	}
	if string(said[0]) == `"no"` {
		return nil, &a2a.Error{Code: a2a.CodeTaskNotFound, Message: string(said[1])}
	}
	return said[1], nil
}

func (t toy) event(p protocol, data string, _ bool, ev *a2a.Event) *a2a.Error {
	result, err := t.result(nil, &answer{status: http.StatusOK, body: []byte(data)})
	if err == nil {
		p.decode(string(result), ev)
	}
	return err
}

// A binding is one file and one line of the list: the rest of the client does not know
// which one is used.
func TestToyBinding(t *testing.T) {
	const task = `{"id":"t","status":{"state":"TASK_STATE_WORKING"}}`
	agent := newWireAgent(t, nil)
	agent.card = `{"name":"Toy","supportedInterfaces":[{"url":"%s/toy/","protocolBinding":"` + bindingToy + `","protocolVersion":"1.0"}]}`
	agent.answer = func(w http.ResponseWriter, r *http.Request) {
		switch r.Method + " " + r.RequestURI {
		case fmt.Sprintf("PUT /toy/%d?toy=1", opStream):
			wireSSE("data: [\"yes\",{\"task\":"+task+"}]\n\ndata: [\"no\",1]\n\n")(w, r)
		case fmt.Sprintf("PUT /toy/%d?toy=1", opGet):
			io.WriteString(w, `["yes",`+task+`]`)
		case fmt.Sprintf("PUT /toy/%d?toy=1", opCancel):
			io.WriteString(w, `["no",2]`)
		default:
			wireAnswer(200, "application/json", `{"jsonrpc":"2.0","result":{}}`)(w, r)
		}
	}
	c := wireClient(t, agent.URL, nil)
	c.speak = append(c.speak, bindingKind{toy{}, bindingToy, "toy", false})
	s, err := c.Send(t.Context(), hello())
	if err != nil {
		t.Fatal(err)
	}
	events, err := wireReadAll(s)
	if fmt.Sprint(events, err) != "[1 working] agent: 1 (-32001)" {
		t.Error(events, err)
	}
	if ev, err := c.Get(t.Context(), "t", 3); err != nil || ev.TaskID != "t" {
		t.Error(ev, err)
	}
	var refused *a2a.Error
	if _, err := c.Cancel(t.Context(), "t"); !errors.As(err, &refused) || refused.Code != a2a.CodeTaskNotFound {
		t.Error(err)
	}
	if _, err := c.List(t.Context(), a2a.TaskQuery{}); err == nil || !strings.Contains(err.Error(), "answered toy with") {
		t.Error(err)
	}
	for i, want := range []string{`{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hello"}]}}`, `{"id":"t","historyLength":3}`} {
		if got := agent.seen()[i]; got.Body != want || got.Header.Get("A2A-Version") != "1.0" {
			t.Errorf("got %s, %v", got.Body, got.Header)
		}
	}
}
