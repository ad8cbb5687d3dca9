package transport

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// Pages as servers send them, and answers that are no page.
func TestListAnswers(t *testing.T) {
	for _, test := range []struct{ result, want, err string }{
		{result: `{"tasks":[{"id":"a","contextId":"c","status":{"state":"TASK_STATE_WORKING"}},{"kind":"task","id":"b","status":{"state":"completed"}}],"nextPageToken":"n","pageSize":2,"totalSize":3}`,
			want: `a=working b=completed next="n" total=3`},
		{result: `{"tasks":[{"id":"a","status":{"state":"working"}}],"next_page_token":"n","total_size":"7"}`, want: `a=working next="n" total=7`},
		{result: `{"tasks":null,"nextPageToken":null}`, want: `next="" total=0`},
		{result: `{}`, want: `next="" total=0`},
		{result: `[{"id":"a","status":{"state":5}}]`, want: `a=canceled next="" total=0`},
		{result: `{"tasks":[null,7,{"kind":"dream","taskId":"d"}]}`, want: `?= ?= ?d= next="" total=0`},
		{result: `null`, err: "agent: URL/rpc answered tasks/list with something that is no list of tasks: null"},
		{result: `"no"`, err: `agent: URL/rpc answered tasks/list with something that is no list of tasks: "no"`},
	} {
		agent := newWireAgent(t, wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":`+test.result+`}`))
		page, err := wireClient(t, agent.URL, nil).List(t.Context(), a2a.TaskQuery{})
		if err != nil {
			if got := strings.ReplaceAll(err.Error(), agent.URL, "URL"); got != test.err {
				t.Errorf("%s: %s", test.result, got)
			}
			continue
		}
		var got strings.Builder
		for i := range page.Tasks {
			ev := page.Tasks[i].Clone()
			if ev.Kind != a2a.EventTask {
				got.WriteString("?")
			}
			fmt.Fprintf(&got, "%s=%s ", ev.TaskID, ev.State)
		}
		fmt.Fprintf(&got, "next=%q total=%d", page.NextPageToken, page.TotalSize)
		if got.String() != test.want {
			t.Errorf("%s: got %s", test.result, got.String())
		}
	}
	// Most 0.3 agents do not have the method; their error is returned.
	agent := newWireAgent(t, wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method not found"}}`))
	_, err := wireClient(t, agent.URL, nil).List(t.Context(), a2a.TaskQuery{})
	if e := (*a2a.Error)(nil); !errors.As(err, &e) || e.Code != a2a.CodeMethodNotFound {
		t.Error(err)
	}
}

// Both versions' shapes of a configuration are read alike.
func TestPushAnswers(t *testing.T) {
	want := a2a.PushConfig{TaskID: "t", ID: "c1", URL: "u", Token: "tok",
		Authentication: &a2a.PushAuthentication{Schemes: []string{"Bearer"}, Credentials: "sec"}}
	v03 := `{"taskId":"t","pushNotificationConfig":{"id":"c1","url":"u","token":"tok","authentication":{"schemes":["Bearer"],"credentials":"sec"}}}`
	v1 := `{"taskId":"t","id":"c1","authentication":{"credentials":"sec","scheme":"Bearer"},"token":"tok","url":"u"}`
	agent := newWireAgent(t, nil)
	c := wireClient(t, agent.URL, nil)
	answer := func(result string) {
		agent.answer = wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1`+result+`}`)
	}
	for _, raw := range []string{v03, v1} {
		answer(`,"result":` + raw)
		if got, err := c.GetPush(t.Context(), "t", "c1"); err != nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: %+v %v", raw, got, err)
		}
	}
	for raw, n := range map[string]int{
		`,"result":[` + v03 + `,` + v03 + `]`: 2, `,"result":{"configs":[` + v1 + `,null,{}]}`: 1,
		`,"result":{}`: 0, `,"result":[]`: 0, `,"result":null`: 0, ``: 0,
	} {
		answer(raw)
		if got, err := c.ListPush(t.Context(), "t"); err != nil || len(got) != n || n > 0 && !reflect.DeepEqual(got[n-1], want) {
			t.Errorf("%s: %+v %v", raw, got, err)
		}
	}
	for _, raw := range []string{``, `,"result":null`, `,"result":{}`} {
		answer(raw)
		if err := c.DeletePush(t.Context(), "t", "c1"); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
		if _, err := c.GetPush(t.Context(), "t", "c1"); err == nil {
			t.Errorf("%s: a configuration", raw)
		}
	}
	answer(`,"result":{"taskId":7,"pushNotificationConfig":{"url":null,"id":{},"authentication":[],"token":1}}`)
	if got, err := c.GetPush(t.Context(), "t", "c1"); err != nil || !reflect.DeepEqual(*got, a2a.PushConfig{TaskID: "7", Token: "1"}) {
		t.Errorf("%+v %v", got, err)
	}
}

// A list is read page by page to its end; a list without an end is an error.
func TestListPushPages(t *testing.T) {
	agent := newWireAgent(t, func(w http.ResponseWriter, r *http.Request) {})
	agent.card = bothCard
	agent.answer = func(w http.ResponseWriter, r *http.Request) {
		next := fmt.Sprintf(`,"nextPageToken":"p%d"`, len(agent.seen()))
		if len(agent.seen()) == 3 {
			next = ""
		}
		wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"configs":[{"taskId":"t","id":"c","url":"u"}]`+next+`}}`)(w, r)
	}
	c := wireClient(t, agent.URL, nil)
	list, err := c.ListPush(t.Context(), "t")
	if err != nil || len(list) != 3 || !strings.Contains(agent.seen()[2].Body, `"pageToken":"p2"`) {
		t.Error(list, err)
	}
	agent.answer = wireAnswer(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":{"configs":[],"nextPageToken":"round"}}`)
	if _, err := c.ListPush(t.Context(), "t"); err != nil || len(agent.seen()) != 5 {
		t.Error(err, len(agent.seen()))
	}
}
