package dialect

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// gemini is what the Gemini CLI A2A server speaks, as recorded from builds 0.25.2 and
// 0.61 (testdata/recordings/gemini). It has no specification; the metadata key is the
// plain word coderAgent.
//
// Its faults, and where they are handled: options are never sent (options, below);
// output so far claims to be appended and is sent whole each time (OutputSoFar); events
// are repeated (package shown); an error is an empty object (geminiError).
type gemini struct{ base }

// geminiKey is the metadata key of the dialect, in both directions.
const geminiKey = "coderAgent"

// about: its tasks/cancel ends the task, and the conversation with it; it stops as
// well when the connection is ended, unless a tool is at work. Its history has the
// first chunk of each message. Build 0.25.2 gives each chunk an ID of its own, and waits for ever when
// an answer has newContent; 0.61 takes it, and neither says which it is.
func (gemini) about() about {
	return about{name: Gemini, sign: geminiKey,
		traits: Traits{Approvals: true, HangUpStops: true, TaskIsConversation: true, PartialHistory: true, Differences: true, Chunks: true, EndsAsking: true}}
}

// geminiName is the name on the card of Gemini CLI's A2A server. Without its
// settings that server works in its own directory and does not say so, hence
// they must be written before it has said anything.
const geminiName = "Gemini SDLC Agent"

func (gemini) matchesCard(card *a2a.Card) bool { return card.Name == geminiName }

func (gemini) settings(s AgentSettings, _ string) (key string, members map[string]any) {
	return geminiKey, map[string]any{"kind": "agent-settings", "workspacePath": s.Workspace}
}

// commands: the server has routes of its own for them. Most answer with a document
// at once.
func (gemini) commands() SlashCommands {
	return SlashCommands{List: SideRequest{Path: "/listCommands"}, Run: func(path []string, args string) SideRequest {
		return SideRequest{Path: "/executeCommand", Params: struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
		}{strings.Join(path, " "), strings.Fields(args)}}
	}, Text: geminiCommandText}
}

// geminiCommandText puts the answer of POST /executeCommand into words: its data as
// they are, if they are text.
func geminiCommandText(raw json.RawMessage) string {
	data := gjson.GetBytes(raw, "data")
	if content := data.Get("content"); content.Type == gjson.String {
		return content.Str
	}
	if data.Type == gjson.String {
		return data.Str
	}
	return "```json\n" + strings.TrimSpace(data.Get("@pretty").Raw) + "\n```\n"
}

func (gemini) readMeta(metadata a2a.JSON, m *Meta) (found bool) {
	gjson.Parse(string(metadata)).ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case geminiKey:
			found = true
			switch v.Get("kind").Str {
			case "tool-call-confirmation", "tool-call-update", "text-content", "citation", "state-change":
				m.kind = kindOther
			case "thought":
				m.kind = kindThought
			}
		case "model":
			m.Model = v.Str
		case "userTier":
			m.UserTier = v.Str
		case "error":
			m.Err = v.String()
		case "usageMetadata":
			m.Usage = a2a.JSON(v.Raw)
		}
		return true
	})
	return found
}

func (gemini) CallID(data calls.Object) (id string, ok bool) {
	id = calls.StringOf(rawjson.Member(data.Get("request"), "callId"))
	return id, id != "" && data.Has("status")
}

func (gemini) Answered(data calls.Object) (id string, ok bool) {
	return calls.StringOf(data.Get("callId")), data.Has("outcome")
}

// Repeats: the tool's schema, twice, is most of each event.
func (gemini) Repeats(member string) bool { return member == "tool" || member == "request" }

