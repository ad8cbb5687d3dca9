package check

import (
	"testing"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/internal/trace/event"
)

// TestOf: both spellings are one event.
func TestOf(t *testing.T) {
	for _, test := range must.Table[struct {
		Doc, Kind, Task, State, ID string
		Final, GoesOn, CanBeLast   bool
	}](t, "testdata/events.txt") {
		e, failed := event.OfPayload(gjson.Parse(`{"jsonrpc":"2.0","id":1,"result":` + test.Doc + `}`))
		if failed || e.Kind != test.Kind || e.Task != test.Task || e.State != test.State || e.ID() != test.ID || e.Final != test.Final || e.Append != test.GoesOn || e.MayEndStream() != test.CanBeLast {
			t.Errorf("%s is %+v", test.Doc, e)
		}
	}
	_, failed := event.OfPayload(gjson.Parse(`{"error":{"code":1}}`))
	must.True(t, failed, "an error is an event")
}

// TestTaskOfRequest: the task that a request is about, also where the agent's own path has the word.
func TestTaskOfRequest(t *testing.T) {
	for path, want := range map[string]string{"/v1/tasks/t1:cancel": "t1", "/tasks/t1/pushNotificationConfigs/c": "t1", "/tasks/agent/v1/tasks/t1": "t1", "/tasks/t1?historyLength=1": "t1", "/v1/tasks": "", "/tasks/urn:task:1": "urn:task:1", "/tasks/urn:task:1:cancel": "urn:task:1"} {
		must.Equal(t, event.TaskOf(gjson.Result{}, path), want, path)
	}
}
