package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// TestNames: a message has its method and ID, a reply the method of its request.
func TestNames(t *testing.T) {
	var out bytes.Buffer
	r := New(&out, &Options{})
	r.Tap(false, []byte(`{"jsonrpc":"2.0","id":"a","method":"session/prompt","params":{"id":"x","method":"y"}}`))
	r.Tap(true, []byte(`{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{}}`))
	r.Tap(false, []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
	r.Tap(true, []byte(`{"result":{},"id":"a"}`))
	r.Tap(true, []byte(`{"result":{},"id":"a"}`)) // once too often
	r.Close()
	var got []string
	for _, record := range of(records(t, out.Bytes()), KindMessage) {
		got = append(got, record.Dir+" "+string(record.ID)+" "+record.Method)
	}
	want := []string{`in "a" session/prompt`, `out 1 session/request_permission`, `in 1 session/request_permission`, `out "a" session/prompt`, `out "a" `}
	must.Equal(t, got, want)
}

// TestDecisions: an editor's line names its events, also if two events are equal byte
// for byte. The bridge's decisions stand between the wires.
func TestDecisions(t *testing.T) {
	bodies := []string{"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":1}}\n\n: ping\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":1}}\n\n",
		"data: {\"result\": {\"a\":[\"}\"]} ,\"id\":2,\"jsonrpc\":\"2.0\"}\n\ndata: {\"b\":2}\n\n"}
	server := serveOnce(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, bodies[0])
		bodies = bodies[1:]
	})
	var out bytes.Buffer
	r := New(&out, &Options{Mode: "bridge"})
	for range 2 {
		body := strings.NewReader(`{"id":1001,"method":"message/stream"}`)
		resp := must.Get((&http.Client{Transport: r.Wrap(http.DefaultTransport)}).Post(server.URL, "application/json", body))(t)
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	for i, payload := range []string{`{"a":1}`, `{"a":1}`, `{"a":["}"]}`, `{"b":2}`, `{"unknown":1}`} {
		r.Event(int64(i+1), payload)
	}
	one, two := []byte(`{"method":"session/update","params":1}`), []byte(`{"method":"session/update","params":2}`)
	r.Became([]int64{1, 2, 5}, slices.Concat(one, []byte{'\n'}, two, []byte{'\n'}))
	r.Tap(true, two)
	r.Tap(true, []byte(`{"method":"session/update","params":3}`))
	r.Decide(&Decision{What: DecideAnswer, Why: "the user was asked", Session: "s", Task: "t", Call: "c", Option: "proceed_once", Outcome: "allow_once", By: "user", Attempt: 2})
	r.Decide(&Decision{What: DecideFold, Events: []int64{3, 4}})
	r.Tap(true, one)
	r.Close()
	all := records(t, out.Bytes())
	lines := of(all, KindMessage)
	if want := []EventRef{{1, 1}, {1, 2}}; len(lines) != 3 || !slices.Equal(lines[0].From, want) || lines[1].From != nil || !slices.Equal(lines[2].From, want) {
		t.Errorf("the lines were made of %v, %v, %v", lines[0].From, lines[1].From, lines[2].From)
	}
	if d := of(all, KindDecision); len(d) != 2 || d[0].What != DecideAnswer || d[0].By != "user" || d[0].Option != "proceed_once" || d[0].Attempt != 2 ||
		d[1].What != DecideFold || !slices.Equal(d[1].From, []EventRef{{2, 1}, {2, 2}}) {
		t.Errorf("the decisions are %+v", d)
	}
}

// TestRedact: a redacted trace has no texts, and all the rest.
func TestRedact(t *testing.T) {
	var out bytes.Buffer
	r := New(&out, &Options{Redact: true, Secrets: []string{"hunter2-31"}})
	r.Tap(false, []byte(`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"private"}],"n":[1,{"private":"private","a":null}],"data":[{"id":"x"},"private"],"status":"private words","state":"priv\u00e9"}}`))
	r.Tap(false, []byte(`private`))
	r.Tap(false, []byte(`{"contextId":"of-hunter2-31-1","taskId":"a\/1","mimeType":"text\/plain; charset=utf-8","status":"{\"private\":1}","id":""}`))
	r.Decide(&Decision{What: DecideLost, Why: "the agent has said private"})
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, ": private\n\n")
	}))
	defer agent.Close()
	resp := must.Get((&http.Client{Transport: r.Wrap(http.DefaultTransport)}).Get(agent.URL))(t)
	_, _ = io.ReadAll(resp.Body)
	resp.Body.Close()
	r.Close()
	e := of(records(t, out.Bytes()), KindEvent)
	must.True(t, len(e) == 1 && e[0].Comment == "<9 bytes>", "the comment is in", e)
	all := of(records(t, out.Bytes()), KindMessage)
	want := `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"<7 bytes>"}],"n":[1,{"private":"<7 bytes>","a":null}],"data":[{"id":"x"},"<7 bytes>"],"status":"<13 bytes>","state":"<10 bytes>"}}`
	d := of(records(t, out.Bytes()), KindDecision)
	must.True(t, len(d) == 1 && d[0].Why == "<26 bytes>", "the decision is", d)
	if string(all[0].JSON) != want || all[1].Text != "<7 bytes>" || !all[0].Masked {
		t.Errorf("%s\n%s", all[0].JSON, all[1].Text)
	}
	words := `{"contextId":"of-***-1","taskId":"a\/1","mimeType":"text\/plain; charset=utf-8","status":"<15 bytes>","id":""}`
	must.Equal(t, string(all[2].JSON), words, all[2].JSON)
	for _, redact := range []bool{true, false} { // while it is recorded, and later
		var said, redacted bytes.Buffer
		r = New(&said, &Options{Redact: redact})
		r.Tap(false, []byte(`{"id":"private words","method":"private, too"}`))
		r.Close()
		if redact {
			redacted = said
		} else {
			must.Do(t, WriteRedacted(must.Get(NewReader(&said))(t), &redacted))
		}
		all := of(records(t, redacted.Bytes()), KindMessage)
		must.True(t, len(all) == 1 && string(all[0].ID) == `"<13 bytes>"` && all[0].Method == "<12 bytes>", "the ID and the method are recorded in", all)
	}
}