func (gemini) ToolCall(data calls.Object, c *calls.ToolCall) {
	request, tool := data.Object("request"), data.Object("tool")
	c.Name = calls.StringOf(request.Get("name"))
	c.Input = a2a.JSON(request.Value("args"))
	display := request.Get("display")
	c.Description = calls.StringOf(rawjson.Member(display, "description"))
	c.DisplayName = cmp.Or(calls.StringOf(rawjson.Member(display, "name")), calls.StringOf(tool.Get("displayName")))
	c.Kind = geminiKind(rawjson.Text(tool.Get("kind")))
	if details := data.Get("confirmationDetails"); rawjson.IsObject(details) {
		c.Confirmation = geminiConfirmation(details)
	}
	switch rawjson.Text(data.Get("status")) {
	case "validating", "scheduled":
		c.Status = calls.Pending
	case "awaiting_approval":
		c.Status = calls.Pending
		c.Asks = !data.Has("outcome")
	case "executing":
		c.Status = calls.Executing
		c.SetOutputSoFar(data.Get("liveOutput"))
	case "success":
		c.Status = calls.Succeeded
		c.Output = geminiOutput(data.Get("response"))
	case "error":
		c.Status = calls.Failed
		c.Error = geminiError(data.Get("response"))
	case "cancelled":
		c.Status = calls.Cancelled
	}
}

func geminiKind(kind string) string {
	switch kind {
	case "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode":
		return kind
	case "agent":
		return "think"
	case "":
		return ""
	}
	return "other"
}

func geminiConfirmation(raw string) *calls.Confirmation {
	var room [12]calls.Member
	o := calls.ReadObject(room[:0], raw)
	c := &calls.Confirmation{}
	switch kind := rawjson.Text(o.Get("type")); kind {
	case "exec", "sandbox_expansion":
		c.Execute = &calls.ExecuteDetails{Command: calls.StringOf(o.Get("command"))}
		if kind != "exec" {
			// The same command, with more permissions: another question.
			permissions := cmp.Or(o.Get("additionalPermissions"), "{}")
			c.Unread = a2a.JSON(`{"type":` + o.Get("type") + `,"additionalPermissions":` + permissions + `}`)
		}
	case "edit":
		c.Edit = geminiDiff(o)
	case "mcp":
		c.MCP = &calls.MCPDetails{ServerName: calls.StringOf(o.Get("serverName")), ToolName: calls.StringOf(o.Get("toolName"))}
	default:
		c.Generic = &calls.GenericDetails{Kind: kind, Description: geminiDescription(gjson.Parse(raw))}
	}
	return c
}

// geminiDescription puts what info, ask_user and the like ask into words.
func geminiDescription(v gjson.Result) string {
	var b strings.Builder
	b.WriteString(v.Get("title").String())
	line := func(s string) {
		if s != "" {
			b.WriteString("\n" + s)
		}
	}
	line(v.Get("prompt").String())
	v.Get("urls").ForEach(func(_, u gjson.Result) bool { line(u.String()); return true })
	v.Get("questions").ForEach(func(_, q gjson.Result) bool {
		line(q.Get("question").String())
		q.Get("options").ForEach(func(_, o gjson.Result) bool { line("- " + o.Get("label").String()); return true })
		return true
	})
	return strings.TrimPrefix(b.String(), "\n")
}

// geminiDiff reads both what is proposed and what was written. The server sends
// an empty originalContent for a new file, as for an empty one; only a result
// tells them apart.
func geminiDiff(o calls.Object) *calls.FileDiff {
	d := &calls.FileDiff{
		FileName:   calls.StringOf(o.Get("fileName")),
		FilePath:   calls.StringOf(o.Get("filePath")),
		NewContent: calls.StringOf(o.Get("newContent")),
		Formatted:  calls.StringOf(o.Get("fileDiff")),
	}
	if old := rawjson.Text(o.Get("originalContent")); old != "" && !gjson.Parse(o.Get("isNewFile")).Bool() {
		d.OldContent = &old
	}
	return d
}

