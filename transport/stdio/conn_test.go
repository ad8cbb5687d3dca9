package stdio

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"os"
	"runtime"
	"strconv"
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
	// If the library logs anything else than an answer that nobody waits for, it is our bug: see logFails.
	return jsonrpc2.NewConn(ctx, s, nil, jsonrpc2.SetLogger(log.New(logFails{}, "", 0)))
}

type logFails struct{}

func (logFails) Write(p []byte) (int, error) {
	if !bytes.HasPrefix(p, []byte("jsonrpc2: ignoring response")) {
		panic("the library logged: " + string(p))
	}
	return len(p), nil
}

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

// TestLines plays testdata/lines.txt: lines that an editor sends, behind "> ", and what it is answered, behind "< ".
func TestLines(t *testing.T) {
	brackets := `["` + strings.Repeat("[", 2000) + `\"["` + strings.Repeat(",[]", 2000) + `]`
	checkLines(t, "many brackets are not depth", `{"id":1,"method":"m","params":`+brackets+`}`, `{"id":1,"result":`+brackets+`,"jsonrpc":"2.0"}`)
	checkLines(t, "deep", `{"id":1,"method":"m","params":`+strings.Repeat("[", 1e6),
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"editor: this line nests deeper than 1000 levels: send flatter params"}}`)
	in, out := "", ""
	for _, long := range []string{strings.Repeat("a", 2*lineBuffer), strings.Repeat("b", lineBuffer)} {
		in += `{"id":1,"method":"m","params":["` + long + `"]}` + "\n"
		out += `{"id":1,"result":["` + long + `"],"jsonrpc":"2.0"}` + "\n"
	}
	checkLines(t, "two long lines", strings.TrimSuffix(in, "\n"), strings.TrimSuffix(out, "\n"))

	for _, text := range strings.Split(string(must.Get(os.ReadFile("testdata/lines.txt"))(t)), "\n== ")[1:] {
		name, text, _ := strings.Cut(text, "\n> ")
		in, out, _ := strings.Cut(strings.TrimRight(text, "\n"), "\n< ")
		if strings.HasPrefix(in, `"`) {
			in = must.Get(strconv.Unquote(in))(t)
		}
		checkLines(t, name, in, out)
	}
}

// checkLines: nothing may end the connection, so a request behind the lines is answered, too; how the bytes arrive does
// not matter.
func checkLines(t *testing.T, name, in, out string) {
	in, out = in+"\n"+`{"jsonrpc":"2.0","id":"after","method":"m"}`+"\n", strings.TrimPrefix(out+"\n", "\n")+`{"id":"after","result":"ok","jsonrpc":"2.0"}`
	for how, r := range map[string]io.Reader{"whole": strings.NewReader(in), "byte by byte": iotest.OneByteReader(strings.NewReader(in))} {
		must.Equal(t, strings.Join(talk(t, r, MaxLine), "\n"), out, name, how)
	}
}

func TestIDsComeBackAsTheyWere(t *testing.T) {
	for id := range strings.Lines(string(must.Get(os.ReadFile("testdata/ids.txt"))(t))) {
		id = strings.TrimSuffix(id, "\n")
		checkLines(t, id, `{"method":"m","id": `+id+` }`, `{"id":`+id+`,"result":"ok","jsonrpc":"2.0"}`)
	}
}

// An editor's answer reaches our call in every spelling of its id; nothing else does.
func TestAnswers(t *testing.T) {
	const unreadable = "jsonrpc2: code -32603 message: editor: its answer cannot be read: "
	tests := must.Table[struct{ Name, In, Want string }](t, "testdata/answers.txt")
	for _, test := range tests {
		t.Run(test.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, editor := io.Pipe()
				var out bytes.Buffer
				s := NewConn(r, &out, nil)
				conn := rpcConn(t.Context(), s, s.echo)
				defer conn.Close()
				defer editor.Close()
				call := must.Get(conn.DispatchCall(t.Context(), "ask", nil))(t)
				synctest.Wait()
				must.Equal(t, out.String(), `{"id":0,"jsonrpc":"2.0","method":"ask"}`+"\n", "asked")
				out.Reset()
				io.WriteString(editor, test.In+"\n"+`{"id":0,"method":"theirs"}`+"\n")
				var result json.RawMessage
				got := ""
				if err := call.Wait(t.Context(), &result); err != nil {
					got = err.Error()
				} else {
					got = string(result)
				}
				if got != test.Want && (test.Want != unreadable || !strings.HasPrefix(got, unreadable)) {
					t.Errorf("got  %s\nwant %s", got, test.Want)
				}
				synctest.Wait()
				must.Equal(t, out.String(), `{"id":0,"result":"ok","jsonrpc":"2.0"}`+"\n", "an answer was answered")
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
	for _, test := range must.Table[struct{ In, Want string }](t, "testdata/values.txt") {
		w := &writer{}
		s := NewConn(strings.NewReader(""), w, nil)
		err := s.WriteObject(raw(test.In))
		must.Do(t, s.Flush(t.Context()))
		s.Close()
		must.Equal(t, w.all(), strings.TrimPrefix(test.Want+"\n", "\n"), test.In)
		must.Equal(t, err != nil, test.Want == "", test.In)
	}
}

type raw string

func (r raw) MarshalJSON() ([]byte, error) { return []byte(r), nil }
