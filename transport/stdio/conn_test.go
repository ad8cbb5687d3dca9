package stdio

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// echo answers every request at once with its own params.
func (s *Conn) echo(id ID, _ string, params json.RawMessage) {
	switch {
	case id == "":
	case params == nil:
		_ = s.Reply(id, "ok") // after Close
	default:
		_ = s.Reply(id, params)
	}
}

func rpcConn(ctx context.Context, s *Conn, handle func(id ID, method string, params json.RawMessage)) *jsonrpc2.Conn {
	s.Handle(handle)
	// If the library logs anything it is our bug: see logFails.
	return jsonrpc2.NewConn(ctx, s, nil, jsonrpc2.SetLogger(log.New(logFails{}, "", 0)))
}

type logFails struct{}

func (logFails) Write(p []byte) (int, error) { panic("the library logged: " + string(p)) }

// talk feeds input to a real connection, waits until all of it is answered, and returns
// the lines that came out.
func talk(t testing.TB, r io.Reader, maxLine int) []string {
	t.Helper()
	var out bytes.Buffer
	s := NewConn(r, &out, nil)
	s.lines.max = maxLine
	conn := rpcConn(t.Context(), s, s.echo)
	<-s.InputDone()
	must.Do(t, s.Flush(t.Context()))
	conn.Close()
	if out.Len() == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func TestLines(t *testing.T) {
	const (
		ok      = `{"id":1,"result":"ok","jsonrpc":"2.0"}`
		batch   = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"editor: batches are not part of this protocol: send one message a line"}}`
		scalar  = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"editor: this line is JSON, but not an object: send one JSON object a line"}}`
		nullID  = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"editor: the id of a request is a string or a number: leave it out to send a notification"}}`
		silence = ""
	)
	tests := []struct{ name, in, out string }{
		{"request", `{"jsonrpc":"2.0","id":1,"method":"m"}`, ok},
		{"params pass unchanged", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"<é&>","n":1e999}}`, `{"id":1,"result":{"a":"<é&>","n":1e999},"jsonrpc":"2.0"}`},
		{"notification", `{"jsonrpc":"2.0","method":"m"}`, silence},
		{"blank", " \t", silence},
		{"carriage return", "{\"id\":1,\"method\":\"m\"}\r\n\r\n", ok},
		{"byte order mark", "\ufeff{\"id\":1,\"method\":\"m\"}", ok},
		{"spaces around", "  {\"id\" : 1 , \"method\" : \"m\"}\t ", ok},

		{"not JSON", `hello`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"editor: this line is not JSON: invalid character 'h' looking for beginning of value at byte 1: send one JSON object a line"}}`},
		{"cut short", `{"jsonrpc":"2.0","id":7,"meth`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"editor: this line is not JSON: unexpected end of JSON input at byte 29: send one JSON object a line"}}`},
		{"cut short, but it is known whose it is", `{"jsonrpc":"2.0","id":7,"method":"m","params":{`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32700,"message":"editor: this line is not JSON: unexpected end of JSON input at byte 47: send one JSON object a line"}}`},
		{"a bad answer is not a request", `{"jsonrpc":"2.0","id":7,"result":{`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"editor: this line is not JSON: unexpected end of JSON input at byte 34: send one JSON object a line"}}`},
		{"not UTF-8", "{\"id\":1,\"method\":\"m\",\"params\":[\"\xff\"]}", `{"jsonrpc":"2.0","id":1,"error":{"code":-32700,"message":"editor: this line is not UTF-8: send one JSON object a line, in UTF-8"}}`},
		{"deep", `{"id":1,"method":"m","params":` + strings.Repeat("[", 1e6), `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"editor: this line nests deeper than 1000 levels: send flatter params"}}`},
		{"many brackets are not depth", `{"id":1,"method":"m","params":["` + strings.Repeat("[", 2000) + `\"["` + strings.Repeat(",[]", 2000) + `]}`, `{"id":1,"result":["` + strings.Repeat("[", 2000) + `\"["` + strings.Repeat(",[]", 2000) + `],"jsonrpc":"2.0"}`},

		{"two long lines", `{"id":1,"method":"m","params":["` + strings.Repeat("a", 2*lineBuffer) + `"]}` + "\n" + `{"id":1,"method":"m","params":["` + strings.Repeat("b", lineBuffer) + `"]}`,
			`{"id":1,"result":["` + strings.Repeat("a", 2*lineBuffer) + `"],"jsonrpc":"2.0"}` + "\n" + `{"id":1,"result":["` + strings.Repeat("b", lineBuffer) + `"],"jsonrpc":"2.0"}`},

		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"m"}]`, batch},
		{"empty batch", `[]`, batch},
		{"number", `5`, scalar},
		{"null", `null`, scalar},
		{"empty object", `{}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"editor: this message has neither a method nor a result: a request needs a method"}}`},
		{"misspelt method", `{"id":1,"methd":"m"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"editor: this message has neither a method nor a result: a request needs a method"}}`},
		{"method in capitals", `{"id":1,"METHOD":"m"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"editor: this message has neither a method nor a result: a request needs a method"}}`},
		{"method is a number", `{"id":1,"method":5}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"editor: the method is not a string: name it in quotes"}}`},
		{"method and result", `{"id":1,"method":"m","result":{}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"editor: this message has a method and a result: send a request or an answer"}}`},
		{"nulls beside the method", `{"id":1,"method":"m","result":null,"error":null}`, ok},
		{"wrong version", `{"jsonrpc":"1.0","id":1,"method":"m"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"editor: this is not JSON-RPC 2.0: send \"jsonrpc\":\"2.0\""}}`},
		{"version is a number", `{"jsonrpc":2.0,"id":1,"method":"m"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"editor: this is not JSON-RPC 2.0: send \"jsonrpc\":\"2.0\""}}`},
		{"no version", `{"id":1,"method":"m"}`, ok},
		{"unknown members", `{"id":1,"method":"m","Error":1,"reſult":2,"METHOD":3,"meta":null}`, ok},
		{"the last of two counts", `{"id":9,"id":1,"method":5,"method":"m"}`, ok},
		{"escaped key", `{"\u0069d":1,"method":"m"}`, ok},

		{"id null is no notification", `{"id":null,"method":"m"}`, nullID},
		{"id object", `{"id":{},"method":"m"}`, nullID},
		{"id array", `{"id":[1],"method":"m"}`, nullID},
		{"id bool", `{"id":true,"method":"m"}`, nullID},

		{"answer to nothing", `{"jsonrpc":"2.0","id":0,"result":{}}`, silence},
		{"answer to null", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}`, silence},
		{"answer without id", `{"jsonrpc":"2.0","result":null}`, silence},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			// Nothing may end the connection, so a request after it is answered;
			// how the bytes arrive does not matter.
			for how, r := range map[string]func(io.Reader) io.Reader{
				"whole":        func(r io.Reader) io.Reader { return r },
				"byte by byte": iotest.OneByteReader,
			} {
				in := test.in + "\n" + `{"jsonrpc":"2.0","id":"after","method":"m"}` + "\n"
				want := `{"id":"after","result":"ok","jsonrpc":"2.0"}`
				if test.out != silence {
					want = test.out + "\n" + want
				}
				got := strings.Join(talk(t, r(strings.NewReader(in)), MaxLine), "\n")
				if got != want {
					t.Errorf("%s:\ngot  %s\nwant %s", how, got, want)
				}
			}
		})
	}
}

