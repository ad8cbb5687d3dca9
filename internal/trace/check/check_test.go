package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/internal/trace"
)

// parsed are the documents, for all tests.
var parsed = schemas{}

// A conversation is one of testdata/conversations.txt: as it stands there, and with its names
// replaced by what they stand for.
type conversation struct{ text, script string }

func conversations(t testing.TB) (head string, all []conversation) {
	t.Helper()
	head, rest, _ := strings.Cut(string(must.Get(os.ReadFile(conversationsFile))(t)), "\n\n")
	defined := map[string][]string{}
	for line := range strings.SplitSeq(head, "\n") {
		if def, ok := strings.CutPrefix(line, "def "); ok {
			name, body, _ := strings.Cut(def, " ")
			defined[name] = append(defined[name], body)
		}
	}
	for block := range strings.SplitSeq(strings.TrimSpace(rest), "\n\n") {
		var c conversation
		for line := range strings.SplitSeq(block, "\n") {
			if strings.HasPrefix(line, "= ") {
				continue
			}
			c.text += line + "\n"
			name, args, _ := strings.Cut(line, " ")
			for _, body := range defined[name] {
				rest := args
				for i := 1; strings.Contains(body, fmt.Sprint("$", i)); i++ {
					arg := rest
					if strings.Contains(body, fmt.Sprint("$", i+1)) {
						arg, rest, _ = strings.Cut(rest, " ")
					}
					body = strings.ReplaceAll(body, fmt.Sprint("$", i), arg)
				}
				c.script += body + "\n"
			}
			if defined[name] == nil {
				c.script += line + "\n"
			}
		}
		all = append(all, c)
	}
	return head, all
}

const conversationsFile = "testdata/conversations.txt"

// TestLaws: a correct conversation has no findings, however odd it looks. Each rule finds its
// violation, with the record and the culprit.
func TestLaws(t *testing.T) {
	got, all := conversations(t)
	for _, c := range all {
		got += "\n\n" + strings.TrimSuffix(c.text, "\n")
		for _, found := range talk(c.script) {
			got += "\n= " + found
		}
	}
	must.Golden(t, *update, conversationsFile, got+"\n")
}

// talk checks a conversation, and returns the findings.
func talk(script string) (found []string) {
	every := strings.Contains(script, "\nevery\n")
	c := New(&Options{Report: func(f *Finding) { found = append(found, f.String()) }, Picks: func(f *Finding) bool {
		return every || !strings.Contains(f.Text, "no status.message says") && !strings.Contains(f.Text, "nothing was said")
	}})
	c.schemas = parsed
	n, whole, now := int64(0), true, time.Duration(0)
	add := func(r trace.Record) {
		n++
		r.N, r.Micros = n, now.Microseconds()
		c.Add(&r)
	}
	start := trace.Record{Kind: trace.KindStart, Mode: "bridge"}
	if _, mode, ok := strings.Cut(script, "\nmode "); ok {
		start.Mode, _, _ = strings.Cut(mode, "\n")
		start.Redact = start.Mode == "redact"
	}
	add(start)
	for i, l := range strings.Split(strings.TrimSpace(script), "\n") {
		word, rest, _ := strings.Cut(strings.TrimSpace(l), " ")
		switch word {
		case "E>", "E<":
			r := trace.Record{Kind: trace.KindMessage, Wire: trace.WireEditor, Dir: map[string]string{"E>": trace.DirIn, "E<": trace.DirOut}[word]}
			if !json.Valid([]byte(rest)) {
				r.Text = rest
			} else if strings.HasPrefix(rest, "[") {
				r.JSON = json.RawMessage(rest)
			} else {
				r.JSON = json.RawMessage(strings.Replace(rest, "{", `{"jsonrpc":"2.0",`, 1))
			}
			add(r)
		case "T+":
			d, _ := time.ParseDuration(rest)
			now += d
		case "killed":
			whole = false
		case "anew":
			add(trace.Record{Kind: trace.KindStop})
			n = 0
			add(start)
		default:
			number, rest, _ := strings.Cut(rest, " ")
			x, _ := strconv.ParseInt(number, 10, 64)
			for _, r := range exchanged(word, x, rest) {
				r.Wire, r.Exchange = trace.WireAgent, x
				if r.Kind == trace.KindEvent {
					r.Event = int64(i)
				}
				add(r)
			}
		}
	}
	if whole {
		add(trace.Record{Kind: trace.KindStop})
	}
	return found
}

