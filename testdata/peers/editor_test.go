package peers

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// An editorScene is what a script has begun of an editor that speaks ACP.
type editorScene struct {
	client   *Editor
	buffers  map[string]string // by path; nil: it serves no files
	sessions map[string]string // IDs, by folder
	turns    map[string]*Turn  // the newest of each session
	held     map[string]*Permission
	shouter  *shouter

	cancelled time.Time
}

// cancelLimit is the bridge's grace period, and some time for a busy machine.
const cancelLimit = 20 * time.Second

// editorCommands are those of scripts in which an editor has an agent. A session is named by its folder.
//
//	editor ARG...           the scripted editor starts a2astdio
//	acp ARG...              or an ACP agent of somebody else's, made with Node, with a scripted model
//	buffer FILE TEXT        it has this file open, not saved; buffered FILE TEXT demands it
//	session FOLDER JSON...  a session in a folder with an edit.txt, with these MCP servers
//	user KIND [BEGIN KIND]  how the user answers: the kind of an option, cancelled, or later; calls whose ID
//	                        begins so have an answer of their own
//	prompt FOLDER TEXT      a prompt; [[NAME]] makes the scripted model follow a script
//	waits FOLDER text|output|question [TEXT]  until the turn has come so far
//	answer FOLDER KIND      the question that was waited for
//	cancel FOLDER           the user cancels the turn
//	ends FOLDER REASON [live]  waits for the turn's end, and writes what the user has seen; live: and how calls went
//	close                   the editor quits
//	shouter NAME            $NAME is the URL of an MCP server; heard HEADER demands an agent that has come with this
//	homes N                 so many homes of started agents are there, with no MCP server in them
//	gemini                  $GEMINI is the URL of the Gemini CLI A2A server, $GEMINI_COMMAND starts another
var editorCommands = map[string]sceneCommand{
	"editor": func(s *scene, args []string) {
		s.client, s.sessions = openFiles(s.t, s.ts.Getenv("HOME"), s.buffers, args...), nil
	},
	"acp": func(s *scene, args []string) {
		cmd := s.withModel(append(args, "--acp"))
		cmd.Env = append(cmd.Env, "REMOTE_CONTAINERS=true", "GEMINI_CLI_NO_RELAUNCH=true")
		s.client = begin(s.t, cmd)
		s.t.Cleanup(s.client.Kill)
		s.client.Call("initialize", object{"protocolVersion": 1, "clientCapabilities": object{}})
		s.sessions = map[string]string{".": s.client.NewSession(s.places.workspace)}
	},
	"buffer": func(s *scene, args []string) {
		if s.buffers == nil {
			s.buffers = map[string]string{}
		}
		s.buffers[s.ts.MkAbs(args[0])] = args[1]
	},
	"buffered": func(s *scene, args []string) {
		equal(s.t, s.client.Buffer(s.ts.MkAbs(args[0])), args[1])
	},
	"session": func(s *scene, args []string) {
		if s.sessions == nil {
			s.sessions = map[string]string{}
		}
		var servers []any
		for _, text := range args[1:] {
			var server any
			mustDo(s.t, json.Unmarshal([]byte(text), &server))
			servers = append(servers, server)
		}
		dir := s.ts.MkAbs(args[0])
		write(s.t, filepath.Join(dir, "edit.txt"), "alpha\nbeta\n")
		s.sessions[args[0]] = s.client.NewSession(dir, servers...)
	},
	"user": func(s *scene, args []string) {
		s.client.SetPolicy(func(p *Permission) string {
			if len(args) > 1 && strings.HasPrefix(p.CallID, args[1]) {
				return args[2]
			}
			return strings.TrimPrefix(args[0], "later")
		})
	},
	"prompt": func(s *scene, args []string) {
		if s.turns == nil {
			s.turns, s.held = map[string]*Turn{}, map[string]*Permission{}
		}
		if strings.HasPrefix(args[1], "[[") {
			args[1] += " in " + s.ts.MkAbs(args[0])
		}
		s.turns[args[0]] = s.client.Prompt(s.sessions[args[0]], args[1])
	},
	"waits": func(s *scene, args []string) {
		switch turn := s.turns[args[0]]; args[1] {
		case "text":
			turn.WaitText(args[2])
		case "output":
			turn.WaitOutput(args[2])
		case "question":
			s.held[args[0]] = turn.WaitPermission()
		}
	},
	"answer": func(s *scene, args []string) { s.held[args[0]].Answer(args[1]) },
	"cancel": func(s *scene, args []string) {
		s.cancelled = time.Now()
		s.client.Cancel(s.sessions[args[0]])
	},
	"ends": func(s *scene, args []string) {
		turn := s.turns[args[0]]
		o := turn.Wait()
		equal(s.t, o.StopReason+o.Code, args[1], turn.text, o.Details)
		if took := time.Since(s.cancelled); o.StopReason == "cancelled" && took > cancelLimit {
			s.t.Errorf("the cancel took %v", took)
		}
		turn.tell(s.ts.Stdout(), o, len(args) > 2, s.ts.Getenv("WORK"))
	},
	"close": func(s *scene, _ []string) { s.client.Close() },
	"shouter": func(s *scene, args []string) {
		s.shouter = startShouter(s.t)
		s.ts.Setenv(args[0], s.shouter.url)
	},
	"heard": func(s *scene, args []string) {
		equal(s.t, s.shouter.has(args[0]), true, "an agent has come with", args[0])
	},
	"homes": func(s *scene, args []string) {
		homes := homesOf(s.t, s.ts.Getenv("HOME"))
		for _, dir := range homes {
			if left, err := os.ReadDir(filepath.Join(dir, ".gemini", "extensions")); err != nil || len(left) > 0 {
				s.t.Errorf("the servers are still written down: %v %v", left, err)
			}
		}
		equal(s.t, fmt.Sprint(len(homes)), args[0], homes)
	},
	"gemini": func(s *scene, _ []string) {
		s.ts.Setenv("GEMINI", gemini(s.t))
		s.ts.Setenv("GEMINI_COMMAND", geminiCommand(s.t))
	},
}

