package dialect

import (
	"cmp"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// codexNPM is the npm package codex-a2a (0.1.2), which puts Codex's SDK behind A2A in
// the shape of Gemini's server, under the word codexAgent. Seen with that version.
//
// Its call IDs (item_1) begin anew in each task, and so does the artifact that has
// the turn's usage. It asks nothing.
type codexNPM struct{ base }

const codexNPMKey = "codexAgent"

// about: text comes in status messages, each with an ID of its own.
func (codexNPM) about() about {
	return about{name: "codex-npm", sign: codexNPMKey, traits: Traits{Differences: true, Chunks: true}}
}

func (codexNPM) recognizes(ev *a2a.Event) bool {
	return gjson.Get(string(ev.Metadata), codexNPMKey).IsObject()
}

func (d codexNPM) message(m *a2a.Message, at *Carrier, to *Pieces) bool {
	if at.Ends {
		return false // why it has failed
	}
	for p := range m.Parts.All() {
		switch {
		case p.Kind == a2a.PartText:
			to.text(PieceText, p.Text)
		case p.Kind != a2a.PartData:
			to.part(p)
		default:
			v := gjson.Parse(string(p.Data))
			if v.Get("request.callId").Exists() {
				d.tool(v, to)
			} else if text := v.Get("text"); text.Type == gjson.String {
				to.text(PieceWholeThought, text.Str)
			} else {
				to.part(p)
			}
		}
	}
	return true
}

// artifact is the output of a call, or the turn's usage.
func (codexNPM) artifact(a *a2a.Artifact, at *Carrier, to *Pieces) bool {
	id, found := strings.CutPrefix(a.ID, "tool-")
	id, ok := strings.CutSuffix(id, "-output")
	if !found || !ok {
		return false
	}
	text := a.Parts.Text()
	switch {
	case id == "turn-usage":
		if u := gjson.Get(text, "usage"); u.IsObject() {
			to.Usage = a2a.JSON(u.Raw)
		}
	case at.Appends: // a command's output; that of other calls is in the calls
		to.output(id, text)
	}
	return true
}

// tool adds the call of a data part.
func (codexNPM) tool(v gjson.Result, to *Pieces) {
	c := calls.ToolCall{ID: v.Get("request.callId").String(), Name: v.Get("request.name").String(), Kind: acp.KindOther, Status: statusOf(v)}
	readCodexItem(v, &c)
	switch c.Name {
	case "web_search":
		c.Kind, c.Description = acp.KindFetch, v.Get("query").String()
	case "mcp_tool_call":
		if result := v.Get("result"); result.Exists() && result.Type != gjson.Null {
			c.Output = &calls.Output{Data: a2a.JSON(result.Raw)}
		}
	case "todo_list":
		c.Name, c.Status = "update_plan", calls.Succeeded
		// Each state of the list is a call that writes it, as in other agents.
		state := fnv.New32a()
		_, _ = state.Write([]byte(c.Input)) // a hash takes anything
		c.ID += "-" + strconv.FormatUint(uint64(state.Sum32()), 36)
	}
	if failure := cmp.Or(v.Get("error.message").String(), v.Get("error").String()); c.Status == calls.Failed && failure != "" {
		c.Error = &calls.ErrorDetails{Message: failure}
	}
	to.call(c)
}

// statusOf reads the words of coding agents for the state of a call; [calls.Unspecified] for others.
func statusOf(call gjson.Result) calls.Status {
	switch call.Get("status").Str {
	case "pending", "running", "in_progress", "updated":
		return calls.Executing
	case "completed":
		return calls.Succeeded
	case "failed", "error", "cancelled":
		return calls.Failed
	}
	return calls.Unspecified
}

// readCodexItem reads into c what an item of Codex's SDK is about: a command, changes of files, a to-do list,
// or a tool of an MCP server. Other programs that put coding agents behind A2A have these members, too.
func readCodexItem(v gjson.Result, c *calls.ToolCall) {
	switch changes, items, server := v.Get("changes"), v.Get("items"), v.Get("server").Str; {
	case v.Get("command").Exists():
		c.Kind, c.Input = acp.KindExecute, a2a.JSON(`{"command":`+quoted(v.Get("command").Str)+`}`)
	case changes.IsArray():
		c.Kind, c.DisplayName = acp.KindEdit, "Edit"
		c.Input, c.Description = codexChanges(changes)
	case items.IsArray():
		c.Input = codexTodos(items)
	case server != "":
		c.DisplayName = server + ": " + first(v, "toolName", "tool").Str
		c.Input = a2a.JSON(first(v, "arguments", "args").Raw)
	}
	if exit := v.Get("exitCode"); exit.Type == gjson.Number && exit.Num != 0 {
		c.Note = "exit code " + strconv.FormatInt(exit.Int(), 10)
	}
}

func quoted(s string) string { return string(rawjson.AppendString(nil, s)) }

// codexChanges spells what has changed as a tool's input, whose path editors open.
func codexChanges(changes gjson.Result) (input a2a.JSON, words string) {
	var list []string
	path := ""
	changes.ForEach(func(_, c gjson.Result) bool {
		path = c.Get("path").String()
		list = append(list, c.Get("kind").String()+" "+path)
		return true
	})
	in := `{"changes":` + changes.Raw
	if len(list) == 1 {
		in += `,"path":` + quoted(path)
	}
	return a2a.JSON(in + "}"), strings.Join(list, ", ")
}

// codexTodos spells a to-do list as a tool's input that editors show as a plan.
func codexTodos(items gjson.Result) a2a.JSON {
	entries := []map[string]string{}
	for _, t := range items.Array() {
		status := map[bool]string{true: "completed", false: "pending"}[t.Get("completed").Bool()]
		entries = append(entries, map[string]string{"content": t.Get("text").String(), "status": status})
	}
	b, _ := rawjson.Marshal(map[string]any{"entries": entries}) // strings, all of them
	return a2a.JSON(b)
}