// exchanged are the records of a line of the agent's wire.
func exchanged(word string, x int64, rest string) []trace.Record {
	first, second, _ := strings.Cut(rest, " ")
	request, response := trace.Record{Kind: trace.KindRequest, HTTP: "POST", URL: "http://agent/"}, trace.Record{Kind: trace.KindResponse, Status: 200}
	version := map[string][]string{"A2a-Version": {"1.0"}}
	switch word {
	case "S:":
		response.Status, _ = strconv.Atoi(rest)
		return []trace.Record{response}
	case "P<":
		return []trace.Record{{Kind: trace.KindEvent, JSON: json.RawMessage(rest)}}
	case "R>":
		return exchanged("A>", x, rest)[:1]
	case "A>":
		if parsed.operation(first).version == "1.0" {
			request.Header = version
		}
		request.Method, request.JSON = first, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, x, first, second)
		return []trace.Record{request, response}
	case "H>":
		words := append(strings.SplitN(second, " ", 3), "", "")
		request.HTTP, request.URL, request.JSON = first, words[0], json.RawMessage(words[2])
		if words[1] == "1.0" {
			request.Header = version
		}
		request.Method = gjson.Get(words[2], "method").Str
		return []trace.Record{request, response}
	case "A:":
		response.Header = map[string][]string{first: {second}}
		return []trace.Record{response}
	case "A-":
		return []trace.Record{{Kind: trace.KindEvent, Text: strings.ReplaceAll(rest, `\x1e`, "\x1e")}}
	case "A<", "A~":
		event := trace.Record{Kind: trace.KindEvent, JSON: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,%s}`, x, strings.TrimSuffix(strings.TrimPrefix(rest, "{"), "}"))}
		if word == "A~" {
			event.Error = "the stream ended within this event"
		}
		return []trace.Record{event}
	case "A=":
		if !json.Valid([]byte(rest)) {
			return []trace.Record{{Kind: trace.KindBody, Text: rest}}
		}
		return []trace.Record{{Kind: trace.KindBody, JSON: json.RawMessage(rest)}}
	case "A.":
		return []trace.Record{{Kind: trace.KindEnd, Reason: first, Error: second}}
	}
	return nil
}

// TestTooManyWords: more text than is compared is not compared.
func TestTooManyWords(t *testing.T) {
	_, all := conversations(t)
	i := slices.IndexFunc(all, func(c conversation) bool { return strings.HasPrefix(c.text, "# a word is lost\n") })
	found := talk(strings.Replace(all[i].script, "one ", strings.Repeat("x", maxWords+1), 1))
	must.True(t, len(found) == 0, "found", found)
}

// TestConversations: conversations with a bridge have no findings, except what the
// agents' cards lack; of the rest of one, whose beginning was moved aside, nothing is found
// that could be there.
func TestConversations(t *testing.T) {
	for _, test := range []struct {
		name   string
		rest   bool
		errors int // about the card
	}{{"approval", false, 3}, {"cut", false, 3}, {"lines-hello", false, 3}, {"approval", true, 0}, {"lines-hello", true, 0}} {
		r := must.Get(trace.Open("../../../testdata/trace/"+test.name+".jsonl", nil))(t)
		c := New(&Options{Picks: func(f *Finding) bool { return !test.rest || f.Who != Agent }, Report: func(f *Finding) {
			if test.rest || f.What != "card" && !(test.name == "cut" && f.Weight == Warning) {
				t.Errorf("%s: %v", test.name, f)
			}
		}})
		for rec, err := range r.All() {
			must.Do(t, err)
			if start := rec.Kind == trace.KindStart; !test.rest || start || rec.N > 12 {
				if test.rest && start {
					rec.N = 12
				}
				c.Add(rec)
			}
		}
		must.Equal(t, c.Errors(), test.errors, test.name, "findings about the card")
	}
}

// TestRedactedTrace: what stands for a text that was left out is nobody's fault.
func TestRedactedTrace(t *testing.T) {
	for _, name := range []string{"approval", "cut", "lines-hello"} {
		open := func() *trace.Reader { return must.Get(trace.Open("../../../testdata/trace/"+name+".jsonl", nil))(t) }
		var redacted bytes.Buffer
		must.Do(t, trace.WriteRedacted(open(), &redacted))
		found := func(r *trace.Reader) (all []string) {
			c := New(&Options{Report: func(f *Finding) { all = append(all, f.String()) }})
			for rec, err := range r.All() {
				must.Do(t, err)
				c.Add(rec)
			}
			slices.Sort(all)
			return all
		}
		must.Equal(t, found(must.Get(trace.NewReader(&redacted))(t)), found(open()), name)
	}
	card := gjson.Parse(`{"supportedInterfaces":[{"url":"<22 bytes>","protocolBinding":"JSONRPC"}]}`)
	must.Equal(t, wrongURL(interfaces(card, true)[0], true), "")
	acp := parsed.get(docACP)
	must.Equal(t, len(acp.validate(acp.defs["PlanEntry"], gjson.Parse(`{"content":"<3 bytes>","priority":"<6 bytes>","status":"pending"}`), "")), 0)
}

// TestAlike: equal findings are counted, and not all reported.
func TestAlike(t *testing.T) {
	reported := 0
	c := New(&Options{Report: func(*Finding) { reported++ }})
	for n := range int64(100) {
		c.Add(&trace.Record{N: n, Kind: trace.KindMessage, Text: "no JSON"})
		c.agent.warn(n, &exchange{method: "tasks/get"}, RuleSchema, "%s", fmt.Sprintf("status.timestamp has no time zone: %q", fmt.Sprint(n)))
	}
	if c.Count() != 200 || reported != 2*maxAlike {
		t.Errorf("%d were counted and %d reported, want 200 and %d", c.Count(), reported, 2*maxAlike)
	}
}

// FuzzChecker: no record makes a Checker panic.
func FuzzChecker(f *testing.F) {
	_, all := conversations(f)
	for i, c := range all {
		f.Add(c.script, all[len(all)-1-i].script)
	}
	f.Fuzz(func(t *testing.T, a, b string) { talk(a + "\n" + b + "\n" + a) })
}
