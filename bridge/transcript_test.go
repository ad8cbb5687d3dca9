package bridge_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/internal/poison"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/transport"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(800) // much garbage, and nothing is kept
	debug.SetMemoryLimit(512 << 20)
	os.Exit(m.Run())
}

var update = flag.Bool("update", false, "rewrite what the transcripts expect")

// TestTranscripts plays whole conversations: testdata/transcript/*.txt, in
// virtual time. A transcript is both wires in order. Inputs are
//
//	E> LINE        the editor writes a line; "E> EOF" ends its input; "E> KILL"
//	               kills the bridge and starts another one on the same store; behind "E> STOP"
//	               it reads one more line, and no others until "E> GO"
//	A< EVENT       the agent sends an event (the JSON-RPC result) on its newest
//	               stream; "A< #2 …" on the stream of request 2
//	A< end         … ends the stream; "A< cut" breaks the connection
//	A< raw LINES   … sends lines as they are, \n between them
//	A< json BODY   … answers with JSON instead; "A< status 503 text/plain TEXT"
//	A= TASK        whoever looks at that task gets this from here on; "A= ID": what an A< line says
//	A< down        all connections break, and nobody accepts one any more
//	A< died TEXT   the agent's process ends, of which TEXT is what is known
//	T+ 250ms       time passes; "clock 1h": the bridge's clock goes forward, and else stands
//	handshake      the editor initializes and opens the session id-1 in /, as hello.txt
//	               shows in full; what it is answered is left out; "handshake DIR": in DIR;
//	               "handshake2" is that of version 2, as acp2-hello.txt shows it
//	card JSON      (at the top) the agent's card; "card none": there is none; "card held": it does not come
//	card-at PATH   (at the top) where it is, and nothing is elsewhere
//	reach JSON     (at the top) how the agent is reached: Binding and Version
//	commands JSON  (at the top) its answer to commands/get; without it there are none, and
//	               with "commands held" no answer
//	options JSON   (at the top) the bridge's options
//	store          (at the top) sessions are stored
//	known NAME     (at the top) and the agent's name is known from before
//	mcp-file       (at the top) the agent reads MCP servers from a file
//	editor-tools   (at the top) the editor is served to the agent, which is on this machine;
//	               $DIR is a directory with files: see [newToolsWire]
//	agents "WHY"   (at the top) instead of the agent there is one, "absent", that cannot be opened; "held": in any time
//	login WAYS     (at the top) the user can sign in: see [fakeLogin]; "U> done": elsewhere, too
//	webhook        (at the top) the agent may push; "P> PAYLOAD" does it, "P> PAYLOAD then PAYLOAD" twice
//	workspace      (at the top) the workspace is $DIR
//	M> LINE        the agent sends a message to the editor's MCP server
//	disk broken    the only journal cannot be read; "disk mended": it can again. $STORE is where it is
//	journal LINE   (at the top) a line of the session "old", whose beginning is not stored
//	process        (at the top) the agent is a process that was started for the bridge;
//	               "process again": one that is started again when it has died;
//	               "process starting": and that is up with "A< up"
//
// and what the bridge does must be, in between,
//
//	E< LINE        the editor reads a line
//	A> #N METHOD PARAMS   the agent gets request N; over HTTP+JSON a verb, the path and
//	               the body, and what the agent sends has nothing around it
//	A> #N with NAME: VALUE   which has that header of W3C Trace Context
//	M< LINE        the editor's MCP server answers
//	L< WAY: YES ERROR   that has come of a way to sign in
//	A> file TEXT   the file of MCP servers is written; "gone": it is removed
//	A> #N closed   the bridge closes the connection of request N
//	exit ERROR     the bridge has ended
//
// The secret of a requestState of MCP is written as $SECRET: in an input the newest one.
// Lines that begin with # are comments. -update rewrites the expectations.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("../testdata/transcript/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			want := must.Get(os.ReadFile(file))(t)
			got := ""
			synctest.Test(t, func(t *testing.T) { got = playTranscript(t, string(want)) })
			if got == string(want) || closedLast(got) == closedLast(string(want)) {
				return
			}
			must.Golden(t, *update, file, got)
		})
	}
}