func TestIDsComeBackAsTheyWere(t *testing.T) {
	for _, id := range []string{
		`0`, `1`, `9223372036854775807`, `"a"`, `"1"`, `""`, `"a b"`,
		`-1`, `-0`, `1.5`, `1.0`, `1e3`, `1E+3`, `9223372036854775808`, `18446744073709551615`, `18446744073709551616`, `1e999`,
		`"é"`, `"\u00e9"`, `"<&>"`, `"\u003c"`, `"\\u003c"`, `"\/"`, `"\ud800"`, `"\u2028"`, "\"\u2028\"",
		`"\u0000raw:x"`, `"\u0000raw:\"x\""`, `"\u0000raw:1"`, `"\\u0000raw:x"`, `"raw:x"`,
	} {
		want := `{"id":` + id + `,"result":"ok","jsonrpc":"2.0"}`
		got := talk(t, strings.NewReader(`{"method":"m","id": `+id+` }`), MaxLine)
		if len(got) != 1 || got[0] != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// An editor's answer reaches our call in every spelling of its id; nothing else does.
func TestAnswers(t *testing.T) {
	const unreadable = "jsonrpc2: code -32603 message: editor: its answer cannot be read: "
	tests := []struct{ name, in, want string }{
		{"result", `{"jsonrpc":"2.0","id":0,"result":"yes"}`, `"yes"`},
		{"id as a string", `{"jsonrpc":"2.0","id":"0","result":"yes"}`, `"yes"`},
		{"id as a fraction", `{"jsonrpc":"2.0","id":0.0,"result":"yes"}`, `"yes"`},
		{"null is not 0", `{"id":null,"result":"no"}` + "\n" + `{"id":0,"result":"yes"}`, `"yes"`},
		{"another id", `{"id":1,"result":"no"}` + "\n" + `{"id":0,"result":"yes"}`, `"yes"`},
		{"twice", `{"id":0,"result":"yes"}` + "\n" + `{"id":0,"result":"no"}`, `"yes"`},
		{"result null", `{"id":0,"result":null}`, `null`},
		{"error null", `{"id":0,"error":null}`, `null`},
		{"error null beside the result", `{"id":0,"error":null,"result":"yes"}`, `"yes"`},
		{"wrong version", `{"jsonrpc":"1.0","id":0,"result":"yes"}`, `"yes"`},
		{"error", `{"id":0,"error":{"code":-32800,"message":"gone","data":[1]}}`, `jsonrpc2: code -32800 message: gone`},
		{"error beside a result", `{"id":0,"error":{"code":1,"message":"gone"},"result":null}`, `jsonrpc2: code 1 message: gone`},
		{"error is a string", `{"id":0,"error":"gone"}`, `jsonrpc2: code 0 message: gone`},
		{"error of odd types", `{"id":0,"error":{"code":"1","message":{"a":1}}}`, `jsonrpc2: code 1 message: {"a":1}`},
		{"cannot be decoded", `{"id":0,"result":1e999}`, unreadable},
		{"data cannot be decoded", `{"id":0,"error":{"code":1,"message":"gone","data":1e999}}`, unreadable},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, editor := io.Pipe()
				var out bytes.Buffer
				s := NewConn(r, &out, nil)
				conn := rpcConn(t.Context(), s, s.echo)
				defer conn.Close()
				defer editor.Close()
				call := must.Get(conn.DispatchCall(t.Context(), "ask", nil))(t)
				synctest.Wait()
				if got := out.String(); got != `{"id":0,"jsonrpc":"2.0","method":"ask"}`+"\n" {
					t.Errorf("asked %q", got)
				}
				out.Reset()
				io.WriteString(editor, test.in+"\n"+`{"id":0,"method":"theirs"}`+"\n")
				var result json.RawMessage
				got := ""
				if err := call.Wait(t.Context(), &result); err != nil {
					got = err.Error()
				} else {
					got = string(result)
				}
				if got != test.want && (test.want != unreadable || !strings.HasPrefix(got, unreadable)) {
					t.Errorf("got  %s\nwant %s", got, test.want)
				}
				synctest.Wait()
				if got := out.String(); got != `{"id":0,"result":"ok","jsonrpc":"2.0"}`+"\n" {
					t.Errorf("an answer was answered: %q", got)
				}
			})
		})
	}
}