// script is the prompt that makes the model follow a script in a directory.
func script(name, dir string) string { return "[[" + name + "]] in " + dir }

// tell writes what the user has seen of a turn: thoughts, messages, questions, calls with the output that
// they end with, and an error.
func (t *Turn) tell(w io.Writer, o *Outcome, live bool, work string) {
	var b strings.Builder
	for line := range strings.FieldsFuncSeq(o.Thoughts, func(r rune) bool { return r == '\n' }) {
		fmt.Fprintln(&b, "thought:", line)
	}
	for _, line := range t.story() {
		if text, ok := strings.CutPrefix(line, "agent_message_chunk "); ok {
			fmt.Fprintln(&b, strings.TrimSpace(text))
		}
	}
	for _, p := range o.Asked {
		fmt.Fprintln(&b, "asked:", p.Title)
		if path, now, ok := p.Diff(); ok {
			fmt.Fprintf(&b, "  diff %s: %q\n", path, now)
		}
	}
	for _, c := range o.Calls {
		fmt.Fprintf(&b, "call: %s: %s\n", c.Title, c.Status)
		for line := range strings.Lines(c.Output()) {
			fmt.Fprintln(&b, " ", strings.TrimSuffix(line, "\n"))
		}
		if live {
			fmt.Fprintf(&b, "  shown %d times: %s\n", len(c.Shown), strings.Join(slices.Compact(slices.Clone(c.Statuses)), ", "))
		}
	}
	if o.Code != "" {
		fmt.Fprintln(&b, "error:", o.Details)
	}
	text := anyID.ReplaceAllString(strings.ReplaceAll(b.String(), work, "WORK"), "ID")
	_, _ = io.WriteString(w, text)
}

var anyID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
