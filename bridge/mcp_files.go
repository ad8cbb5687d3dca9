package bridge

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/mapping/mcp"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file has what goes to an agent and comes from it beside text.

const (
	// maxFiles is how much the files of one message may have together.
	maxFiles = 8 << 20
	// maxBlob is the longest file, in base64, that is handed over as it is.
	maxBlob = 4 << 20
)

// files reads the files of a call, as blocks of a prompt, and says what the result says of them.
func (c *mcpCall) files(agent *Agent) (blocks []acp.ContentBlock, sent string, err error) {
	left := maxFiles
	for _, f := range c.params.Get("arguments.files").Array() {
		name, content, err := readFile(f, agent.opts.workspace())
		if err != nil {
			return nil, "", err
		}
		if left -= len(content); left < 0 {
			return nil, "", paramsErrorf("with %q the files have more than %d MiB together, which is the limit", name, maxFiles>>20)
		}
		r := fileResource(name, content)
		if card, _, err := agent.Ready(c.ctx); err != nil {
			return nil, "", err
		} else if r.Blob != nil && !card.Takes(r.MimeType) {
			return nil, "", paramsErrorf("%q is %s, and the agent takes %s", name, r.MimeType, strings.Join(card.InputModes, ", "))
		}
		blocks = append(blocks, acp.ContentBlock{Type: "resource", Resource: r})
		sent += fmt.Sprintf("sent: %q (%d bytes)\n", name, len(content))
	}
	return blocks, sent, nil
}

// readFile reads one: a file of the workspace, or what the model has written. Of one that is
// longer than all may be it reads a byte more.
func readFile(f gjson.Result, workspace string) (name string, content []byte, err error) {
	path, name, text := f.Get("path").Str, f.Get("name").Str, f.Get("content")
	switch {
	case path == "" && name != "" && text.Exists():
		return name, []byte(text.Str), nil
	case path == "" || text.Exists():
		return "", nil, paramsErrorf("a file has a path, or a name and its content")
	}
	if content, err = readPath(workspace, path); err != nil {
		err = paramsErrorf("the file %q is not sent: %v", path, err)
	}
	return path, content, err
}

// readPath reads a file of the workspace: a regular one, no part of whose path begins with a
// dot, neither of the path nor of what links on it lead to.
func readPath(workspace, path string) ([]byte, error) {
	dir, err := filepath.EvalSymlinks(workspace)
	if err != nil || isWide(dir) || isOfProcess(dir) {
		return nil, fmt.Errorf("%s is no workspace: the user starts a2astdio in one, or names one by --workspace", workspace)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	rest, err := filepath.Rel(workspace, path) // as the user knows it
	if err != nil || !filepath.IsLocal(rest) {
		rest, err = filepath.Rel(dir, path)
	}
	if err != nil || !isPlainBelow(dir, filepath.Join(dir, rest)) || !isPlainFile(dir, rest) {
		return nil, fmt.Errorf("it, or what a link on its path leads to, is outside the workspace %s, is no plain file, has another name, or is hidden", workspace)
	}
	root, err := os.OpenRoot(dir) // which follows no link that leads out of it
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(rest, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe that has taken its place would block
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("it was replaced meanwhile")
	}
	return io.ReadAll(io.LimitReader(f, maxFiles+1))
}

// fileResource makes a resource of a file: a text, or what is none, with a media type.
func fileResource(name string, content []byte) *acp.EmbeddedResource {
	if utf8.Valid(content) && bytes.IndexByte(content, 0) < 0 {
		text := string(content)
		return &acp.EmbeddedResource{URI: name, Text: &text}
	}
	media, _, _ := strings.Cut(http.DetectContentType(content), ";")
	blob := base64.StdEncoding.EncodeToString(content)
	return &acp.EmbeddedResource{URI: name, MimeType: media, Blob: &blob}
}

// readArtifact reads a page of what a task has made: of an artifact, or of a file. The agent has
// it, also for a later process.
func (e *mcpEditor) readArtifact(c *mcpCall) (mcpOutcome, error) {
	t, err := e.find(c, c.argument("handle"))
	if err != nil {
		return nil, err
	}
	_, writing, err := t.agent.Ready(c.ctx)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	taskID := t.result.TaskID
	t.mu.Unlock()
	task, err := t.agent.opts.Client.Get(c.ctx, taskID, allHistory)
	if err != nil {
		return nil, err
	}
	fold := mapping.NewFold()
	fold.Speak(writing.Dialect)
	wanted := c.argument("artifact")
	var found []mapping.Step
	var names []string
	for _, s := range fold.Event(shown.Snapshot, task, nil) {
		name := s.Name
		switch {
		case s.Kind == mapping.StepPart && s.Part.Kind == a2a.PartFile:
			name = cmp.Or(s.Part.File.Name, name)
		case s.Kind != mapping.StepText || s.ArtifactID == "":
			continue // what messages say is in results
		}
		if wanted == name || wanted == s.ArtifactID {
			found = append(found, s)
		}
		names = append(names, strconv.Quote(cmp.Or(name, s.ArtifactID)))
	}
	switch {
	case found == nil:
		return nil, fmt.Errorf("agent: the task has no artifact %q. It has: %s", wanted, atMost(strings.Join(slices.Compact(names), ", "), maxSaidOfItself))
	case found[0].Part != nil:
		return t.file(c, &found[0].Part.File), nil
	}
	var text strings.Builder
	for _, s := range found {
		text.WriteString(s.Text)
	}
	return t.page(c, text.String()), nil
}

// file is the outcome of a call that reads a file: a page, if it is text.
func (t *mcpTalk) file(c *mcpCall, f *a2a.File) mcpOutcome {
	content, err := f.Content()
	switch {
	case f.URI != "":
		return t.page(c, "It is at "+f.URI)
	case err == nil && utf8.Valid(content):
		return t.page(c, string(content))
	case len(f.Bytes) > maxBlob:
		return say(fmt.Sprintf("It is %q of %d bytes: too long for this. The user gets it by: a2astdio task download", f.MediaType, len(content)))
	}
	return func() *mcp.CallResult {
		result := mcp.Text(fmt.Sprintf("the file %q", f.Name))
		result.Content = append(result.Content, spell.MCPFile(f.Name, f))
		return result
	}
}

// page is the outcome of a call that reads a page of a text; of none behind the last.
func (t *mcpTalk) page(c *mcpCall, all string) mcpOutcome {
	page, wanted := int64(1), c.params.Get("arguments.page").Int()
	text, rest := ask.Split(all, maxTaken)
	for ; page < wanted && rest != ""; page++ {
		text, rest = ask.Split(rest, maxTaken)
	}
	return say(fmt.Sprintf("page %d, and %d bytes behind it\n", page, len(rest)) + t.editor.fence(t.name, text))
}
