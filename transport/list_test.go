package transport

import (
	"errors"
	"fmt"
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
