package transport

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A wireExchange is a request and its answer as they were recorded.
type wireExchange struct {
	verb, path string
	status     int
	header     http.Header
	body       string
}

// wireExchanges reads a recording: "### VERB URL", then lines of the request behind
// ">", and lines of the answer behind the time at which they came.
func wireExchanges(t testing.TB, file string) (list []wireExchange) {
	t.Helper()
	b := must.Get(os.ReadFile(file))(t)
	var x *wireExchange
	inBody := false
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, "### "); ok {
			verb, target, _ := strings.Cut(rest, " ")
			u := must.Get(url.Parse(target))(t)
			list = append(list, wireExchange{verb: verb, path: u.Path, header: http.Header{}})
			x, inBody = &list[len(list)-1], false
		}
		_, got, ok := strings.Cut(line, "ms] ")
		if !ok || !strings.HasPrefix(line, "[+") || x == nil {
			continue
		}
		name, value, isHeader := strings.Cut(got, ": ")
		switch {
		case inBody:
			if got != "<EOF>" && !strings.HasPrefix(got, "curl:") {
				x.body += got + "\n"
			}
		case got == "":
			inBody = true
		case strings.HasPrefix(got, "HTTP/"):
			x.status, _ = strconv.Atoi(strings.Fields(got)[1])
		case isHeader:
			x.header.Set(name, value)
		}
	}
	return list
}

// operation returns the operation that a request names.
func (x *wireExchange) operation(p protocol) opKind {
	for _, s := range spellings() {
		verb, path := s.route(p)
		named := regexp.MustCompile(regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "[^/:]+") + "$")
		if (verb == x.verb || s.kind.streams() || s.kind == opSend) && named.MatchString(x.path) {
			return s.kind
		}
	}
	return opExtendedCard
}

// wireAnswered writes out the result of an answer, by the client's own code.
func wireAnswered(w *strings.Builder, e *endpoint, how way, x *wireExchange) {
	op := x.operation(how.protocol)
	call := newOperation(op)
	call.effective = op
	c := &Client{}
	at, _ := url.Parse("http://agent.example" + x.path)
	resp := &http.Response{StatusCode: x.status, Header: x.header, Body: io.NopCloser(strings.NewReader(x.body))}
	ex := &exchange{c: c, op: call, url: at, resp: resp}
	call.what, call.ownURL = x.verb+" "+x.path, true
	if x.status < 300 && ex.isStream() {
		s := &Stream{endpoint: e, way: how, x: ex, reader: newFrameReader(resp.Body, true)}
		for {
			frames, err := s.reader.next(nil)
			if err != nil {
				fmt.Fprintf(w, "%v\n", err)
				return
			}
			for i := range frames {
				s.events = s.events[:0]
				if err := s.decode(&frames[i]); err != nil {
					wireError(w, e.explain(how, err))
				}
				for i := range s.events {
					wireEvent(w, &s.events[i])
				}
			}
		}
	}
	result, err := ex.result(how)
	switch {
	case err != nil:
		wireError(w, e.explain(how, err))
	case op == opList:
		page := readPage(how.protocol, parseNode(result))
		fmt.Fprintf(w, "page of %d, next %q, total %d\n", len(page.Tasks), page.NextPageToken, page.TotalSize)
		for i := range page.Tasks {
			wireEvent(w, &page.Tasks[i])
		}
	case op.aboutPush(), op == opExtendedCard:
		fmt.Fprintf(w, "result of %d bytes\n", len(result))
	default:
		var ev a2a.Event
		how.protocol.decode(string(result), &ev)
		wireEvent(w, &ev)
	}
}

func wireError(w *strings.Builder, err error) {
	fmt.Fprintf(w, "error %v\n", err)
	var agent *a2a.Error
	if errors.As(err, &agent) {
		fmt.Fprintf(w, "  code=%d http=%d data=%s\n", agent.Code, agent.HTTPStatus, wireShort(string(agent.Data)))
	}
}

func httpWay(version string) way {
	v03 := version == "0.3"
	return way{protocol: protocol{v03: v03, proto: v03}, binding: bindings()[1]}
}

// Answers of real servers over HTTP+JSON, and their results.
func TestWireHTTPJSON(t *testing.T) {
	for version, dir := range map[string]string{"1.0": "../testdata/wire/v1-httpjson", "0.3": "../testdata/wire/v03-httpjson"} {
		files, _ := filepath.Glob(filepath.Join(dir, "*.txt"))
		if len(files) == 0 {
			t.Errorf("%s is empty", dir)
		}
		for _, file := range files {
			t.Run(filepath.Base(file), func(t *testing.T) {
				var w strings.Builder
				for _, x := range wireExchanges(t, file) {
					fmt.Fprintf(&w, "## %s %s %d\n", x.verb, x.path, x.status)
					wireAnswered(&w, &endpoint{card: new(a2a.Card)}, httpWay(version), &x)
				}
				must.Golden(t, *update, file+".golden", w.String())
			})
		}
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
				c := newOperation(op)
				c.effective, c.taskID, c.pushID = op, "t/1", "c:2"
				result, _ := w.binding.result(c, status, data, true)
				if result != nil && !rawjson.Valid(result) {
					t.Fatalf("%s %d: %s became %s", version, op, data, result)
				}
			}
		}
		var ev a2a.Event
		w.binding.event(w.protocol, data, false, &ev)
		w.binding.event(w.protocol, data, true, &ev)
	}
}

// One conversation with one server (a2a-go v2.4.0), recorded in two versions over two
// bindings, gives the same events: a caller of the client cannot tell which was used.
func TestWireSpellings(t *testing.T) {
	const dir = "../testdata/wire/spellings"
	for _, spelling := range []struct {
		name    string
		version string
		binding namedBinding
	}{
		{"v1-jsonrpc", "1.0", bindings()[0]},
		{"v03-jsonrpc", "0.3", bindings()[0]},
		{"v1-httpjson", "1.0", bindings()[1]},
		{"v03-httpjson", "0.3", bindings()[1]},
	} {
		how := httpWay(spelling.version)
		how.binding, how.protocol.proto = spelling.binding, spelling.binding.proto && how.protocol.v03
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
