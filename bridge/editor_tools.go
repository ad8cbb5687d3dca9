package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/mapping/mcp"
)

// This file serves an ACP editor to the agent, as MCP tools: see [Options.EditorTools]. In
// plain words:
//
//   - The tools work while a prompt of the session runs, and for files inside the session's
//     directories, links resolved, without hidden ones. A directory that holds the user's home
//     has none.
//   - What is read is what the editor has open, with changes that are not saved.
//   - A change is asked for like an edit that an agent wants approved, by the same rules
//     (approve.go). Nothing is written if the file has changed since the user was asked.

// editorTools are those of one session.
type editorTools struct {
	editor  *acpEditor
	session *Session
}

// editorToolsName is what the agent knows the server by.
const editorToolsName = "a2astdio_editor"

// serveTools begins to serve a session's editor, if [Options.EditorTools] says so and the
// editor has something to serve.
func (e *acpEditor) serveTools(s *Session) error {
	start := e.server.agent.opts.EditorTools
	t := &editorTools{editor: e, session: s}
	if start == nil || len(t.offered()) == 0 {
		return nil
	}
	url, token, stop, err := start(t.answer)
	if err != nil {
		return fmt.Errorf("bridge: the editor's tools cannot be served: %w", err)
	}
	s.endOwn, s.asking = stop, make(chan struct{}, 1)
	s.own, err = json.Marshal(map[string]any{"type": "http", "name": editorToolsName, "url": url,
		"headers": []any{map[string]string{"name": "Authorization", "value": "Bearer " + token}}})
	return err
}

// endTools ends the server, if there is one.
func (s *Session) endTools() {
	if s.endOwn != nil {
		_ = s.endOwn() // nobody can do anything about it
	}
}

// The tools, as MCP lists them.
const (
	pathMember = `"path":{"type":"string","description":"The absolute path of a file in the user's workspace"}`
	readTool   = `{"name":"read_text_file","description":"Reads a text file as the user's editor has it, with changes that are not saved.",` +
		`"inputSchema":{"type":"object","properties":{` + pathMember + `,"line":{"type":"integer","description":"The first line, from 1"},` +
		`"limit":{"type":"integer","description":"How many lines"}},"required":["path"]}}`
	writeTool = `{"name":"write_text_file","description":"Writes a whole text file through the user's editor. The user is asked first.",` +
		`"inputSchema":{"type":"object","properties":{` + pathMember + `,"content":{"type":"string","description":"The whole new content"}},"required":["path","content"]}}`
	openTool = `{"name":"open_files","description":"Lists the files that the user has open, with the cursor and the selection.",` +
		`"inputSchema":{"type":"object","properties":{}}}`
)

// offered are the tools for which the editor has what they need.
func (t *editorTools) offered() (tools []string) {
	can := t.editor.can
	if can.reads {
		tools = append(tools, readTool)
	}
	if can.reads && can.writes {
		tools = append(tools, writeTool)
	}
	if t.editor.server.opts.Companion != nil && t.editor.server.ide.announced {
		tools = append(tools, openTool)
	}
	return tools
}

// answer answers a message of the agent's.
func (t *editorTools) answer(ctx context.Context, m *mcp.Message) *mcp.Reply {
	if m.Method == "initialize" {
		return m.Initialize(mcp.Versions(), mcp.Implementation{Name: editorToolsName, Title: "The user's editor", Version: t.editor.server.opts.Version})
	}
	tools := t.offered()
	list := json.RawMessage(`{"tools":[` + strings.Join(tools, ",") + `]}`)
	return m.Answer(list, func(params json.RawMessage) (*mcp.CallResult, *mcp.Error) {
		name := gjson.GetBytes(params, "name").String()
		if !slices.ContainsFunc(tools, func(tool string) bool { return gjson.Get(tool, "name").Str == name }) {
			return nil, &mcp.Error{Code: jsonrpc2.CodeInvalidParams, Message: "there is no tool " + name}
		}
		text, err := t.call(ctx, name, gjson.GetBytes(params, "arguments"))
		refused := (*jsonrpc2.Error)(nil)
		switch {
		case err == nil:
			return mcp.Text(text), nil
		case errors.Is(err, context.Canceled):
			err = errors.New("the user's prompt is over")
		case errors.As(err, &refused):
			err = errors.New("editor: " + refused.Message)
		}
		return mcp.Failure(err), nil
	})
}

// call runs a tool, until the turn that runs is over.
func (t *editorTools) call(ctx context.Context, name string, args gjson.Result) (string, error) {
	turn := t.session.running()
	if turn == nil || turn.isLoaded {
		return "", errors.New("no prompt of the user's is running: the editor is served only meanwhile")
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(turn.released, stop)()
	defer context.AfterFunc(turn.cancelled, stop)()
	if name == "open_files" {
		return t.openFiles()
	}
	path, err := t.served(args.Get("path").Str)
	switch content := args.Get("content"); {
	case err != nil:
		return "", err
	case name == "read_text_file":
		return t.editor.readBuffer(ctx, t.session.ID, path, int(args.Get("line").Int()), int(args.Get("limit").Int()))
	case content.Type != gjson.String:
		return "", errors.New("content is missing")
	default:
		return t.write(ctx, path, content.Str)
	}
}

// served returns the path of a file that the agent may have: see the rules above.
func (t *editorTools) served(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", errors.New("path must be absolute")
	}
	path = filepath.Clean(path)
	real, ok := resolve(path)
	if info, err := os.Stat(real); !ok || err == nil && !info.Mode().IsRegular() || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s is no file", path)
	}
	dirs := t.session.directories()
	for _, dir := range dirs {
		if root, ok := resolveNarrow(dir); ok && isPlainBelow(root, real) {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not served: the editor serves files inside %s, without hidden ones, and none of a directory that holds the user's home",
		path, strings.Join(dirs, ", "))
}

