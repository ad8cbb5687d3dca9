package event

import (
	"testing"

	"github.com/tidwall/gjson"
)

// TestOf: both spellings are one event.
func TestOf(t *testing.T) {
	for _, test := range []struct {
		doc                      string
		kind, task, state, id    string
		final, goesOn, canBeLast bool
	}{
		{`{"kind":"status-update","taskId":"t","final":true,"status":{"state":"working","message":{"messageId":"m"}}}`, Status, "t", "working", "m", true, false, true},
		{`{"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_INPUT_REQUIRED"}}}`, Status, "t", "input-required", "", false, false, true},
		{`{"kind":"artifact-update","taskId":"t","append":true,"artifact":{"artifactId":"a"}}`, Artifact, "t", "", "a", false, true, false},
		{`{"artifactUpdate":{"taskId":"t","artifact":{"artifactId":"a"}}}`, Artifact, "t", "", "a", false, false, false},
		{`{"id":"t","status":{"state":"completed"}}`, Task, "t", "completed", "", false, false, true},
		{`{"id":"t","status":{"state":"failed"},"final":true}`, Status, "t", "failed", "", true, false, true},
		{`{"id":"t","artifact":{"artifactId":"a"}}`, Artifact, "t", "", "a", false, false, false},
		{`{"task":{"id":"t","status":{"state":"TASK_STATE_WORKING"}}}`, Task, "t", "working", "", false, false, false},
		{`{"message":{"messageId":"m","taskId":"t"}}`, Message, "t", "", "m", false, false, true},
		{`{"kind":"message","messageId":"m"}`, Message, "", "", "m", false, false, true},
		{`{"name":"a card"}`, "", "", "", "", false, false, false},
	} {
		e, failed := OfPayload(gjson.Parse(`{"jsonrpc":"2.0","id":1,"result":` + test.doc + `}`))
		if failed || e.Kind != test.kind || e.Task != test.task || e.State != test.state || e.ID() != test.id || e.Final != test.final || e.Append != test.goesOn || e.Ends() != test.canBeLast {
			t.Errorf("%s is %+v", test.doc, e)
		}
	}
	if _, failed := OfPayload(gjson.Parse(`{"error":{"code":1}}`)); !failed {
		t.Error("an error is an event")
	}
}

// TestAbout: the task that a request is about, also where the agent's own path has the word.
func TestAbout(t *testing.T) {
	for path, want := range map[string]string{"/v1/tasks/t1:cancel": "t1", "/tasks/t1/pushNotificationConfigs/c": "t1", "/tasks/agent/v1/tasks/t1": "t1", "/tasks/t1?historyLength=1": "t1", "/v1/tasks": "", "/tasks/urn:task:1": "urn:task:1", "/tasks/urn:task:1:cancel": "urn:task:1"} {
		if got := About(gjson.Result{}, path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
