package bridge

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/mapping/mcp"
	"github.com/a2astdio/a2astdio/mapping/shown"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// maxBlob is the longest file, in base64, that is handed over as it is.
const maxBlob = 4 << 20

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