// openFiles says what the user has open, as the companion knows it.
func (t *editorTools) openFiles() (string, error) {
	files := slices.DeleteFunc(t.editor.server.ide.openFiles(), func(f OpenFile) bool {
		_, err := t.served(f.Path)
		return err != nil
	})
	text, err := json.Marshal(map[string]any{"files": files})
	return string(text), err
}

// write asks the user about a file's new content, and has the editor write it.
func (t *editorTools) write(ctx context.Context, path, content string) (string, error) {
	old, err := t.current(ctx, path)
	if err != nil {
		return "", err
	}
	id := "a2astdio-write-" + t.session.agent.opts.NewID()
	call := &mapping.ToolCall{ID: id, Shown: id, Status: mapping.ToolPending, Name: "write_text_file", Kind: acp.KindEdit, Asks: true,
		Confirmation: &mapping.Confirmation{Edit: &mapping.FileDiff{FileName: filepath.Base(path), FilePath: path, OldContent: old, NewContent: content}}}
	view := &acpView{editor: t.editor, session: t.session, out: t.editor.spelling(t.session)}
	view.out.Cwd = t.session.Cwd
	show := func(step mapping.Step) {
		step.Kind, step.Tool = mapping.StepTool, call
		t.editor.send(context.WithoutCancel(ctx), view.out.Append(nil, []mapping.Step{step}))
	}
	show(mapping.Step{New: true, Changed: mapping.ToolHead | mapping.ToolState | mapping.ToolContent})
	d, err := t.decide(ctx, view, call)
	if err == nil && d.newContent != nil {
		content = *d.newContent
	}
	if err == nil {
		err = t.put(ctx, path, old, content)
	}
	call.Asks, call.Status = false, mapping.ToolSucceeded
	call.Output = &mapping.ToolOutput{Diff: &mapping.FileDiff{FileName: filepath.Base(path), FilePath: path, OldContent: old, NewContent: content}}
	if err != nil {
		call.Status, call.Output, call.Error = mapping.ToolFailed, nil, &mapping.ErrorDetails{Message: "Nothing was written: " + err.Error()}
	}
	show(mapping.Step{Changed: mapping.ToolState | mapping.ToolContent})
	switch {
	case err != nil:
		return "", err
	case d.newContent != nil:
		return "written, with changes of the user's: read it again", nil
	}
	return "written", nil
}

// decide returns the decision about a write, beside an error if that is not allowed.
func (t *editorTools) decide(ctx context.Context, view *acpView, call *mapping.ToolCall) (decision, error) {
	const once = "allow"
	scope := ask.ScopeOf(call)
	q := nameLinkTargets(ask.NewQuestion(call, []mapping.Option{
		{ID: once, Name: "Allow", Kind: acp.OptionAllowOnce, Certain: true},
		{ID: "always", Name: "Always allow " + scope.String() + " in this session", Kind: acp.OptionAllowAlways, Certain: true, Remember: &scope, Send: once},
		{ID: "reject", Name: "Reject", Kind: acp.OptionRejectOnce, Certain: true},
	}, true), true)
	d, ok := t.session.decide(q)
	seen := func(o Observation) {
		o.Session, o.Call = t.session.ID, call.ID
		t.session.agent.observe(&o)
	}
	if !ok {
		seen(Observation{What: ObservedAsk})
		answer, err := view.askOne(ctx, q)
		if err != nil {
			return d, err
		}
		d = t.session.accept(q, answer)
	}
	seen(Observation{What: ObservedAnswer, Option: d.option.ID, Outcome: d.option.Kind, By: d.by})
	if !d.option.Allows() {
		return d, errors.New("the user has not allowed it")
	}
	return d, ctx.Err()
}

// put has the editor write a file, if that is still as the user has seen it.
func (t *editorTools) put(ctx context.Context, path string, old *string, content string) error {
	if _, err := t.served(path); err != nil {
		return err
	}
	now, err := t.current(ctx, path)
	if err != nil {
		return err
	}
	if (now == nil) != (old == nil) || now != nil && *now != *old {
		return errors.New("the file has changed since the user was asked: read it again")
	}
	return t.editor.server.call(ctx, acp.MethodWriteTextFile, map[string]string{"sessionId": t.session.ID, "path": path, "content": content}, nil, nil)
}

// current returns the content of a file, nil if there is none.
func (t *editorTools) current(ctx context.Context, path string) (*string, error) {
	text, err := t.editor.readBuffer(ctx, t.session.ID, path, 0, 0)
	if err == nil {
		return &text, nil
	}
	if _, stat := os.Lstat(path); isEditorError(err) && errors.Is(stat, fs.ErrNotExist) {
		return nil, nil
	}
	return nil, err
}