func geminiOutput(response string) *calls.Output {
	display := rawjson.Member(response, "resultDisplay")
	switch {
	case rawjson.IsString(display):
		return &calls.Output{Text: calls.TrimScreen(calls.StringOf(display))}
	case rawjson.IsArray(display):
		return &calls.Output{Text: terminalText(gjson.Parse(display))}
	case !rawjson.IsObject(display):
		return &calls.Output{}
	}
	var room [12]calls.Member
	o := calls.ReadObject(room[:0], display)
	if o.Has("newContent") && o.Has("filePath") {
		return &calls.Output{Diff: geminiDiff(o)}
	}
	return &calls.Output{Text: calls.StringOf(o.Get("summary")), Data: a2a.JSON(display)}
}

func geminiError(response string) *calls.ErrorDetails {
	e := &calls.ErrorDetails{Message: calls.StringOf(rawjson.Member(response, "resultDisplay")), Type: calls.StringOf(rawjson.Member(response, "errorType"))}
	e.Message = cmp.Or(e.Message, calls.StringOf(rawjson.Member(rawjson.Member(response, "error"), "message")), "the tool failed and the agent does not say why")
	return e
}

// terminalText flattens the screen of a pty: an array of lines of tokens.
func terminalText(lines gjson.Result) string {
	var b strings.Builder
	lines.ForEach(func(_, line gjson.Result) bool {
		line.ForEach(func(_, token gjson.Result) bool {
			b.WriteString(token.Get("text").String())
			return true
		})
		b.WriteByte('\n')
		return true
	})
	return calls.TrimScreen(b.String())
}

// OutputSoFar: artifact tool-<callId>-output says append:true and holds the whole
// output so far.
func (gemini) OutputSoFar(a *a2a.Artifact) (callID string, soFar calls.Sent, ok bool) {
	id, found := strings.CutPrefix(a.ID, "tool-")
	if id, ok = strings.CutSuffix(id, "-output"); !ok || !found {
		return "", calls.Sent{}, false
	}
	soFar.Screen = true
	p := new(a2a.Part)
	p.FastPath().Lazy = true
	for rest := a.Parts; rest.Next(p); {
		if p.Kind == a2a.PartText {
			// The SDK may put the same part into an event twice, and a snapshot
			// has one for each update: the last is the newest.
			soFar.Text, soFar.JSON = p.Text, p.TextJSON
		}
	}
	return id, soFar, true
}

// options are those that Gemini CLI's own ACP agent offers, by what is asked. The
// server forgets "always", or fails on it (proceed_always makes an edit fail in
// every task that is made by a message, and does not stick for a shell), so the
// bridge remembers it and sends "once". The names say what is remembered.
func (gemini) options(c *calls.ToolCall) []ask.Option {
	const once, cancel = "proceed_once", "cancel"
	var options []ask.Option
	always := func(id, name string, s ask.Scope, width ask.Width) {
		options = append(options, ask.Option{ID: id, Name: name, Kind: acp.OptionAllowAlways, Certain: true,
			Remember: &s, Send: once, Width: width})
	}
	scope := ask.ScopeOf(c)
	if wider, ok := scope.Wider(); ok {
		always("proceed_always_server", "Always allow "+wider.String()+" in this session", wider, ask.WidthServer)
	}
	if scope.Kind != ask.ScopeNone {
		id := "proceed_always"
		if scope.Kind == ask.ScopeServerTool {
			id = "proceed_always_tool"
		}
		what := scope.String()
		if len(what) > ask.TitleMax/2 {
			what = "exactly this"
		}
		always(id, "Always allow "+what+" in this session", scope, ask.WidthSession)
	}
	return append(options, ask.NewOption(calls.ConfirmationOption{ID: once, Name: "Allow"}),
		ask.NewOption(calls.ConfirmationOption{ID: cancel, Name: "Reject"}))
}

// answer has this dialect's keys only: the server ignores the RFC's keys without an
// error, and goes on waiting.
func (gemini) answer(a ask.Answer, m *a2a.Outgoing) error {
	return addData(m, struct {
		CallID  string `json:"callId"`
		Outcome string `json:"outcome"`
	}{a.Call.ID, a.OptionID}, "")
}
