package bridge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/mapping/spell"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// maxBlob is the longest file, in base64, that is handed over as it is.
const maxBlob = 4 << 20

// An mcpOutput is a file or a text that a task has made.
type mcpOutput struct {
	id, name string
	text     strings.Builder
	file     *a2a.File // that is no text
}

// readArtifact reads a page of what a task has made. The agent has it, also for a later process.
func (e *mcpEditor) readArtifact(c *mcpCall) {
	t, err := e.find(c.ctx, c.argument("handle"))
	if err != nil {
		c.fault(e.server.agent, err)
		return
	}
	t.mu.Lock()
	taskID := t.taskID
	t.mu.Unlock()
	var task *a2a.Event
	if _, _, err = t.agent.Ready(c.ctx); err == nil {
		task, err = t.agent.opts.Client.Get(c.ctx, taskID, allHistory)
	}
	if err != nil {
		c.fault(t.agent, err)
		return
	}
	var names []string
	wanted := c.argument("artifact")
	for _, o := range outputs(task) {
		if wanted == o.id || wanted == o.name {
			e.readOutput(c, t, o)
			return
		}
		names = append(names, strconv.Quote(cmp.Or(o.name, o.id)))
	}
	c.say(true, fmt.Sprintf("agent: the task has no artifact %q. It has: %s", wanted, atMost(strings.Join(names, ", "), maxSaidOfItself)))
}

// outputs are the artifacts of a task, and the files of its messages.
func outputs(task *a2a.Event) (list []*mcpOutput) {
	add := func(id, name string, parts a2a.Parts, isArtifact bool) {
		o := &mcpOutput{id: id, name: name}
		for p := range parts.All() {
			switch {
			case p.Kind == a2a.PartFile:
				f := &mcpOutput{id: id, name: cmp.Or(p.File.Name, name)}
				if content, err := p.File.Content(); err == nil && p.File.URI == "" && utf8.Valid(content) {
					f.text.Write(content)
				} else {
					file := p.File
					f.file = &file
				}
				list = append(list, f)
			case isArtifact && p.Kind == a2a.PartText:
				o.text.WriteString(p.Text)
			case isArtifact:
				o.text.WriteString(string(p.Data))
			}
		}
		if o.text.Len() > 0 {
			list = append(list, o)
		}
	}
	if task.Artifacts != nil {
		for a := range task.Artifacts {
			add(a.ID, a.Name, a.Parts, true)
		}
	}
	if task.History != nil {
		for m := range task.History {
			if m.Role == a2a.RoleAgent {
				add("", "", m.Parts, false)
			}
		}
	}
	if task.HasMessage {
		add("", "", task.Message.Parts, false)
	}
	return list
}

func (e *mcpEditor) readOutput(c *mcpCall, t *mcpTalk, o *mcpOutput) {
	page := max(1, c.params.Get("arguments.page").Int())
	var text string
	var content []json.RawMessage
	pages := int64(1)
	switch f := o.file; {
	case f == nil:
		rest := o.text.String()
		for pages = 0; rest != "" || pages == 0; {
			var head string
			head, rest = ask.Split(rest, maxTaken)
			if pages++; pages == page {
				text = head
			}
		}
		if page > pages {
			c.say(true, fmt.Sprintf("editor: it has %d pages", pages))
			return
		}
	case f.URI != "":
		text = "It is at " + f.URI
	case len(f.Bytes) > maxBlob:
		text = fmt.Sprintf("It is %s of %d bytes: too long for this. The user gets it by: a2astdio task download", f.MediaType, len(f.Bytes)/4*3)
	default:
		content = []json.RawMessage{spell.MCPFile(o.name, f)}
	}
	if c.settle() {
		c.answer(false, fmt.Sprintf("page %d of %d\n", page, pages)+e.fence(t.name, text), content)
	}
}
