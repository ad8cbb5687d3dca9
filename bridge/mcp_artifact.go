package bridge

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/mapping/mcp"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// maxBlob is the longest file, in base64, that is handed over as it is.
const maxBlob = 4 << 20

// An mcpOutput is a file or a text that a task has made.
type mcpOutput struct {
	id, name string
	text     string
	file     *a2a.File // that is no text
}

// readArtifact reads a page of what a task has made. The agent has it, also for a later process.
func (e *mcpEditor) readArtifact(c *mcpCall) (mcpOutcome, error) {
	t, err := e.find(c, c.argument("handle"))
	if err != nil {
		return nil, err
	}
	if _, _, err := t.agent.Ready(c.ctx); err != nil {
		return nil, err
	}
	t.mu.Lock()
	taskID := t.result.TaskID
	t.mu.Unlock()
	task, err := t.agent.opts.Client.Get(c.ctx, taskID, allHistory)
	if err != nil {
		return nil, err
	}
	var names []string
	wanted := c.argument("artifact")
	for _, o := range outputs(task) {
		if wanted == o.id || wanted == o.name {
			return e.page(t, o, c.params.Get("arguments.page").Int()), nil
		}
		names = append(names, strconv.Quote(cmp.Or(o.name, o.id)))
	}
	return nil, fmt.Errorf("agent: the task has no artifact %q. It has: %s", wanted, atMost(strings.Join(names, ", "), maxSaidOfItself))
}

// outputs are the artifacts of a task, and the files of its messages.
func outputs(task *a2a.Event) (list []*mcpOutput) {
	add := func(id, name string, parts a2a.Parts) {
		var text strings.Builder
		for p := range parts.All() {
			if p.Kind != a2a.PartFile {
				text.WriteString(p.Text + string(p.Data))
				continue
			}
			o := &mcpOutput{id: id, name: cmp.Or(p.File.Name, name)}
			if content, err := p.File.Content(); err == nil && p.File.URI == "" && utf8.Valid(content) {
				o.text = string(content)
			} else {
				file := p.File
				o.file = &file
			}
			list = append(list, o)
		}
		if id != "" && text.Len() > 0 { // what messages say is in results
			list = append(list, &mcpOutput{id: id, name: name, text: text.String()})
		}
	}
	if task.Artifacts != nil {
		for a := range task.Artifacts {
			add(a.ID, a.Name, a.Parts)
		}
	}
	if task.History != nil {
		for m := range task.History {
			if m.Role == a2a.RoleAgent {
				add("", "", m.Parts)
			}
		}
	}
	add("", "", task.Message.Parts)
	return list
}

// page is the outcome of a call that wants a page, from 1; of none behind the last.
func (e *mcpEditor) page(t *mcpTalk, o *mcpOutput, wanted int64) mcpOutcome {
	switch f := o.file; {
	case f == nil:
	case f.URI != "":
		o.text = "It is at " + f.URI
	case len(f.Bytes) > maxBlob:
		o.text = fmt.Sprintf("It is %s of %d bytes: too long for this. The user gets it by: a2astdio task download", f.MediaType, len(f.Bytes)/4*3)
	default:
		return func() *mcp.CallResult {
			result := mcp.Text("the file " + strconv.Quote(o.name))
			result.Content = append(result.Content, spell.MCPFile(o.name, f))
			return result
		}
	}
	page := int64(1)
	text, rest := ask.Split(o.text, maxTaken)
	for ; page < wanted && rest != ""; page++ {
		text, rest = ask.Split(rest, maxTaken)
	}
	head := fmt.Sprintf("page %d, the last\n", page)
	if rest != "" {
		head = fmt.Sprintf("page %d, and %d bytes more behind it\n", page, len(rest))
	}
	return say(head + e.fence(t.name, text))
}
