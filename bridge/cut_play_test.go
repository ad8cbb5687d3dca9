package bridge_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/poison"
	"github.com/a2astdio/a2astdio/transport"
)

// shownToEditor is what the editor shows at the end of a prompt.
type shownToEditor struct {
	texts []shownText
	tools map[string]string // the last state and content
	asked int
	gaps  int
	stop  string
	err   string
}

type shownText struct{ id, text string }

func (s *shownToEditor) text() string { return fmt.Sprint(s.texts) }

// words divides the text into the agent's chunks; "?" stands for anything else.
func (s *shownToEditor) words(all []string) []string {
	var got []string
next:
	for _, t := range s.texts {
		for text := t.text; text != ""; {
			at := slices.IndexFunc(all, func(w string) bool { return strings.HasPrefix(text, w) })
			if at < 0 {
				got = append(got, "?")
				continue next
			}
			got = append(got, all[at])
			text = text[len(all[at]):]
		}
	}
	return got
}

// cutPlay is a bridge between a cutAgent and an editor that approves.
type cutPlay struct {
	t       *testing.T
	agent   *cutAgent
	client  *transport.Client
	network *http.Transport
	editor  *io.PipeWriter
	lines   chan gjson.Result
	isLines bool // the editor speaks A2A lines
	wg      sync.WaitGroup
	id      int
}

func newCutPlay(t *testing.T, lines bool, version string, b behaviour, c carrier) *cutPlay {
	p := &cutPlay{t: t, agent: newCutAgent(version, b, c), lines: make(chan gjson.Result), isLines: lines}
	p.network = &http.Transport{DialContext: p.agent.dial, MaxIdleConnsPerHost: 16}
	client, err := transport.NewClient("http://agent.invalid/", &transport.ClientOptions{RoundTripper: poison.RoundTripper{RoundTripper: p.network}})
	if err != nil {
		t.Fatal(err)
	}
	p.client = client
	toBridge, editorIn := io.Pipe()
	editorOut, fromBridge := io.Pipe()
	p.editor = editorIn
	p.wg.Go(func() { // ends with the bridge
		defer close(p.lines)
		for r := bufio.NewReader(editorOut); ; {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			p.lines <- gjson.Parse(line)
		}
	})
	var n int
	var mu sync.Mutex
	newID := func() string { mu.Lock(); defer mu.Unlock(); n++; return fmt.Sprintf("i%04d", n) }
	p.wg.Go(func() { // ends with its input, in close
		if err := bridge.Serve(context.Background(), toBridge, fromBridge,
			&bridge.Options{Client: client, NewID: newID, OnEOF: bridge.OnEOFCancel}); err != nil {
			t.Errorf("the bridge ended with %v", err)
		}
		fromBridge.Close()
	})
	if !lines {
		p.request("initialize", `{"protocolVersion":1,"clientCapabilities":{}}`)
		p.reply(nil)
	}
	return p
}

func (p *cutPlay) close() {
	p.editor.Close()
	for range p.lines {
	}
	p.agent.finish()
	p.client.Close()
	p.network.CloseIdleConnections()
	p.wg.Wait()
	p.agent.close()
}

func (p *cutPlay) request(method, params string) {
	p.id++
	fmt.Fprintf(p.editor, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", p.id, method, params)
}

// reply waits for the reply to the newest request, and hands on what comes
// before it.
func (p *cutPlay) reply(handle func(gjson.Result)) gjson.Result {
	patience := time.NewTimer(cutPatience)
	defer patience.Stop()
	for {
		select {
		case m, ok := <-p.lines:
			switch {
			case !ok:
				return gjson.Result{}
			case !m.Get("method").Exists() && m.Get("id").Int() == int64(p.id):
				return m
			case handle != nil:
				handle(m)
			}
		case <-patience.C:
			return gjson.Result{}
		}
	}
}

// prompt holds the conversation, with a cut after so many bytes.
func (p *cutPlay) prompt(budget int) (shownToEditor, *cutFacts) {
	p.agent.mu.Lock()
	p.agent.next, p.agent.last = budget, nil
	p.agent.mu.Unlock()
	if p.isLines {
		return p.legs()
	}
	p.request("session/new", `{"cwd":"/","mcpServers":[]}`)
	session := p.reply(nil).Get("result.sessionId").Str
	got := shownToEditor{tools: map[string]string{}}
	p.request("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":"go"}]}`, session))
	end := p.reply(func(m gjson.Result) { p.see(&got, m) })
	got.stop, got.err = end.Get("result.stopReason").Str, end.Get("error.data.details").Str
	synctest.Wait()
	task := p.agent.takeFacts()
	if !end.Exists() {
		// It hangs. It is cancelled, so that the next conversation can begin.
		fmt.Fprintf(p.editor, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`+"\n", session)
		p.reply(nil)
	}
	p.request("session/close", fmt.Sprintf(`{"sessionId":%q}`, session))
	p.reply(nil)
	return got, task
}

// see notes what the editor shows.
func (p *cutPlay) see(got *shownToEditor, m gjson.Result) {
	if m.Get("method").Str == "session/request_permission" {
		got.asked++
		fmt.Fprintf(p.editor, `{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":"proceed_once"}}}`+"\n", m.Get("id").Raw)
		return
	}
	u := m.Get("params.update")
	switch u.Get("sessionUpdate").Str {
	case "agent_message_chunk":
		id, text := u.Get("messageId").Str, u.Get("content.text").Str
		if strings.Contains(text, "connection to the agent was lost") {
			got.gaps++
			return
		}
		if n := len(got.texts); n > 0 && got.texts[n-1].id == id {
			got.texts[n-1].text += text
			return
		}
		got.texts = append(got.texts, shownText{id, text})
	case "tool_call", "tool_call_update":
		for _, name := range []string{"status", "content"} {
			if v := u.Get(name); v.Exists() {
				got.tools[u.Get("toolCallId").Str+" "+name] = v.Raw
			}
		}
	}
}
