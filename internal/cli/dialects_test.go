package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

// conversations are the files of what agents say in their own words: recorded, and written
// after their source.
func conversations(t *testing.T) (files []string) {
	for _, folder := range []string{"recordings/dialects", "written"} {
		some, err := filepath.Glob(filepath.Join("..", "..", "testdata", filepath.FromSlash(folder), "*.txt"))
		if err != nil || len(some) == 0 {
			t.Fatalf("nothing in %s: %v", folder, err)
		}
		files = append(files, some...)
	}
	return files
}

// TestDialects plays what agents have said (testdata/recordings/dialects, whose README.md
// has the format, and testdata/written) over all ways to a user: an ACP editor, one of A2A lines,
// and send. NAME.golden has what each shows (-update rewrites it). The joined text must
// be that of the recording's says lines: each word once, and nothing else of the
// agent's.
func TestDialects(t *testing.T) {
	files := conversations(t)
	for _, file := range files {
		name := strings.TrimSuffix(file, ".txt")
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			recorded := readRecording(t, file)
			var got bytes.Buffer
			for _, way := range []struct {
				name string
				play func(*testing.T, *recording, string, io.Writer) string
			}{{"ACP", playACP}, {"A2A lines", playLines}, {"send", playSend}} {
				agent := &recordedAgent{recording: recorded}
				server := httptest.NewServer(agent)
				fmt.Fprintf(&got, "== %s\n", way.name)
				var shown bytes.Buffer
				text := way.play(t, recorded, server.URL, &shown)
				server.Close()
				got.WriteString(strings.ReplaceAll(shown.String(), server.URL, "http://agent"))
				for _, r := range agent.asked {
					fmt.Fprintf(&got, "agent got %s\n", ownIDs.ReplaceAllString(r, "OURS"))
				}
				want := strings.Join(recorded.says, " ")
				if way.name == "send" {
					want = strings.Join(recorded.says[:min(len(recorded.says), 1)], " ")
					if recorded.send != "" {
						want = recorded.send
					}
				}
				if oneSpace(text) != oneSpace(want) {
					t.Errorf("%s shows\n %q, the agent said\n %q", way.name, oneSpace(text), oneSpace(want))
				}
			}
			compareGolden(t, name+".golden", got.String())
		})
	}
}

// ownIDs are those that the bridge makes.
var ownIDs = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)

// oneSpace replaces each run of white space by a blank: editors choose paragraphs.
func oneSpace(s string) string { return strings.Join(strings.Fields(s), " ") }

func compareGolden(t *testing.T, file, got string) {
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	w, g := strings.Split(string(want), "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		a, b := "", ""
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b {
			t.Fatalf("line %d (-update rewrites it)\nwant %s\n got %s", i+1, a, b)
		}
	}
}

// A player runs the program like an editor, and shows what it reads.
type player struct {
	t      *testing.T
	in     *io.PipeWriter
	lines  *bufio.Reader
	shown  io.Writer
	status chan int
	stderr bytes.Buffer

	of            string // the message that text is of
	joined        string // what kind of text grows, and in what
	growing, text strings.Builder
	chose         int
	asked         map[string]gjson.Result // options, by call
}

func startPlayer(t *testing.T, shown io.Writer, args ...string) *player {
	in, toProgram := io.Pipe()
	fromProgram, out := io.Pipe()
	p := &player{t: t, in: toProgram, lines: bufio.NewReader(fromProgram), shown: shown, status: make(chan int, 1), asked: map[string]gjson.Result{}}
	// A program that hangs fails its test, not all of them.
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
	go func() { // ends with the program, whose input finish ends
		defer stop()
		p.status <- Main(ctx, append([]string{"a2astdio"}, args...), in, out, &p.stderr, "v0.0.0-test")
		in.Close()
		out.Close()
	}()
	return p
}

func (p *player) write(format string, args ...any) { fmt.Fprintf(p.in, format+"\n", args...) }

