package demo

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// refuses sends what a file has behind ">", and holds what it is answered behind "=". names are what stands for what.
func (c *client) refuses(file string, send func(said string) (err string), names ...string) {
	c.t.Helper()
	fill, names := strings.NewReplacer(names...), append(names, "$URI", ExtensionURI)
	for i := 0; i < len(names); i += 2 {
		names[i], names[i+1] = names[i+1], names[i]
	}
	var got strings.Builder
	for line := range strings.Lines(string(must.Get(os.ReadFile(file))(c.t))) {
		if strings.HasPrefix(line, "= ") {
			continue
		}
		got.WriteString(line)
		if said, ok := strings.CutPrefix(line, "> "); ok {
			err := send(strings.ReplaceAll(fill.Replace(strings.TrimSpace(said)), "$URI", ExtensionURI))
			err, _, _ = strings.Cut(err, " into Go value") // what is behind tells of our types
			fmt.Fprintf(&got, "= %s\n", strings.NewReplacer(names...).Replace(err))
		}
	}
	must.Golden(c.t, *update, file, got.String())
}

// instead is a message with other members, whose parts are written as in 1.0.
func (c *client) instead(params map[string]any, members string) map[string]any {
	var m map[string]any
	must.Do(c.t, json.Unmarshal([]byte(members), &m))
	parts, _ := m["parts"].([]any)
	for i, p := range parts {
		p := p.(map[string]any)
		if raw := p["raw"]; raw != nil && !c.v1 {
			parts[i] = map[string]any{"kind": "file", "file": map[string]any{"bytes": raw}}
		}
		for _, kind := range []string{"text", "data"} {
			if p[kind] != nil && !c.v1 {
				p["kind"] = kind
			}
		}
	}
	maps.Copy(params["message"].(map[string]any), m)
	return params
}

// A refusal names the fault and changes nothing: the question stays open, and a legal
// answer is accepted after all refusals.
func TestARefusedAnswerChangesNothing(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	inEachVersion(t, func(t *testing.T, c *client) {
		c.dir = dir
		c.prompt("many")
		edit, shell := c.calls[0], c.calls[1]
		good := data(confirmation(edit, "proceed_once"))
		c.refuses("testdata/refused-answers.txt", func(members string) string {
			_, err := c.call("message/stream", c.instead(c.message(c.taskID, good), members))
			must.Equal(t, c.state(), stateInputRequired, members)
			return err
		}, "$GOOD", `{"data":{"tool_call_id":"`+edit+`","selected_option_id":"proceed_once"}}`, "$EDIT", edit, "$SHELL", shell, "$TASK", c.taskID, "$CONTEXT", c.contextID, "$OTHER", other)
		if c.v1 {
			c.refused(c.message(c.taskID, data([]any{good["data"]})), "-32602", "message.parts[0].data: ToolCallConfirmation is a JSON array, want an object")
		}
		_, err := c.call("message/send", c.message(c.taskID, good))
		expectError(t, err, "-32602 invalid params: a ToolCallConfirmation is sent as a streaming message, not by ")
		_, err = c.as("").call("message/stream", c.message(c.taskID, good))
		expectError(t, err, "-32008")
		if len(c.ran) > 0 {
			t.Fatalf("it ran %v", c.ran)
		}

		c.open("message/stream", c.message(c.taskID, good, data(confirmation(shell, "cancel")))).rest()
		if len(c.ran) != 1 || !strings.HasSuffix(c.ran[0], fmt.Sprintf("to %q (proceed_once)", filepath.Join(dir, "hello.txt"))) {
			t.Errorf("it ran %q", c.ran)
		}
	})
}

// The first message of a session brings AgentSettings and no context of the
// client's; one that does not begins nothing.
func TestTheFirstMessage(t *testing.T) {
	inEachVersion(t, func(t *testing.T, c *client) {
		hello := func() map[string]any { return c.message("", text("hello")) }
		c.refuses("testdata/refused-first.txt", func(members string) string {
			_, err := c.call("message/stream", c.instead(hello(), members))
			return err
		}, "$DIR", c.dir)
		if len(c.agent.tasks) > 0 || len(c.agent.sessions) > 0 {
			t.Errorf("the refused messages began %d tasks, %d sessions", len(c.agent.tasks), len(c.agent.sessions))
		}

		c.prompt("hello")
		second := with(with(hello(), "metadata", nil), "contextId", c.contextID)
		expect(t, "the second message", c.open("message/stream", second).rest()[:1], "task submitted")
		c.refused(with(second, "metadata", map[string]any{ExtensionURI: map[string]any{"workspace_path": 1}}), "-32602", "want a string")
	})
}

// A confirmation is taken where a call awaits it, and nowhere else.
func TestConfirmationsThatNothingAwaits(t *testing.T) {
	inEachVersion(t, func(t *testing.T, c *client) {
		answer := func() map[string]any { return c.message(c.taskID, data(confirmation("c1", "proceed_once"))) }
		const want = "awaits a ToolCallConfirmation"
		c.prompt("hello")
		c.refused(answer(), "-32602", want)
		c.prompt("ask")
		c.refused(answer(), "-32602", want)
		if got := c.state(); got != stateInputRequired {
			t.Errorf("the question in prose is %s", got)
		}
		c.prompt("shell")
		done := c.message(c.taskID, c.answers("proceed_once")...)
		c.open("message/stream", done).rest()
		c.refused(done, "-32602", want)
		if len(c.ran) != 1 {
			t.Errorf("it ran %v", c.ran)
		}

		r := c.open("message/stream", c.message("", text("slow")))
		r.next()
		c.refused(answer(), "-32602", want)
		c.refused(c.message(c.taskID, text("hurry")), "-32602", "is working")
	})
}
