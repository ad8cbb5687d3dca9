package cli

import (
	"cmp"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/demo"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/internal/test/signin"
)

// scriptAgents are the scripts' agents, by the variable with their URL. end ends their
// work before their servers are closed, which wait for it.
func scriptAgents() (agents map[string]http.Handler, end func()) {
	agent := demo.New(&demo.Options{Pace: -1})
	guarded := demo.New(&demo.Options{Pace: -1, Auth: demo.AuthBearer, Secret: "hunter2-right"})
	release := make(chan struct{})
	end = func() {
		close(release)
		agent.Close()
		guarded.Close()
	}
	silent := func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-release:
		}
	}
	return map[string]http.Handler{
		"AGENT": agent,
		"TOKEN": guarded, "TOKEN2": guarded,
		"LOGIN": signin.Guard(agent),
		"AUTH": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Gateway") != "open sesame, please" {
				w.Header().Set("WWW-Authenticate", "Bearer")
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			agent.ServeHTTP(w, r)
		}),
		"SILENT": http.HandlerFunc(silent),
		// Its card is there, and nothing else.
		"MUTE": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				silent(w, r)
				return
			}
			agent.ServeHTTP(w, r)
		}),
	}, end
}

// A canned agent answers as a file says: as the first of its blocks that fits. Empty lines separate
// blocks, of which the lines are
//
//	VERB PATH [BODY]   the request's verb, and regular expressions of its path and body; or
//	without NAME: VALUE  for requests that do not have this header
//	STATUS TYPE        the answer's; of a redirect, where to
//	TEXT               of the answer: $URL is the agent's, $ID the request's, $SHOWN what was
//	                   shown to it as Authorization and X-Key, in words that are no secret
type canned []string

func (c canned) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	for _, block := range c {
		which, answer, _ := strings.Cut(strings.TrimSpace(block), "\n")
		head, text, _ := strings.Cut(answer, "\n")
		if !fits(which, r, body) {
			continue
		}
		status, label, _ := strings.Cut(head, " ")
		code, err := strconv.Atoi(status)
		if err != nil {
			panic(block)
		}
		w.Header().Set("Content-Type", label)
		if code == http.StatusFound {
			w.Header().Set("Location", label)
		}
		w.WriteHeader(code)
		id := cmp.Or(gjson.GetBytes(body, "id").Raw, "null")
		shown := strings.TrimSpace(strings.ReplaceAll(r.Header.Get("Authorization")+" "+r.Header.Get("X-Key"), "-", " "))
		strings.NewReplacer("$URL", "http://"+r.Host, "$ID", id, "$SHOWN", shown).WriteString(w, strings.TrimSuffix(text, "\n")+"\n")
		if label == "text/event-stream" {
			io.WriteString(w, "\n")
		}
		return
	}
	http.NotFound(w, r)
}

// fits reports whether a block is about a request.
func fits(which string, r *http.Request, body []byte) bool {
	if header, ok := strings.CutPrefix(which, "without "); ok {
		name, value, _ := strings.Cut(header, ": ")
		return r.Header.Get(name) != value
	}
	verb, rest, _ := strings.Cut(which, " ")
	path, said, _ := strings.Cut(rest, " ")
	return verb == r.Method && regexp.MustCompile(path).MatchString(r.URL.Path) && regexp.MustCompile(said).Match(body)
}

// serveCanned is the command agent NAME FILE.
func serveCanned(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: agent NAME FILE")
	}
	server := httptest.NewServer(canned(strings.Split(ts.ReadFile(args[1]), "\n\n")))
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL)
}

// pastedSession is the documentation's session, which can be pasted into a shell.
func pastedSession(t *testing.T) []byte {
	doc := must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "protocol-a2a-lines.md")))(t)
	_, rest, ok := strings.Cut(string(doc), "```sh\n")
	block, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatal("the documentation has no session")
	}
	return []byte(block)
}

// talkTimeout is for a line that never comes.
const talkTimeout = time.Minute