// read returns the next line, zero at the end.
func (p *player) read() gjson.Result {
	line, err := p.lines.ReadString('\n')
	if err != nil {
		return gjson.Result{}
	}
	return gjson.Parse(line)
}

func (p *player) finish() string {
	p.in.Close()
	for p.read().Exists() {
	}
	if status := <-p.status; status != 0 || p.stderr.Len() > 0 {
		p.t.Errorf("status %d, %s", status, p.stderr.String())
	}
	return p.text.String()
}

// grow joins chunks of one text, whose number depends on timing.
func (p *player) grow(of, text string) {
	if of != p.joined {
		p.flush()
		p.joined = of
	}
	p.growing.WriteString(text)
}

func (p *player) flush() {
	if p.joined != "" {
		fmt.Fprintf(p.shown, "%s: %q\n", p.joined, ownIDs.ReplaceAllString(p.growing.String(), "OURS"))
	}
	p.joined = ""
	p.growing.Reset()
}

func (p *player) say(format string, args ...any) {
	p.flush()
	fmt.Fprintln(p.shown, ownIDs.ReplaceAllString(fmt.Sprintf(format, args...), "OURS"))
}

// choose returns what the user answers next.
func (p *player) choose(r *recording) string {
	if p.chose == len(r.answers) {
		p.t.Errorf("the user is asked more often than the recording has answers")
		return "reject_once"
	}
	p.chose++
	return r.answers[p.chose-1]
}

func playACP(t *testing.T, r *recording, url string, shown io.Writer) string {
	p := startPlayer(t, shown, "--agent", url, "--workspace", "/")
	p.write(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}`)
	p.read()
	p.write(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`)
	session := p.read().Get("result.sessionId").Str
	for i, prompt := range r.prompts {
		p.say("prompt %s", prompt)
		p.write(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}}`, i+2, session, prompt)
		for done := false; !done; {
			m := p.read()
			if !m.Exists() {
				t.Fatalf("the program ended: %s", p.stderr.String())
			}
			update := m.Get("params.update")
			switch {
			case m.Get("method").Str == "session/request_permission":
				kind := p.choose(r)
				p.say("permission %s %s", m.Get("params.toolCall").Raw, m.Get("params.options").Raw)
				id := optionIn(m.Get("params.options"), "optionId", kind)
				p.say("user picks %s", id)
				p.write(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":%q}}}`, m.Get("id").Raw, id)
			case update.Get("sessionUpdate").Str == "agent_message_chunk" && update.Get("content.type").Str == "text":
				if update.Get("messageId").Exists() { // else it is the bridge's own word
					if of := update.Get("messageId").Str; of != p.of {
						p.of = of
						p.text.WriteByte(' ') // a paragraph, for the user
					}
					if !r.data || !strings.HasPrefix(update.Get("content.text").Str, "```json") {
						p.text.WriteString(update.Get("content.text").Str)
					}
				}
				p.grow("message "+update.Get("messageId").Str, update.Get("content.text").Str)
			case update.Get("sessionUpdate").Str == "agent_thought_chunk":
				p.grow("thought "+update.Get("messageId").Str, update.Get("content.text").Str)
			case update.Get("sessionUpdate").Str == "available_commands_update", update.Get("sessionUpdate").Str == "session_info_update":
			case update.Exists():
				p.say("%s", update.Raw)
			default:
				p.say("reply %s%s", m.Get("result").Raw, m.Get("error").Raw)
				done = true
			}
		}
		p.text.WriteByte(' ')
	}
	return p.finish()
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

