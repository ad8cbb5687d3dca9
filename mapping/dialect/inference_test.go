package dialect

import (
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// What looks like inference-gateway's data, and is another agent's, is not read.
func TestInferenceData(t *testing.T) {
	const calls = `{"data":{"tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{}"}}]}}`
	for _, v := range []struct {
		id, data string
		made     int
		again    bool
	}{
		{"assistant-stream-1", calls, 1, false},
		{"m1", calls, 0, false},
		{"assistant-stream-1", `{"data":{"tool_calls":[{}],"more":1}}`, 0, false},
		{"assistant-stream-1", `{"data":{"status":"TASK_STATE_FAILED"}}`, 0, false},
		{"streaming-error-1", `{"data":{"status":"TASK_STATE_FAILED","error":"quota"}}`, 0, true},
		{"m1", `{"data":{"status":"TASK_STATE_FAILED","error":"quota"}}`, 0, false},
		{"task-interrupted-1", `{"data":{"status":"TASK_STATE_CANCELLED"}}`, 0, true},
		{"task-interrupted-1", `{"data":{"status":"TASK_STATE_CANCELLED","by":"me"}}`, 0, false},
	} {
		made, again := inferenceData(&a2a.Part{Kind: a2a.PartData, Data: a2a.JSON(v.data)}, v.id)
		if len(made) != v.made || again != v.again {
			t.Errorf("%s %s: %d calls, the state again: %v", v.id, v.data, len(made), again)
		}
	}
}
