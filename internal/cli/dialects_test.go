package cli

import (
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// conversations are the recordings of what agents say in their own words.
func conversations(t *testing.T) []string {
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "recordings", "dialects", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	return files
}

// TestDialects plays what agents have said (testdata/recordings/dialects, whose README.md
// has the format) to an ACP editor and to send. The joined text must be that of the
// recording's says lines: each word once, and nothing else of the agent's.
func TestDialects(t *testing.T) {
	for _, file := range conversations(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			r := readRecording(t, file)
			sent := strings.Join(r.says[:min(len(r.says), 1)], " ")
			if r.send != "" {
				sent = r.send
			}
			check := func(way, text, want string) {
				if oneSpace(text) != oneSpace(want) {
					t.Errorf("%s shows\n %q, the agent said\n %q", way, oneSpace(text), oneSpace(want))
				}
			}
			check("ACP", playACP(t, r, served(t, r)), strings.Join(r.says, " "))
			check("send", playSend(r, served(t, r)), sent)
		})
	}
}

// served is the URL of a recorded agent.
func served(t *testing.T, r *recording) string {
	server := httptest.NewServer(&recordedAgent{recording: r})
	t.Cleanup(server.Close)
	return server.URL
}

// oneSpace replaces each run of white space by a blank: editors choose paragraphs.
func oneSpace(s string) string { return strings.Join(strings.Fields(s), " ") }

func playSend(r *recording, url string) string {
	how := "reject"
	if len(r.answers) > 0 && !strings.HasPrefix(r.answers[0], "reject") {
		how = "once"
	}
	_, stdout, _ := runMain("", "--agent", url, "--workspace", "/", "send", "--verbose", "--approve", how, r.prompts[0])
	return stdout
}

// playACP runs the program like an editor, and returns the text of the agent's messages.
func playACP(t *testing.T, r *recording, url string) string {
	e := newEditor(t, "--agent", url, "--workspace", "/")
	var text strings.Builder
	message, answered := "", 0
	e.on = func(m gjson.Result) string {
		update := m.Get("params.update")
		switch {
		case m.Get("method").Str == "session/request_permission":
			if answered == len(r.answers) {
				t.Fatal("the user is asked more often than the recording has answers")
			}
			id := optionIn(m.Get("params.options"), "optionId", r.answers[answered])
			answered++
			return fmt.Sprintf(`{"outcome":{"outcome":"selected","optionId":%q}}`, id)
		case update.Get("sessionUpdate").Str == "agent_message_chunk" && update.Get("messageId").Exists(): // else it is the bridge's own word
			if of := update.Get("messageId").Str; of != message {
				message = of
				text.WriteByte(' ') // a paragraph, for the user
			}
			if !r.data || !strings.HasPrefix(update.Get("content.text").Str, "```json") {
				text.WriteString(update.Get("content.text").Str)
			}
		}
		return ""
	}
	e.ask("initialize", `{"protocolVersion":1,"clientCapabilities":{}}`)
	session := e.ask("session/new", sessionParams).Get("result.sessionId").Str
	for _, prompt := range r.prompts {
		e.ask("session/prompt", fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}`, session, prompt))
		text.WriteByte(' ')
	}
	if stderr := e.end(); stderr != "" {
		t.Error(stderr)
	}
	return text.String()
}

// optionIn returns the ID of the option of that ID, or of a kind; the first that has the kind's
// word in its name, where there are no kinds.
func optionIn(options gjson.Result, member, kind string) string {
	id := ""
	for _, o := range options.Array() {
		if o.Get(member).Str == kind {
			return kind
		}
	}
	options.ForEach(func(_, o gjson.Result) bool {
		if k := o.Get("kind").Str; k == kind || k == "" && strings.Contains(kind, "reject") == isRejection(o.Get("name").Str) && !strings.Contains(o.Get("name").Str, "lways") {
			id = o.Get(member).Str
		}
		return id == ""
	})
	return id
}

func isRejection(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "re") || strings.HasPrefix(name, "den") || strings.HasPrefix(name, "no") || strings.HasPrefix(name, "decl")
}
