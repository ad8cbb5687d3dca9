package transport

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

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
				c := newOperation(op)
				c.as, c.taskID, c.pushID = op, "t/1", "c:2"
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
