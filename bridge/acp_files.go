package bridge

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/mapping/acp"
)

const (
	// mentionWait is how long the editor may take for all files that a prompt mentions.
	mentionWait = 5 * time.Second
	// maxMentioned is how much of them is sent with a prompt: of what is beyond it the agent
	// gets the path alone.
	maxMentioned = 256 << 10
)

// readBuffer reads a text file as the editor has it. A line or a limit of 0 is none.
func (e *acpEditor) readBuffer(ctx context.Context, session, path string, line, limit int) (string, error) {
	var r struct {
		Content string `json:"content"`
	}
	err := e.server.call(ctx, acp.MethodReadTextFile, acp.ReadTextFileRequest{SessionID: session, Path: path, Line: line, Limit: limit}, &r, nil)
	return r.Content, err
}

// withBuffers adds to a prompt what the editor has in the files that it mentions, if the
// editor can tell: the disk may have another state, and the agent may not see it at all. A
// mention stays where it is. One that cannot be read, such as a directory, is left as it is, and so
// is one of another machine, whose path may name another file here.
func (e *acpEditor) withBuffers(ctx context.Context, turn Turn, prompt []acp.ContentBlock) []acp.ContentBlock {
	if !e.can.reads {
		return prompt
	}
	ctx, stop := context.WithTimeout(ctx, mentionWait)
	defer stop()
	defer context.AfterFunc(turn.cancelled, stop)()
	added, left := prompt[:len(prompt):len(prompt)], maxMentioned
	for _, b := range prompt {
		u, err := url.Parse(b.URI)
		if b.Type != "resource_link" || err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" {
			continue
		}
		path := filepath.FromSlash(u.Path)
		if filepath.Separator == '\\' {
			path = strings.TrimPrefix(path, `\`) // file:///C:/x
		}
		text, err := e.readBuffer(ctx, turn.session.ID, path, 0, 0)
		if err != nil || len(text) > left {
			continue
		}
		left -= len(text)
		added = append(added, textBlock(b.URI, text))
	}
	return added
}

func textBlock(uri, text string) acp.ContentBlock {
	return acp.ContentBlock{Type: "resource", Resource: &acp.EmbeddedResource{URI: uri, Text: &text}}
}

// fileBlock makes a block of a file: of text, or of binary data. A prompt with the latter is
// not sent to an agent that does not take it.
func fileBlock(name string, content []byte) acp.ContentBlock {
	if utf8.Valid(content) && bytes.IndexByte(content, 0) < 0 {
		return textBlock(name, string(content))
	}
	media, _, _ := strings.Cut(http.DetectContentType(content), ";")
	return acp.ContentBlock{Type: "image", URI: name, MimeType: media, Data: base64.StdEncoding.EncodeToString(content)}
}

// maxDirectories is how many additional directories a session may have: more than an
// editor's workspace has roots. Each is looked at for each edit in the mode
// accept-edits.
const maxDirectories = 100

// checkDirectories checks the directories of a session that is opened; false: it has answered
// with an error.
func (c *editorRequest) checkDirectories(p *acp.NewSessionRequest) bool {
	var err error
	if n := len(p.AdditionalDirectories); n > maxDirectories {
		err = fmt.Errorf("there are %d additionalDirectories: at most %d are taken", n, maxDirectories)
	}
	if err == nil && (p.Cwd != "" || p.SessionID == "") { // a session that is there has one
		err = checkDirectory("cwd", p.Cwd)
	}
	for i, dir := range p.AdditionalDirectories {
		if err == nil {
			err = checkDirectory(fmt.Sprintf("additionalDirectories[%d]", i), dir)
		}
	}
	if err != nil {
		c.fail(acp.CodeInvalidParams, "editor: "+c.method+": "+err.Error(), "")
	}
	return err == nil
}

// enterDirs tells [Options.Enter] of a session's directories.
func (a *Agent) enterDirs(dirs ...string) {
	for _, dir := range dirs {
		if a.opts.Enter != nil && dir != "" {
			a.opts.Enter(dir)
		}
	}
}

// checkDirectory checks that dir, the value of a member, is the absolute path of a directory.
func checkDirectory(member, dir string) error {
	info, err := os.Stat(dir)
	switch {
	case !filepath.IsAbs(dir):
		return fmt.Errorf("%s %q is not an absolute path", member, dir)
	case err != nil:
		return fmt.Errorf("%s %q: %v", member, dir, err)
	case !info.IsDir():
		return fmt.Errorf("%s %q is not a directory", member, dir)
	}
	return nil
}
