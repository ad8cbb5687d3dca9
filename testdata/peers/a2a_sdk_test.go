package peers

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The names of the servers that are made with the A2A project's SDKs.
const (
	goV2  = "a2a-go v2.4.0"
	goV03 = "a2a-go v0.3.15"
	jsV1  = "a2a-js 1.3.0"
	jsV03 = "a2a-js 0.3.14"

	// These refuse to stream: their tasks are polled.
	goV2Polled  = "a2a-go v2.4.0 without streaming"
	goV03Polled = "a2a-go v0.3.15 without streaming"
)

// sendingWords identify a sent prompt on the wire, by version and binding: with
// streaming, and without.
var sendingWords = map[string][]string{
	"1.0":           {`"method":"SendStreamingMessage"`, `"method":"SendMessage"`},
	"0.3":           {`"method":"message/stream"`, `"method":"message/send"`},
	"1.0 http+json": {`/rest/message:stream"`, `/rest/message:send"`},
	"0.3 http+json": {`/v1/message:stream"`, `/v1/message:send"`},
}

// sdkPeers are the servers, with the versions and bindings to use. An empty version
// leaves out --a2a-version, which takes the best one; a version alone takes the card's
// first binding, JSON-RPC.
var sdkPeers = []struct {
	server   string
	versions []string
	best     string
}{
	{goV2, []string{"1.0", "0.3", "", "1.0 http+json", "0.3 http+json"}, "1.0"},
	{goV03, []string{"0.3", ""}, "0.3"},
	{jsV1, []string{"1.0", "0.3", "", "1.0 http+json", "0.3 http+json"}, "1.0"},
	{jsV03, []string{"0.3", "", "0.3 http+json"}, "0.3"},
	{goV2Polled, []string{"1.0", "0.3", "1.0 http+json", "0.3 http+json"}, "1.0"},
	{goV03Polled, []string{"0.3"}, "0.3"},
}

// An sdkTurn is a block of a2ago/turns.txt.
type sdkTurn struct {
	name          string
	prompts, want []string
	differences   [][]string // server, version, old, new and reason
}

func sdkTurns(t *testing.T) (all []*sdkTurn) {
	text := string(readFile(t, filepath.Join("a2ago", "turns.txt")))
	for _, block := range strings.Split(text, "\n== ")[1:] {
		lines := strings.Split(strings.TrimRight(block, "\n"), "\n")
		turn := &sdkTurn{name: lines[0]}
		for _, line := range lines[1:] {
			line = strings.ReplaceAll(line, `\n`, "\n")
			if prompt, ok := strings.CutPrefix(line, "> "); ok {
				turn.prompts = append(turn.prompts, prompt)
			} else if difference, ok := strings.CutPrefix(line, "! "); ok {
				turn.differences = append(turn.differences, strings.Split(difference, " | "))
			} else {
				turn.want = append(turn.want, line)
			}
		}
		all = append(all, turn)
	}
	return all
}

// The same prompts give the same conversation with each SDK, in each of its versions of
// the protocol.
func TestSDKServers(t *testing.T) {
	for _, peer := range sdkPeers {
		t.Run(peer.server, func(t *testing.T) {
			t.Parallel()
			url := sdkServer(t, peer.server)
			for _, version := range peer.versions {
				t.Run("version="+version, func(t *testing.T) {
					t.Parallel()
					trace := filepath.Join(t.TempDir(), "trace.jsonl")
					args := []string{"--agent", url, "--trace", trace}
					spoken := peer.best
					if version != "" {
						args = append(args, asked(version)...)
						spoken = version
					}
					e := open(t, args...)
					for _, turn := range sdkTurns(t) {
						session := e.NewSession(t.TempDir())
						var got []string
						for _, prompt := range turn.prompts {
							got = append(got, e.Prompt(session, prompt).story()...)
						}
						equal(t, got, turn.expected(t, peer.server, spoken))
					}
					e.Close()
					polled := peer.server == goV2Polled || peer.server == goV03Polled
					wantCalled(t, trace, spoken, polled)
				})
			}
		})
	}
}

// asked are the options for a version and a binding.
func asked(version string) []string {
	version, binding, _ := strings.Cut(version, " ")
	args := []string{"--a2a-version", version}
	if binding != "" {
		args = append(args, "--binding", binding)
	}
	return args
}

