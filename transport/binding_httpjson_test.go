package transport

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// aCall is an operation, about a task.
func aCall(op opKind, set func(*operation)) *operation {
	c := newOperation(op)
	c.taskID, c.pushID = "t/1", "c:2"
	if set != nil {
		set(c)
	}
	return c
}

// Answers in shapes that are not in the recordings, but are legal or come from gateways.
func TestHTTPJSONStrangers(t *testing.T) {
	const task = `{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}`
	for _, test := range []struct {
		name, version string
		op            opKind
		status        int
		body          string
		want          string
	}{
		{"a wrapped task where a bare one is usual", "1.0", opGet, 200, `{"task":` + task + `}`, "task t working"},
		{"a bare task where a wrapped one is usual", "1.0", opSend, 201, task, "task t working"},
		{"members in another order, nulls", "1.0", opGet, 202, `{"status":{"message":null,"state":"TASK_STATE_WORKING"},"artifacts":null,"id":"t"}`, "task t working"},
		{"numeric enums", "0.3", opGet, 200, `{"id":"t","status":{"state":2}}`, "task t working"},
		{"JSON-RPC's spelling in 0.3", "0.3", opSend, 200, `{"kind":"task","id":"t","status":{"state":"working"}}`, "task t working"},
		{"JSON-RPC's envelope", "1.0", opSend, 200, `{"jsonrpc":"2.0","id":1,"result":{"task":` + task + `}}`, "task t working"},
		{"google.rpc without A2A's reason", "1.0", opGet, 404, `{"error":{"code":404,"status":"NOT_FOUND","message":"x"}}`, "-32001 404 x"},
		{"the same of a front end that has no such page", "1.0", opGet, 404, `{"error":{"code":404,"message":"Not Found"}}`, "0 404"},
		{"somebody else's domain", "1.0", opGet, 403, `{"error":{"code":403,"status":"PERMISSION_DENIED","message":"x","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"other.example"}]}}`, "0 403 x"},
		{"problem details", "1.0", opList, 400, `{"type":"about:blank","title":"Bad Request","detail":"status","status":400}`, "0 400 Bad Request: status"},
		{"a message alone", "0.3", opCancel, 409, `{"message":"Task t cannot be canceled"}`, "-32002 409 Task t cannot be canceled"},
		{"a router's message", "0.3", opGet, 404, `{"message":"The route v1/tasks/t could not be found."}`, "0 404"},
		{"a message with the name of a task", "0.3", opGet, 404, `{"message":"Task tenants/x/tasks/t was not found"}`, "-32001 404 Task tenants/x/tasks/t was not found"},
		{"a message beside a mark", "0.3", opSend, 400, `{"error":true,"message":"no parts"}`, "-32602 400 no parts"},
		{"a gateway's message", "0.3", opGet, 404, `{"message":"no Route matched with those values"}`, "0 404"},
		{"details that are no list", "1.0", opSend, 400, `{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"x","details":"y"}}`, "-32602 400 x"},
		{"a reason in a nest", "1.0", opSend, 400, `{"error":{"code":400,"message":"x","details":[[],1,{"domain":1,"reason":{}}]}}`, "0 400 x"},
		{"a page", "1.0", opGet, 200, `<html>`, "none"},
	} {
		w := httpWay(test.version)
		c := aCall(test.op, func(c *operation) { c.as = c.kind })
		result, refusal := w.kind.result(c, test.status, test.body, test.body[0] != '<')
		got := "none"
		switch {
		case refusal != nil:
			got = strings.TrimSpace(fmt.Sprintf("%d %d %s", refusal.Code, refusal.HTTPStatus, refusal.Message))
		case result != nil:
			var ev a2a.Event
			w.protocol.decode(string(result), &ev)
			got = fmt.Sprintf("%s %s %s", []string{"unknown", "task"}[min(int(ev.Kind), 1)], ev.TaskID, ev.State)
		case test.status >= http.StatusMultipleChoices:
			got = fmt.Sprintf("0 %d", test.status) // the exchange says what it is
		}
		if got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

// TestHTTPEnvelope: an event of a stream may be in JSON-RPC's envelope.
func TestHTTPEnvelope(t *testing.T) {
	w, ev := httpWay("1.0"), a2a.Event{}
	const data = `{"jsonrpc":"2.0","id":"http","result":{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}}`
	if err := w.kind.event(w.protocol, data, false, &ev); err != nil || ev.TaskID != "t" || ev.State != a2a.StateWorking {
		t.Errorf("read as %+v, %v", ev, err)
	}
}

// FuzzHTTPJSON: no answer causes a panic, and converted answers are still JSON.
func FuzzHTTPJSON(f *testing.F) {
	f.Add(`{"task":{"id":"t","status":{"state":"TASK_STATE_WORKING","update":{"content":[{"data":{"data":1}},{"file":{"fileWithBytes":"YUdWc2JHOD0="}}]}}}}`)
	f.Add(`{"error":{"code":1,"details":[{"domain":"a2a-protocol.org","reason":"TASK_NOT_FOUND"}]}}`)
	f.Add(`{"name":"tasks/a/pushNotificationConfigs/b","pushNotificationConfig":{"id":""}}`)
	f.Add(`[{"tasks":[{}]}]`)
	f.Fuzz(fuzzHTTPJSON)
}

func fuzzHTTPJSON(t *testing.T, data string) {
	if !rawjson.Valid([]byte(data)) {
		return
	}
	for _, version := range []string{"1.0", "0.3"} {
		w := httpWay(version)
		for op := opSend; op <= opExtendedCard; op++ {
			for _, status := range []int{200, 400, 404, 500} {
				c := aCall(op, func(c *operation) { c.as = op })
				result, _ := w.kind.result(c, status, data, true)
				if result != nil && !rawjson.Valid(result) {
					t.Fatalf("%s %d: %s became %s", version, op, data, result)
				}
			}
		}
		var ev a2a.Event
		w.kind.event(w.protocol, data, false, &ev)
		w.kind.event(w.protocol, data, true, &ev)
	}
}

// One conversation with one server (a2a-go v2.4.0), recorded in two versions over two
// bindings, gives the same events: a caller of the client cannot tell which was used.
func TestWireSpellings(t *testing.T) {
	const dir = "../testdata/wire/spellings"
	for _, spelling := range []struct {
		name    string
		version string
		kind    bindingKind
	}{
		{"v1-jsonrpc", "1.0", bindings()[0]},
		{"v03-jsonrpc", "0.3", bindings()[0]},
		{"v1-httpjson", "1.0", bindings()[1]},
		{"v03-httpjson", "0.3", bindings()[1]},
	} {
		how := httpWay(spelling.version)
		how.kind, how.protocol.proto = spelling.kind, spelling.kind.proto && how.protocol.v03
		var w strings.Builder
		for _, x := range wireExchanges(t, filepath.Join(dir, spelling.name+".txt")) {
			w.WriteString("##\n")
			x.path = "/message:stream"
			wireAnswered(&w, &endpoint{card: new(a2a.Card)}, how, &x)
		}
		got := wireNeutral(w.String())
		if spelling.name == "v03-httpjson" {
			// Here the server itself leaves "final" out, and just ends its stream.
			got = strings.Replace(got, "input-required\n", "input-required ends\n", 1)
		}
		must.Golden(t, *update, filepath.Join(dir, "spellings.golden"), got)
	}
}
