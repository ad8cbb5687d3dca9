package companion

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/internal/mcphttp"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

var update = flag.Bool("update", false, "rewrite what the transcripts expect")

// TestTranscripts plays testdata/*.txt, in virtual time. Inputs are
//
//	E> METHOD PARAMS      the editor says something: "E< shown" is the context that the CLIs get of it
//	E> CLOSE              the companion ends
//	E= open HOW           how the editor answers from here on; "E= close HOW": see [scriptedEditor.answer]
//	one> connect          the CLI "one" begins a session, and opens its stream; "hang" ends that, "listen"
//	                      opens another one, "goodbye" ends the session
//	one> openDiff {}      it calls a tool; closeDiff likewise
//	one> BODY             it posts something
//	any> NAME: VALUE, …   somebody comes with these headers, by five methods; "NAME:" takes one away
//	any> VERSION          somebody begins a session with this version of MCP
//	T+ 30s                time passes
//
// and what each of them gets must be, in between, "E< …", "one< …" and "any< …". @a to @z are files that
// exist, $LONG is a text that is too long, and $CUT what is shown of it. Lines that begin with #
// are comments. -update rewrites the expectations.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			dir, script, got := filesIn(t), string(must.Get(os.ReadFile(file))(t)), ""
			synctest.Test(t, func(t *testing.T) { got = play(t, script, dir) })
			must.Golden(t, *update, file, got)
		})
	}
}

// filesIn makes the files a to z, and returns their directory as it is written in JSON.
func filesIn(t testing.TB) string {
	dir := t.TempDir() + string(filepath.Separator)
	for c := 'a'; c <= 'z'; c++ {
		must.File(t, "", dir+string(c))
	}
	return strings.Trim(quote(dir), `"`)
}

func play(t *testing.T, script, dir string) string {
	w := newWorld(t)
	long := strings.Repeat("é", maxSelectedText)
	place := strings.NewReplacer("@", dir, "$LONG", long)
	name := strings.NewReplacer(dir, "@", long, "$LONG", truncate(long), "$CUT")
	var out strings.Builder
	var names []string
	clis := map[string]*testCLI{}
	for line := range strings.Lines(script) {
		who, what, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if strings.HasSuffix(who, "<") {
			continue // what is expected
		}
		out.WriteString(line)
		var said []string
		switch who {
		case "", "#":
			continue
		case "T+":
			time.Sleep(must.Get(time.ParseDuration(what))(t))
		case "E=":
			to, how, _ := strings.Cut(what, " ")
			w.editor.how[to] = how
		case "E>":
			said = w.editorSays(place.Replace(what))
		case "any>":
			fmt.Fprintln(&out, "any<", w.somebody(what))
		default:
			who = strings.TrimSuffix(who, ">")
			if clis[who] == nil {
				names, clis[who] = append(names, who), &testCLI{world: w}
			}
			clis[who].does(what)
		}
		synctest.Wait()
		asked := w.editor.heard()
		slices.Sort(asked) // which comes first is the scheduler's
		for _, l := range append(said, asked...) {
			fmt.Fprintln(&out, "E<", name.Replace(l))
		}
		for _, who := range names {
			heard := clis[who].heard()
			slices.SortStableFunc(heard, func(a, b string) int { return strings.Compare(a[:1], b[:1]) }) // likewise
			for _, l := range heard {
				fmt.Fprintf(&out, "%s< %s\n", who, name.Replace(l))
			}
		}
	}
	return out.String()
}

func (w *world) editorSays(what string) []string {
	method, params, _ := strings.Cut(what, " ")
	if method == "CLOSE" {
		began := time.Now()
		w.closed.Store(true)
		err := w.server.Close()
		return []string{fmt.Sprintf("closed after %v: %v", time.Since(began), err)}
	}
	if _, err := w.server.Handle(method, json.RawMessage(params)); err != nil {
		return []string{err.Error()}
	} else if method != MethodContextUpdate {
		return nil
	}
	return []string{"shown " + string(must.Get(json.Marshal(w.server.Context()))(w.t))}
}

// somebody tells how one is answered who is no CLI yet.
func (w *world) somebody(with string) string {
	if strings.HasPrefix(with, "{") {
		answer, header := w.do(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+with+`}`)
		return fmt.Sprintf("session %t: %s", header.Get(mcphttp.SessionHeader) != "", answer)
	}
	var headers, answers []string
	for pair := range strings.SplitSeq(with, ", ") {
		name, value, _ := strings.Cut(pair, ":")
		headers = append(headers, name, strings.TrimPrefix(value, " "))
	}
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete, http.MethodPut, http.MethodHead} {
		answer, header := w.do(method, initialize, headers...)
		must.Equal(w.t, strings.Contains(answer, testToken), false, "the token is in", answer)
		answers = append(answers, strings.TrimSpace(method+" "+answer[:3]+" "+header.Get("WWW-Authenticate")+header.Get("Allow")))
	}
	return strings.Join(answers, "; ")
}

// does what a line of a transcript says.
func (c *testCLI) does(what string) {
	word, arguments, _ := strings.Cut(what, " ")
	switch word {
	case "connect":
		c.connect()
	case "hang":
		c.hang()
	case "listen":
		c.listen()
	case "goodbye":
		go func() { c.note(c.do(http.MethodDelete, "", mcphttp.SessionHeader, c.id)) }()
	case "openDiff", "closeDiff":
		what = `{"jsonrpc":"2.0","id":"t","method":"tools/call","params":{"name":"` + word + `","arguments":` + arguments + `}}`
		fallthrough
	default:
		go func() { // ends with the answer; whether a request at the end gets one is luck
			if answer, header := c.post(what); !c.closed.Load() {
				c.note(answer, header)
			}
		}()
	}
}
