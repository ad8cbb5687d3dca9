package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// An ide is the companion of one editor: [Options.Companion] makes it when the
// editor's protocol and directory are known. The read loop starts it and hands it
// messages; [Serve] closes it.
type ide struct {
	server    *server
	prefix    string // what ACP wants before a method that is not its own; "": the editor speaks A2A lines
	announced bool   // an ACP editor has announced the companion: see isDeaf
	name      string // of the editor, "" if it has not said

	mu            sync.Mutex
	companion     Companion
	err           error // of the start
	closed        bool
	workspaces    []string
	namedByEditor bool // the editor has named the workspaces itself, so that sessions add none
}

// The companion's methods, as A2A lines spell them.
const (
	ideMethods       = "ide/"
	companionMethods = "companion/"
	methodWorkspaces = "companion/workspaces"
)

// errNotAnnounced is the companion's error for a message that an ACP editor would not
// know.
var errNotAnnounced = errors.New("editor: it has not announced the companion")

// introduce notes what an ACP editor says of itself.
func (i *ide) introduce(p *acp.InitializeRequest) {
	i.prefix = "_"
	i.announced = gjson.GetBytes(p.ClientCapabilities, "_meta.a2astdio.companion").IsObject()
	if p.ClientInfo != nil {
		i.name = cmp.Or(p.ClientInfo.Title, p.ClientInfo.Name)
	}
}

// isDeaf reports whether the editor gets nothing from the companion: an ACP editor gets only
// what it has announced, since some show unknown messages as errors.
func (i *ide) isDeaf() bool { return i.prefix != "" && !i.announced }

// open starts the companion, or tells the one that runs of another directory.
func (i *ide) open(dir string) {
	start := i.server.opts.Companion
	if start == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed || i.err != nil || i.namedByEditor || slices.Contains(i.workspaces, dir) {
		return
	}
	i.workspaces = append(i.workspaces, dir)
	if i.companion == nil {
		i.companion, i.err = start(i, CompanionInfo{Name: i.name, Workspace: dir, NoDiffs: i.isDeaf()})
		return
	}
	params, _ := json.Marshal(map[string]any{"workspaces": i.workspaces}) // texts always encode
	if _, err := i.companion.Handle(methodWorkspaces, params); err != nil {
		i.server.opts.Log.Warn("the companion is not told of a workspace", "workspace", dir, "err", err)
	}
}

// handles reports whether a message is the companion's, and if so answers it.
func (i *ide) handles(c *editorRequest) bool {
	method, ok := strings.CutPrefix(c.method, i.prefix)
	if !ok || i.server.opts.Companion == nil || !strings.HasPrefix(method, ideMethods) && !strings.HasPrefix(method, companionMethods) {
		return false
	}
	if i.prefix == "" {
		i.open(i.server.opts.workspace()) // without --protocol this may be its first message
	}
	i.mu.Lock()
	companion, err := i.companion, i.err
	i.mu.Unlock()
	if companion == nil && err == nil {
		err = errors.New("editor: the companion starts with the first session: open one with session/new")
	}
	var result any
	if err == nil {
		if result, err = companion.Handle(method, c.raw); err == nil && method == methodWorkspaces {
			i.mu.Lock()
			i.namedByEditor = true
			i.mu.Unlock()
		}
	}
	switch coded := interface{ Code() int }(nil); {
	case err == nil:
		c.reply(result)
	case c.isNotification:
		i.server.opts.Log.Warn("the editor has sent a notification that the companion cannot use", "err", err)
	case errors.As(err, &coded):
		c.fail(coded.Code(), err.Error(), "")
	default:
		c.fail(acp.CodeInternal, err.Error(), "")
	}
	return true
}

// withOpenFile adds the file that the user looks at, and its selection, to a prompt, if
// [Options.CompanionContext] says so. A slash command stays as it is.
func (i *ide) withOpenFile(prompt []acp.ContentBlock) []acp.ContentBlock {
	if !i.server.opts.CompanionContext || len(prompt) == 0 || strings.HasPrefix(strings.TrimSpace(prompt[0].Text), "/") {
		return prompt
	}
	files := i.openFiles()
	if len(files) == 0 || !files[0].Active {
		return prompt
	}
	path, selection := files[0].Path, files[0].Selection
	uri := url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(path), "/")} // also of C:\x
	prompt = append(slices.Clip(prompt), acp.ContentBlock{Type: "resource_link", URI: uri.String(), Name: filepath.Base(path)})
	if selection != "" {
		prompt = append(prompt, acp.ContentBlock{Type: "text", Text: "Selected in " + path + ":\n" + selection})
	}
	return prompt
}

// openFiles are the files that the user has open; none if no companion runs.
func (i *ide) openFiles() []OpenFile {
	i.mu.Lock()
	companion := i.companion
	i.mu.Unlock()
	if companion == nil {
		return nil
	}
	return companion.OpenFiles()
}

// addOpenFile is withOpenFile for a message of A2A lines that begins with text.
func (i *ide) addOpenFile(m *a2a.Outgoing) error {
	if len(m.Parts) == 0 || m.Parts[0].Text == "" {
		return nil
	}
	added := i.withOpenFile([]acp.ContentBlock{{Type: "text", Text: m.Parts[0].Text}})[1:]
	if len(added) == 0 {
		return nil
	}
	parts, err := spell.Prompt(added, nil)
	m.Parts = append(m.Parts, parts...)
	return err
}

// close ends the companion, if one runs. None is started after that.
func (i *ide) close() {
	i.mu.Lock()
	companion := i.companion
	i.companion, i.closed = nil, true
	i.mu.Unlock()
	if companion == nil {
		return
	}
	if err := companion.Close(); err != nil {
		i.server.opts.Log.Warn("closing the companion", "err", err)
	}
}

// Request implements [CompanionEditor].
func (i *ide) Request(ctx context.Context, method string, params, result any) error {
	if i.isDeaf() {
		return errNotAnnounced
	}
	return i.server.call(ctx, i.prefix+method, params, result, nil)
}

// Notify implements [CompanionEditor].
func (i *ide) Notify(ctx context.Context, method string, params any) error {
	if i.isDeaf() {
		return errNotAnnounced
	}
	return i.server.conn.Notify(ctx, i.prefix+method, params)
}
