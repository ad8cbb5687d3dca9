package bridge

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping/acp"
)

// maxFiles is how much the files of one message may have together.
const maxFiles = 8 << 20

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
