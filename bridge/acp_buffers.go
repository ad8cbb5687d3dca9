package bridge

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"
	"time"

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
func (e *acpEditor) readBuffer(ctx context.Context, conn requester, session, path string, line, limit int) (string, error) {
	var r struct {
		Content string `json:"content"`
	}
	err := conn.Call(ctx, acp.MethodReadTextFile, acp.ReadTextFileRequest{SessionID: session, Path: path, Line: line, Limit: limit}, &r, e.server.pickID())
	return r.Content, err
}

// withBuffers adds to a prompt what the editor has in the files that it mentions, if the
// editor can tell: the disk may have another state, and the agent may not see it at all. A
// mention stays where it is. One that cannot be read, such as a directory, is left as it is.
func (e *acpEditor) withBuffers(ctx context.Context, conn requester, turn Turn, session string, prompt []acp.ContentBlock) []acp.ContentBlock {
	if !e.can.reads {
		return prompt
	}
	ctx, stop := context.WithTimeout(ctx, mentionWait)
	defer stop()
	defer context.AfterFunc(turn.cancelled, stop)()
	added, left := prompt[:len(prompt):len(prompt)], maxMentioned
	for _, b := range prompt {
		u, err := url.Parse(b.URI)
		if b.Type != "resource_link" || err != nil || u.Scheme != "file" {
			continue
		}
		path := filepath.FromSlash(u.Path)
		if filepath.Separator == '\\' {
			path = strings.TrimPrefix(path, `\`) // file:///C:/x
		}
		text, err := e.readBuffer(ctx, conn, session, path, 0, 0)
		if err != nil || len(text) > left {
			continue
		}
		left -= len(text)
		added = append(added, acp.ContentBlock{Type: "resource", Resource: &acp.EmbeddedResource{URI: b.URI, Text: &text}})
	}
	return added
}