// longLine is a request of n bytes that is never whole in memory.
func longLine(head string, n int) io.Reader {
	return io.MultiReader(strings.NewReader(head), io.LimitReader(spaces(strings.Repeat(" ", lineBuffer)), int64(n-len(head)-1)), strings.NewReader("}\n"))
}

// spaces are spaces without end.
type spaces string

func (s spaces) Read(p []byte) (int, error) { return copy(p, s), nil }

func TestLongLines(t *testing.T) {
	const refused = `,"error":{"code":-32600,"message":"editor: this line is longer than 33554432 bytes: send less in one message, or the path of a file instead of the file"}}`
	tests := []struct {
		name, head string
		length     int
		want       string
	}{
		{"30 MB", `{"id":1,"method":"m"`, 30 << 20, `{"id":1,"result":"ok","jsonrpc":"2.0"}`},
		{"the longest", `{"id":1,"method":"m"`, MaxLine, `{"id":1,"result":"ok","jsonrpc":"2.0"}`},
		{"one more", `{"id":1,"method":"m"`, MaxLine + 1, `{"jsonrpc":"2.0","id":1` + refused},
		{"40 MB", `{"jsonrpc":"2.0","method":"m","id":"\u0061","params":[`, 40 << 20, `{"jsonrpc":"2.0","id":"\u0061"` + refused},
		{"400 MB", `{"id":1,"method":"m","params":[`, 400 << 20, `{"jsonrpc":"2.0","id":1` + refused},
		{"the id comes too late", `{"method":"m","x":"` + strings.Repeat("x", lineHead) + `","id":1`, 40 << 20, `{"jsonrpc":"2.0","id":null` + refused},
		{"the head ends in the id", `{"method":"m","x":"` + strings.Repeat("x", lineHead-27) + `","id":12`, 40 << 20, `{"jsonrpc":"2.0","id":null` + refused},
		{"an answer", `{"id":1,"result":[`, 40 << 20, `{"jsonrpc":"2.0","id":null` + refused},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			in := io.MultiReader(longLine(test.head, test.length), strings.NewReader(`{"id":2,"method":"m"}`))
			got := talk(t, in, MaxLine)
			runtime.ReadMemStats(&after)
			if len(got) != 2 || got[0] != test.want || got[1] != `{"id":2,"result":"ok","jsonrpc":"2.0"}` {
				t.Errorf("got %q\nwant %s", got, test.want)
			}
			// Doubling up to the limit allocates twice the limit in all.
			if n := after.TotalAlloc - before.TotalAlloc; n > 3*MaxLine {
				t.Errorf("allocated %d MiB", n>>20)
			}
		})
	}
}

// Any value is written as one line of JSON.
func TestWriteObject(t *testing.T) {
	tests := []struct{ in, want string }{
		{"{\n \"id\": 1,\r\n \"result\": {}\n}", `{"id":1,"result":{}}`},
		{`{"id":1,"result":"a < b && c > d \\u003c \\\\u003c \u003c \" \u0001"}`, `{"id":1,"result":"a < b && c > d \\u003c \\\\u003c < \" \u0001"}`},
		{"{\"id\":1,\"result\":\"\xff\"}", "{\"id\":1,\"result\":\"\ufffd\"}"},
		{`[]`, ""},
		{`null`, ""},
		{`{`, ""},
	}
	for _, test := range tests {
		w := &writer{}
		s := NewConn(strings.NewReader(""), w, nil)
		err := s.WriteObject(raw(test.in))
		must.Do(t, s.Flush(t.Context()))
		s.Close()
		if got := strings.Join(w.writes, ""); got != test.want+"\n" && test.want != "" {
			t.Errorf("got %q, want %q", got, test.want)
		} else if (err != nil) != (test.want == "") {
			t.Errorf("%s: %v", test.in, err)
		}
	}
}

type raw string

func (r raw) MarshalJSON() ([]byte, error) { return []byte(r), nil }