// If a server does not speak the requested version, no other version is used.
func TestSDKNoDowngrade(t *testing.T) {
	for _, server := range []string{goV03, jsV03} {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			e := open(t, "--agent", sdkServer(t, server), "--a2a-version", "1.0")
			o := e.Prompt(e.NewSession(t.TempDir()), "message").Wait()
			if o.Code == "" || o.Text != "" {
				t.Fatalf("the agent was spoken to in a version that it does not have: %s: %s", o.summary(), o.Text)
			}
			contains(t, "the error", o.Details, "--a2a-version asks for 1.0")
		})
	}
}

// story waits for the end of a turn and returns it, a line for each thing in the
// editor: neighbouring texts of one message are joined, and IDs and the like are left
// out.
func (t *Turn) story() []string {
	t.e.t.Helper()
	o := t.Wait()
	_, end := t.e.wait(t.from, "the response", func(l *Line) bool { return l.answers(t.id) })
	var lines []string
	text, message := -1, "" // the line that a text continues, and its message
	for _, l := range t.e.lines()[t.from:end] {
		if l.FromEditor || l.text("params.sessionId") != t.session {
			continue
		}
		kind, content, id := l.update(), l.text("params.update.content.type"), l.text("params.update.messageId")
		words := func(members ...string) string {
			for i, m := range members {
				members[i] = l.text("params.update.content." + m)
			}
			return kind + " " + content + ": " + strings.Join(members, " ")
		}
		switch {
		case content == "text" && text == len(lines)-1 && text >= 0 && id == message:
			lines[text] += l.text("params.update.content.text")
		case content == "text":
			text, message = len(lines), id
			lines = append(lines, words("text"))
		case content == "resource":
			lines = append(lines, words("resource.uri", "resource.mimeType", "resource.blob"))
		case content == "resource_link":
			lines = append(lines, words("name", "uri", "mimeType"))
		case kind == "session_info_update":
			lines = append(lines, "title: "+l.text("params.update.title"))
		default: // none is expected
			lines = append(lines, strings.TrimSpace(l.Raw))
		}
	}
	if o.Code != "" {
		return append(lines, "error "+o.Code+": "+o.Details)
	}
	return append(lines, "stopReason "+o.StopReason)
}

// expected are the turn's lines with a server's differences. One that changes nothing is out of date.
func (turn *sdkTurn) expected(t *testing.T, server, version string) []string {
	t.Helper()
	lines := slices.Clone(turn.want)
	for _, d := range turn.differences {
		if d[0] != server || d[1] != "*" && d[1] != version {
			continue
		}
		before := slices.Clone(lines)
		for i := range lines {
			lines[i] = strings.Replace(lines[i], d[2], d[3], 1)
		}
		equal(t, slices.Equal(before, lines), false, "the difference applies to nothing", d[4])
	}
	return lines
}

// wantCalled demands that a trace has prompts in this version only, and also without
// streaming if the agent does not stream. (Its card does not tell, so the bridge first
// tries.)
func wantCalled(t *testing.T, trace, version string, polled bool) {
	t.Helper()
	b := mustGet(os.ReadFile(trace))(t)
	for v, words := range sendingWords {
		for i, w := range words {
			want := v == version && (i == 0 || polled)
			equal(t, bytes.Contains(b, []byte(w)), want, version, "without streaming", polled, w)
		}
	}
}

// sdkServer starts a server until the test ends, and returns its URL.
func sdkServer(t *testing.T, name string) string {
	t.Helper()
	switch name {
	case "demo":
		return listen(t)
	case goV2:
		return serve(t, buildIn(t, "a2ago", "./v1"))
	case goV03:
		return serve(t, buildIn(t, "a2ago", "./v03"))
	case goV2Polled:
		return serve(t, buildIn(t, "a2ago", "./v1"), "-no-streaming")
	case goV03Polled:
		return serve(t, buildIn(t, "a2ago", "./v03"), "-no-streaming")
	case jsV1:
		return serve(t, "node", filepath.Join("a2ajs", "server.mjs"), installJS(t), "a2a-js-1")
	case jsV03:
		return serve(t, "node", filepath.Join("a2ajs", "server.mjs"), installJS(t), "a2a-js-0.3")
	}
	t.Fatalf("no server %q", name)
	return ""
}

// serve starts a program that prints its URL.
func serve(t *testing.T, name string, args ...string) string {
	t.Helper()
	return serving(t, exec.Command(name, args...))
}

// installJS installs what a2ajs/server.mjs needs, if it is not there yet, and
// returns where.
func installJS(t *testing.T) string {
	t.Helper()
	needNode(t, 20)
	return installNPM(t, "a2ajs-0.3.14-1.3.0", filepath.Join("a2ajs", "package.json"))
}