// TestChunking: how the bytes arrive makes no difference.
func TestChunking(t *testing.T) {
	const stream = "\n: ping\n\ndata: 1\ndata: 2\r\n\r\nevent: x\rdata: 3\r\rid: 7\n\ndata\n\ndata: 4"
	want := []string{`"" ": ping" ""  true`, `"1\n2" "" ""  true`, `"3" "" "x"  true`, `"" "" "" 7 true`, `"" "" ""  true`, `"4" "" ""  false`}
	for size := 1; size <= len(stream); size++ {
		var got []string
		s := newSSE(100)
		note := func(ev *sseEvent) {
			got = append(got, fmt.Sprintf("%q %q %q %s %v", ev.data.b, ev.comment, ev.name, ev.id, ev.whole))
		}
		for chunk := range slices.Chunk([]byte(stream), size) {
			b := slices.Clone(chunk)
			s.add(b, note)
			for i := range b {
				b[i] = 'X' // it belongs to somebody else
			}
		}
		s.end(note)
		must.Equal(t, got, want, "in chunks of", size)
	}
}

// TestFile: a file is begun anew, and private.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	must.Do(t, os.WriteFile(path, []byte("old\n"), 0o644))
	r := must.Get(Create(path, &Options{Version: "v", Mode: "bridge"}))(t)
	r.Tap(false, []byte(`{"a":1}`))
	must.Do(t, r.Close())
	r.Tap(false, []byte("{}")) // too late
	b := must.Get(os.ReadFile(path))(t)
	all := records(t, b)
	must.True(t, len(all) == 3 && all[0].Kind == KindStart && all[2].Kind == KindStop, "it holds", b)
	want := `"wire":"bridge","kind":"start","format":2,"program":"a2astdio","version":"v"`
	must.True(t, bytes.Contains(b, []byte(want)), want, string(b))
	info, _ := os.Stat(path)
	must.True(t, runtime.GOOS == "windows" || info.Mode().Perm() == 0o600, "mode", info.Mode())
	_, err := Create(filepath.Join(path, "x"), &Options{})
	must.True(t, err != nil, "a file below a file")
}

// TestAnew: a file that is full is moved aside, over an older one, and the trace goes on in
// another, which a follower finds.
func TestAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	d := &diskFile{path: path, max: 200}
	must.Do(t, errors.Join(d.open(), os.WriteFile(path+".1", []byte("older"), 0o600)))
	at := time.Now()
	w := newWorker(d, &Options{}, at)
	w.flush()
	reader := must.Get(Open(path, nil))(t)
	defer reader.Close()
	for range 3 {
		w.editorLine(&item{kind: itemLine, at: at}, []byte(`{"a":1}`))
		w.flush()
		if w.rotateIfFull(); w.failed != nil {
			t.Fatal(w.failed)
		}
		w.flush()
		for range 2 { // the rest of the old file, and the new one
			must.Do(t, reader.Wait(t.Context()))
			read(t, reader)
		}
	}
	// Each line fills a file, with the record that begins it.
	before, _ := os.ReadFile(path + ".1")
	now, _ := os.ReadFile(path)
	got, rest := records(t, before), records(t, now)
	if len(got) != 2 || len(rest) != 1 || rest[0].Kind != KindStart || rest[0].N != 7 || rest[0].Run != got[0].Run {
		t.Errorf("%s%s", before, now)
	}
	must.True(t, reader.last == 7 && len(reader.Notes()) == 0, "a follower is at", reader.last, reader.Notes())
	r, err := Open(path, nil)
	must.True(t, err == nil && strings.Contains(fmt.Sprint(r.Notes()), "FILE.1"), err)
}

// TestBroken: an error of the file ends only the trace, and Close returns it.
func TestBroken(t *testing.T) {
	r := New(broken{}, &Options{})
	r.Tap(false, []byte("{}"))
	must.Fail(t, r.Close(), "no space left")
}

type broken struct{}

func (broken) Write(p []byte) (int, error) { return 0, errors.New("no space left") }

// TestSlowDisk: the wires wait for a stuck disk once a megabyte is waiting, and
// continue with it.
func TestSlowDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := stuck{make(chan struct{})}
		r := New(disk, &Options{})
		lines := 0
		go func() { // ends when the disk writes
			for range 100 {
				r.Tap(false, bytes.Repeat([]byte("x"), 100<<10))
				lines++
			}
		}()
		synctest.Wait()
		must.True(t, lines >= 5 && lines <= 50, lines, "lines were taken")
		close(disk.go_)
		synctest.Wait()
		r.Close()
		must.Equal(t, lines, 100, "lines that were taken in the end")
	})
}

type stuck struct{ go_ chan struct{} }

func (s stuck) Write(p []byte) (int, error) { <-s.go_; return len(p), nil }

type watched struct {
	mu      sync.Mutex
	b       bytes.Buffer
	changed chan struct{}
}

func (l *watched) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.changed <- struct{}{}:
	default:
	}
	return l.b.Write(p)
}

func (l *watched) String() string { l.mu.Lock(); defer l.mu.Unlock(); return l.b.String() }