func playLines(t *testing.T, r *recording, url string, shown io.Writer) string {
	p := startPlayer(t, shown, "--agent", url, "--workspace", "/", "--protocol", "a2a")
	id, context, task := 0, "", ""
	request := func(method, params string) gjson.Result {
		id++
		p.write(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
		for {
			m := p.read()
			if !m.Exists() {
				t.Fatalf("the program ended: %s", p.stderr.String())
			}
			if m.Get("method").Exists() {
				p.line(m)
				continue
			}
			p.text.WriteString(m.Get("result.text").Str + " ")
			p.say("reply %s%s", withoutSeq(m.Get("result").Raw), m.Get("error").Raw)
			return m
		}
	}
	for _, prompt := range r.prompts {
		p.say("prompt %s", prompt)
		member := ""
		if context != "" {
			member += fmt.Sprintf(`,"contextId":%q`, context)
		}
		if task != "" {
			member += fmt.Sprintf(`,"taskId":%q`, task)
		}
		reply := request("message/stream", fmt.Sprintf(`{"text":%q%s}`, prompt, member))
		for reply.Get("result.pending.0").Exists() {
			var confirmations []string
			for _, call := range reply.Get("result.pending").Array() {
				options := p.asked[call.Str]
				confirmations = append(confirmations, fmt.Sprintf(`{"toolCallId":%q,"optionId":%q}`, call.Str, optionIn(options, "id", p.choose(r))))
			}
			reply = request("toolCall/confirm", fmt.Sprintf(`{"taskId":%q,"confirmations":[%s]}`, reply.Get("result.taskId").Str, strings.Join(confirmations, ",")))
		}
		if reply.Get("error").Exists() {
			continue // nothing has changed
		}
		context, task = reply.Get("result.contextId").Str, ""
		if state := reply.Get("result.state").Str; state == "input-required" || state == "auth-required" {
			task = reply.Get("result.taskId").Str
		}
		p.text.WriteByte(' ')
	}
	return p.finish()
}

// line shows an event of the A2A lines.
func (p *player) line(m gjson.Result) {
	params := m.Get("params")
	switch m.Get("method").Str {
	case "event/text":
		p.grow("text "+params.Get("messageId").Str, params.Get("text").Str)
	case "event/artifact":
		if params.Get("text").Exists() {
			if !params.Get("append").Bool() {
				p.flush()
			}
			p.grow("artifact "+params.Get("artifactId").Str+" "+params.Get("name").Str, params.Get("text").Str)
			return
		}
		p.say("artifact %s %s", params.Get("artifactId").Str, params.Get("part").Raw)
	case "event/thought":
		p.grow("thought "+params.Get("messageId").Str, params.Get("subject").Str+params.Get("description").Str)
	case "event/toolCall":
		call := params.Get("toolCall")
		if options := call.Get("confirmation_request.options"); options.Exists() {
			p.asked[call.Get("tool_call_id").Str] = options
		}
		p.say("tool %s", call.Raw)
	case "event/notice":
		p.say("notice %q", params.Get("message").Str)
	case "event/state":
		p.say("state %s", params.Get("state").Str)
	default:
		p.say("%s %s", m.Get("method").Str, params.Raw)
	}
}

// withoutSeq leaves out what depends on how the text was cut into events.
func withoutSeq(result string) string {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(result), &members) != nil {
		return result
	}
	delete(members, "seq")
	delete(members, "taskId")
	delete(members, "contextId")
	b, _ := json.Marshal(members)
	return string(b)
}

func playSend(t *testing.T, r *recording, url string, shown io.Writer) string {
	how := "reject"
	if len(r.answers) > 0 && !strings.HasPrefix(r.answers[0], "reject") {
		how = "once"
	}
	status, stdout, stderr := runMain("", "--agent", url, "--workspace", "/", "send", "--verbose", "--approve", how, r.prompts[0])
	fmt.Fprintf(shown, "%s", ownIDs.ReplaceAllString(stdout, "OURS"))
	for line := range strings.Lines(stderr) {
		fmt.Fprintf(shown, "stderr %s", ownIDs.ReplaceAllString(line, "OURS"))
	}
	fmt.Fprintf(shown, "status %d\n", status)
	return stdout
}
