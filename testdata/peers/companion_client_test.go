package peers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// An mcpClient is a CLI's end of a companion, without npm.
type mcpClient struct {
	t            testing.TB
	url, token   string
	session      string
	transport    *http.Transport
	notification chan mcpNotice
}

type mcpNotice struct {
	Method string
	Params struct {
		Content        *string
		WorkspaceState struct{ OpenFiles []mcpFile }
	}
}

type mcpFile struct {
	Path         string
	IsActive     bool
	SelectedText string
	Cursor       struct{ Line, Character int }
}

// find reads a discovery file, as a CLI does.
func find(t testing.TB, p *companionPlaces) (s startedParams) {
	t.Helper()
	within(t, "a discovery file is there", func() bool {
		for _, file := range p.discovery(t) {
			s = startedParams{}
			if b, err := os.ReadFile(file); err == nil && json.Unmarshal(b, &s) == nil && s.Port > 0 {
				return true
			}
		}
		return false
	})
	return s
}

// connectMCP begins a session, and opens its stream.
func connectMCP(t testing.TB, to startedParams) *mcpClient {
	t.Helper()
	c := &mcpClient{t: t, url: to.url(), token: to.AuthToken, transport: &http.Transport{}, notification: make(chan mcpNotice, 1000)}
	t.Cleanup(c.transport.CloseIdleConnections)
	r := c.do(http.MethodPost, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"peers","version":"0"}}}`)
	c.session = r.Header.Get("Mcp-Session-Id")
	r.Body.Close()
	stream := c.do(http.MethodGet, "")
	t.Cleanup(func() { stream.Body.Close() })
	go func() { // ends with the stream
		defer close(c.notification)
		lines := bufio.NewReader(stream.Body)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			var n mcpNotice
			if data, ok := strings.CutPrefix(line, "data: "); ok && json.Unmarshal([]byte(data), &n) == nil {
				c.notification <- n
			}
		}
	}()
	return c
}

func (c *mcpClient) do(method, body string) *http.Response {
	c.t.Helper()
	r := mustGet(http.NewRequest(method, c.url, strings.NewReader(body)))(c.t)
	for name, value := range map[string]string{"Authorization": "Bearer " + c.token, "Accept": "application/json, text/event-stream",
		"Content-Type": "application/json", "Mcp-Session-Id": c.session} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	response, err := (&http.Client{Transport: c.transport}).Do(r)
	if err != nil || response.StatusCode != http.StatusOK {
		c.t.Fatalf("%s: %v %v", method, response, err)
	}
	return response
}

// tool calls a tool, and returns the text of its result; it must not fail.
func (c *mcpClient) tool(name string, arguments map[string]string) string {
	c.t.Helper()
	response := c.do(http.MethodPost, asJSON(object{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": object{"name": name, "arguments": arguments}}))
	defer response.Body.Close()
	answer := mustGet(io.ReadAll(response.Body))(c.t)
	var m struct {
		Result *struct {
			Content []struct{ Text string }
			IsError bool
		}
	}
	if json.Unmarshal(answer, &m) != nil || m.Result == nil || m.Result.IsError {
		c.t.Fatalf("%s %v: %s", name, arguments, answer)
	}
	var text bytes.Buffer
	for _, part := range m.Result.Content {
		text.WriteString(part.Text)
	}
	return text.String()
}

// next waits for a matching notification.
func (c *mcpClient) next(what string, fits func(*mcpNotice) bool) *mcpNotice {
	c.t.Helper()
	timeout := time.After(patience)
	var heard []string
	for {
		select {
		case n, ok := <-c.notification:
			if !ok {
				c.t.Fatalf("the stream ended before %s; heard %q", what, heard)
			}
			if fits(&n) {
				return &n
			}
			heard = append(heard, fmt.Sprintf("%+v %v", n, n.Params.WorkspaceState.OpenFiles))
		case <-timeout:
			c.t.Fatalf("nobody said %s; heard %q", what, heard)
		}
	}
}

func (f mcpFile) String() string {
	active := ""
	if f.IsActive {
		active = " active"
	}
	return fmt.Sprintf("%s%s %d:%d [%s]", filepath.Base(f.Path), active, f.Cursor.Line, f.Cursor.Character, f.SelectedText)
}

// context waits for an update of the open files: see companionCommands.
func (c *mcpClient) context(want *regexp.Regexp) {
	c.t.Helper()
	c.next(want.String(), func(n *mcpNotice) bool {
		var files []string
		for _, f := range n.Params.WorkspaceState.OpenFiles {
			files = append(files, f.String())
		}
		return n.Method == "ide/contextUpdate" && want.MatchString(strings.Join(files, "; "))
	})
}

// decision waits for the user's decision.
func (c *mcpClient) decision(method string) (content *string) {
	c.t.Helper()
	return c.next(method, func(n *mcpNotice) bool { return n.Method == method }).Params.Content
}