// closedLast puts what the agent hears of closed connections behind what the bridge says at the
// same moment: which of them comes first is the scheduler's. Where the bridge ends in that moment,
// whether the agent hears it at all.
func closedLast(transcript string) string {
	var out, closed []string
	for line := range strings.Lines(transcript) {
		if strings.HasPrefix(line, "A> #") && strings.HasSuffix(line, " closed\n") {
			closed = append(closed, line)
			continue
		}
		if strings.HasPrefix(line, "exit ") {
			closed = nil
		} else if !strings.HasPrefix(line, "A> ") && !strings.HasPrefix(line, "E< ") {
			slices.Sort(closed)
			out, closed = append(out, closed...), nil
		}
		out = append(out, line)
	}
	return strings.Join(append(out, closed...), "")
}

const cwd = "/" // exists everywhere

func playTranscript(t *testing.T, script string) string {
	agent := newFakeAgent()
	var clock atomic.Int64
	clock.Store(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).UnixNano())
	options := bridge.Options{Version: "test", Workspace: cwd, Now: func() time.Time { return time.Unix(0, clock.Load()).UTC() }}
	var n int
	var mu sync.Mutex
	options.NewID = func() string { mu.Lock(); defer mu.Unlock(); n++; return fmt.Sprintf("id-%d", n) }

	storeDir, url := "", "http://agent.invalid/"
	tools := &toolsWire{dir: "$DIR"}
	hook, login := newHook(), &fakeLogin{done: make(chan struct{}), log: agent.write}
	reach := &transport.ClientOptions{RoundTripper: poison.RoundTripper{RoundTripper: agent}}
	secrets := regexp.MustCompile(`(agent\.id-\d+\.)([A-Z2-7]{26})`)
	var out strings.Builder
	inputs := strings.SplitAfter(script, "\n")
	for len(inputs) > 0 {
		word, rest, _ := strings.Cut(strings.TrimSpace(inputs[0]), " ")
		switch {
		case word == "card":
			agent.card = rest
		case word == "card-at":
			agent.cardAt = rest
		case word == "reach":
			must.Do(t, json.Unmarshal([]byte(rest), reach))
		case word == "commands":
			agent.commands = `"result":` + rest
		case word == "store":
			storeDir = t.TempDir()
			options.Store = openStore(t, storeDir)
		case word == "workspace":
			tools = newToolsWire(t)
			options.Workspace = tools.dir
		case word == "agents":
			options.Agents = fakeAgents(gjson.Parse(rest).Str)
		case word == "login":
			login.ways, options.Login = strings.Fields(rest), login
		case word == "webhook":
			options.Webhooks = hook
		case word == "known":
			options.Name = url
			must.Do(t, options.Store.PutCardFacts(url, &store.CardFacts{Name: rest}))
		case word == "mcp-file":
			options.MCPFile = agent
		case word == "editor-tools":
			tools, url = newToolsWire(t), "http://127.0.0.1/"
			options.EditorTools, options.Companion = tools.host, tools.companion
		case word == "journal":
			addToJournal(t, options.Store, rest)
		case word == "process":
			agent.process = &fakeProcess{done: make(chan struct{}), again: rest != "", up: make(chan struct{})}
			reach.Process = agent.process
			if rest != "" {
				url, reach.Resolve = "", agent.process.resolve
			}
			if rest != "starting" {
				close(agent.process.up)
			}
		case word == "options":
			must.Do(t, json.Unmarshal([]byte(rest), &options))
		case word == "" || strings.HasPrefix(word, "#"):
		default:
			word = "go"
		}
		if word == "go" {
			break
		}
		out.WriteString(inputs[0])
		inputs = inputs[1:]
	}

	client := must.Get(transport.NewClient(url, reach))(t)
	options.Client = client
	var editor wire
	var running running
	reads := make(chan struct{}, 1) // has a token while the editor does
	reads <- struct{}{}
	start := func() {
		running.run(t, &options, func(line string) {
			editor.write("E< " + line)
			<-reads
			reads <- struct{}{}
		}, func() {})
	}
	start()
	exited := false
	settle := func() {
		synctest.Wait()
		for _, l := range slices.Concat(agent.take(), editor.take(), tools.take()) {
			out.WriteString(l + "\n")
		}
		select {
		case err := <-running.ended:
			exited = true
			fmt.Fprintf(&out, "exit %v\n", err)
		default:
		}
	}
	handshake := func(params, cwd string) {
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":0,"method":"initialize","params":` + params + `}`,
			`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"` + cwd + `","mcpServers":[]}}`,
		} {
			io.WriteString(running.in, line+"\n")
			synctest.Wait()
		}
		for _, l := range editor.take() {
			if strings.Contains(l, `"error"`) {
				t.Errorf("handshake: %s", l)
			} else if !strings.Contains(l, `"result"`) {
				editor.write(l)
			}
		}
	}
	for _, l := range inputs {
		text := strings.ReplaceAll(strings.TrimSuffix(l, "\n"), "$DIR", tools.dir)
		if known := secrets.FindAllStringSubmatch(out.String(), -1); len(known) > 0 {
			text = strings.ReplaceAll(text, "$SECRET", known[len(known)-1][2])
		}
		word, rest, _ := strings.Cut(text, " ")
		switch word {
		case "E<", "A>", "M<", "L<", "exit":
			continue // what is expected
		}
		out.WriteString(l)
		switch {
		case word == "handshake":
			handshake(`{"protocolVersion":1,"clientCapabilities":{}}`, cmp.Or(rest, "/"))
		case word == "handshake2":
			handshake(`{"protocolVersion":2,"info":{"name":"editor","version":"1"},"capabilities":{}}`, cmp.Or(rest, "/"))
		case word == "E>" && rest == "EOF":
			running.in.Close()
		case word == "E>" && rest == "STOP":
			<-reads
		case word == "E>" && rest == "GO":
			reads <- struct{}{}
		case word == "E>" && rest == "KILL":
			// What a process has left behind when it is killed is what is on the
			// disk now: the next one gets a copy, and this one is ended unheard.
			dir := t.TempDir()
			must.Do(t, os.CopyFS(dir, os.DirFS(storeDir)))
			storeDir, options.Store = dir, openStore(t, dir)
			running.in.Close()
			if !exited {
				<-running.ended
			}
			synctest.Wait()
			agent.take()
			editor.take()
			start()
		case word == "E>":
			go func() { // ends when the bridge has read the line, or with its input
				io.WriteString(running.in, rest+"\n")
			}()
		case word == "M>":
			tools.say(rest)
		case word == "P>":
			hook.push(rest)
		case word == "U>":
			close(login.done)
		case word == "A<":
			if err := agent.say(rest); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		case word == "A=":
			agent.holds(rest)
		case word == "T+":
			time.Sleep(must.Get(time.ParseDuration(rest))(t))
		case word == "disk":
			breakJournal(t, storeDir, rest == "broken")
		case word == "clock":
			clock.Add(int64(must.Get(time.ParseDuration(rest))(t)))
		case text == "" || strings.HasPrefix(text, "#"):
		default:
			t.Fatalf("transcript: what is %q?", text)
		}
		settle()
	}
	running.in.Close()
	agent.close()
	if !exited {
		<-running.ended
	}
	client.Close()
	said := secrets.ReplaceAllString(strings.ReplaceAll(out.String(), tools.dir, "$DIR"), "$1$$SECRET")
	return strings.ReplaceAll(said, cmp.Or(storeDir, "$STORE"), "$STORE")
}

// addToJournal writes a line to the journal of a session whose beginning is missing.
func addToJournal(t *testing.T, sessions *store.Store, line string) {
	journal := sessions.Journal("old")
	must.Do(t, sessions.Put(store.Record{ID: "old", Cwd: cwd}))
	if sessions.JournalSize("old") == 0 {
		line = `{"cut":true}` + "\n" + line
	}
	must.Do(t, journal.Write([]byte(line+"\n")))
	journal.Close()
}

func openStore(t *testing.T, dir string) *store.Store {
	sessions := must.Get(store.Open(dir))(t)
	t.Cleanup(sessions.Wait)
	return sessions
}
