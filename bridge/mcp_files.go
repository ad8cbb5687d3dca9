package bridge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/mapping/spell"
)

// This file has what goes to an agent and comes from it beside text.

// maxFiles is how much the files of one message may have together.
const maxFiles = 8 << 20

// files reads the files of a call, of the workspace or as the model has written them, as blocks of a
// prompt. sent is what the result says of them.
func (c *mcpCall) files(workspace string) (blocks []acp.ContentBlock, sent string, err error) {
	left := maxFiles
	for _, f := range c.params.Get("arguments.files").Array() {
		path, name, text := f.Get("path").Str, f.Get("name").Str, f.Get("content")
		content := []byte(text.Str)
		switch {
		case path != "" && !text.Exists():
			name = path
			content, err = readPath(workspace, path)
		case path != "" || name == "" || !text.Exists():
			err = errors.New("a file has a path, or a name and its content")
		}
		if left -= len(content); left < 0 {
			err = fmt.Errorf("the files have more than %d MiB together, which is the limit", maxFiles>>20)
		}
		if err != nil {
			return nil, "", paramsErrorf("the file %q is not sent: %v", name, err)
		}
		blocks = append(blocks, fileBlock(name, content))
		sent += fmt.Sprintf("sent: %q (%d bytes)\n", name, len(content))
	}
	return blocks, sent, nil
}

// readPath reads a file of the workspace: a regular one without another name, to which, when links
// are resolved, no name leads that begins with a dot. Of one that is longer than all may be it reads
// a byte more.
func readPath(workspace, path string) ([]byte, error) {
	dir, err := filepath.EvalSymlinks(workspace)
	if err != nil || isWide(dir) || isOfProcess(dir) {
		return nil, fmt.Errorf("%s is no workspace: the user starts a2astdio in one, or names one by --workspace", workspace)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	real, ok := resolve(path)
	if !ok || !isPlainBelow(dir, real) {
		return nil, fmt.Errorf("it, or what a link on its path leads to, is outside the workspace %s, or hidden", workspace)
	}
	root, err := os.OpenRoot(dir) // which follows no link that leads out of it
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(real[len(dir)+1:], os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would block
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || names(real, info) != 1 {
		return nil, errors.New("it is no plain file, or has another name")
	}
	return io.ReadAll(io.LimitReader(f, maxFiles+1))
}

// fileBlock makes a block of a file: of a text, or of what is none. A prompt with the latter is
// not sent to an agent that does not take it.
func fileBlock(name string, content []byte) acp.ContentBlock {
	if utf8.Valid(content) && bytes.IndexByte(content, 0) < 0 {
		text := string(content)
		return acp.ContentBlock{Type: "resource", Resource: &acp.EmbeddedResource{URI: name, Text: &text}}
	}
	media, _, _ := strings.Cut(http.DetectContentType(content), ";")
	return acp.ContentBlock{Type: "image", URI: name, MimeType: media, Data: base64.StdEncoding.EncodeToString(content)}
}

// artifact spells what the last task of a conversation has made under a name. The agent has it,
// also for a later process.
func (t *mcpTalk) artifact(ctx context.Context, wanted string) (*spell.MCP, error) {
	_, writing, err := t.agent.Ready(ctx)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	taskID := t.out.Task
	t.mu.Unlock()
	task, err := t.agent.opts.Client.Get(ctx, taskID, allHistory)
	if err != nil {
		return nil, err
	}
	fold, out := mapping.NewFold(), &spell.MCP{}
	fold.Speak(writing.Dialect)
	if names := out.Only(fold.Event(shown.Snapshot, task, nil), wanted); out.Size() == 0 {
		return nil, fmt.Errorf("agent: the task has no artifact %q. It has: %s", wanted, cmp.Or(atMost(strings.Join(names, ", "), maxSaidOfItself), "none"))
	}
	return out, nil
}
