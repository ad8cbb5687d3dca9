package transport

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// One conversation with one server (a2a-go v2.4.0), recorded in two versions over two
// bindings, gives the same events: a caller of the client cannot tell which was used.
func TestWireSpellings(t *testing.T) {
	const dir = "../testdata/wire/spellings"
	golden := filepath.Join(dir, "spellings.golden")
	for _, spelling := range []struct {
		name    string
		version string
		kind    bindingKind
	}{
		{"v1-jsonrpc", "1.0", jsonRPCKind()},
		{"v03-jsonrpc", "0.3", jsonRPCKind()},
		{"v1-httpjson", "1.0", httpJSONKind()},
		{"v03-httpjson", "0.3", httpJSONKind()},
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
		if *wireUpdate && spelling.name == "v1-jsonrpc" {
			if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if spelling.name == "v03-httpjson" {
			// Here the server itself leaves "final" out, and just ends its stream.
			want = bytes.Replace(want, []byte("input-required ends"), []byte("input-required"), 1)
		}
		if got != string(want) {
			t.Errorf("%s differs from %s (-update-wire rewrites it); got\n%s", spelling.name, golden, got)
		}
	}
}
