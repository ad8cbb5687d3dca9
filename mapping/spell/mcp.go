package spell

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

const (
	// mcpArtifact is how much of an artifact's text a result repeats: what leaves room for what
	// else is said. More is served by page.
	mcpArtifact = 8_000
	// mcpSmall is the longest file of text that stands in the text.
	mcpSmall = 4_000
	// mcpImage is the most base64 of images in one result.
	mcpImage = 2 << 20
	// mcpLine is where a line is broken: some clients cut by lines, and leave out a long one.
	mcpLine = 1_000
	// mcpKnown is of how many artifacts the length is known.
	mcpKnown = 1_000
)

// MCP spells steps as text for a model that has asked an agent by a tool of the Model
// Context Protocol. What it has spelled is taken from it in pieces, once.
type MCP struct {
	// Handle names the conversation in links.
	Handle string

	text    []byte
	content []json.RawMessage
	held    int    // bytes in content
	images  int    // those of images
	from    string // the message or artifact of the last text
	// artifacts has how much of their texts has come.
	artifacts map[string]int
	doing     string
	outage    mapping.Outage
}

// Size is how much waits to be taken.
func (m *MCP) Size() int { return len(m.text) + m.held }

// hold adds content.
func (m *MCP) hold(content json.RawMessage) {
	m.content = append(m.content, content)
	m.held += len(content)
}

// Doing is what the agent did last, in a line of its words.
func (m *MCP) Doing() string { return m.doing }

// Forget drops what waits to be taken.
func (m *MCP) Forget() { m.text, m.content, m.held, m.images = nil, nil, 0, 0 }

// Append adds steps.
func (m *MCP) Append(steps []mapping.Step) {
	for i := range steps {
		s := &steps[i]
		if s.Repeats {
			continue
		}
		switch s.Kind {
		case mapping.StepText:
			m.said(s)
		case mapping.StepThought:
			m.doing = cmp.Or(strings.TrimSpace(s.Subject), "thinking")
		case mapping.StepTool:
			m.tool(s)
		case mapping.StepPart:
			m.part(s)
		case mapping.StepNotice:
			m.aside(s.Text)
		case mapping.StepError:
			if !s.State.Terminal() { // it is the reason why the turn fails, and the result has it
				m.aside("[The agent reports an error: " + strings.TrimSpace(s.Text) + "]")
			}
		case mapping.StepConnection:
			if s.Connection.Gap {
				m.aside(gapNotice)
			}
			if m.outage.Tell(&s.Connection, 2) {
				m.doing = "the connection to the agent is lost, and is tried again"
			}
		}
	}
}

// aside adds a paragraph.
func (m *MCP) aside(text string) {
	if text = strings.TrimSpace(text); text != "" {
		m.begin("")
		m.text = append(m.text, text...)
	}
}

// begin ends what is not of the same message, or artifact.
func (m *MCP) begin(from string) {
	if len(m.text) > 0 && (from == "" || from != m.from) {
		m.text = append(bytes.TrimRight(m.text, "\n"), "\n\n"...)
	}
	m.from = strings.Clone(from)
}

// said adds text of a message, or of an artifact: that has a heading, and is cut where it is long.
func (m *MCP) said(s *mapping.Step) {
	id := s.ArtifactID
	if id == "" {
		if s.Text != "" {
			m.begin(s.Shown)
			m.text = append(m.text, s.Text...)
		}
		return
	}
	name := cmp.Or(s.Name, id)
	had, goesOn := m.artifacts[id]
	if goesOn = goesOn && s.Append; goesOn && (had > mcpArtifact || s.Text == "") {
		return // the rest is left out, as was said
	}
	m.begin(s.Shown)
	if !goesOn {
		if had = 0; m.artifacts == nil || len(m.artifacts) >= mcpKnown {
			m.artifacts = map[string]int{}
		}
		m.text = fmt.Appendf(m.text, "[artifact %s]\n", ask.OneLine(name))
	}
	size := had + len(s.Text)
	m.artifacts[strings.Clone(id)] = size
	head, rest := ask.Split(s.Text, mcpArtifact-had)
	if m.text = append(m.text, head...); rest != "" {
		m.text = fmt.Appendf(m.text, "\n[artifact %s: %d bytes so far, the rest by read_artifact]", ask.OneLine(name), size)
		m.hold(m.link(id, name, "text/plain", size))
	}
}

// tool tells how a call has ended.
func (m *MCP) tool(s *mapping.Step) {
	if !s.New && s.Changed&mapping.ToolState == 0 {
		return
	}
	m.doing = mapping.Title(s.Tool)
	if s.Tool.Status.Ended() {
		m.aside("[tool " + m.doing + ": " + strings.ToLower(s.Tool.Status.String()) + "]")
	}
}

// part adds a file, or data.
func (m *MCP) part(s *mapping.Step) {
	f := &s.Part.File
	if s.Part.Kind != a2a.PartFile {
		_, note := acpContent(s)
		m.aside(note)
		return
	}
	name := ask.OneLine(cmp.Or(f.Name, s.Name, "file"))
	size := base64.StdEncoding.DecodedLen(len(strings.TrimRight(f.Bytes, "=")))
	if f.URI != "" {
		m.aside(fmt.Sprintf("[file %s, %s]", name, cmp.Or(f.MediaType, "of an unknown type")))
		content, _ := acpContent(s)
		m.hold(content)
		return
	}
	m.aside(fmt.Sprintf("[file %s, %s, %d bytes]", name, cmp.Or(f.MediaType, "of an unknown type"), size))
	media, _, _ := strings.Cut(f.MediaType, "/")
	text, _ := f.Content()
	switch {
	case media == "image" && m.images+len(f.Bytes) <= mcpImage:
		m.images += len(f.Bytes)
		content, _ := acpContent(s)
		m.hold(content)
	case size <= mcpSmall && utf8.Valid(text):
		m.text = append(append(m.text, '\n'), text...)
	default:
		m.hold(m.link(cmp.Or(s.ArtifactID, f.Name, "file"), name, f.MediaType, size))
	}
}

// MCPFile spells a file as content: what a model sees, or a resource of its own.
func MCPFile(name string, f *a2a.File) json.RawMessage {
	content, _ := acpContent(&mapping.Step{Name: name, Part: &a2a.Part{Kind: a2a.PartFile, File: *f}})
	return content
}

// link is a link that read_artifact serves.
func (m *MCP) link(id, name, media string, size int) json.RawMessage {
	dst := rawjson.AppendString([]byte(`{"type":"resource_link","uri":`), "a2a://"+m.Handle+"/"+id)
	dst = rawjson.AppendField(dst, "name", name)
	if media != "" {
		dst = rawjson.AppendField(dst, "mimeType", media)
	}
	return fmt.Appendf(dst, `,"size":%d}`, size)
}

// Take takes the first of what waits: at most n bytes of text, in short lines, and with the
// last of it what is no text.
func (m *MCP) Take(n int) (text string, content []json.RawMessage) {
	head, rest := ask.Split(string(m.text), n)
	if at := strings.LastIndexByte(head, '\n'); rest != "" && at > n/2 {
		head, rest = head[:at+1], head[at+1:]+rest
	}
	if m.text = []byte(rest); rest != "" {
		return shortLines(head), nil
	}
	content = m.content
	m.Forget()
	return shortLines(head), content
}

// shortLines breaks lines that are long.
func shortLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		for len(line) > mcpLine {
			head, rest := ask.Split(line, mcpLine)
			b.WriteString(head + "\n")
			line = rest
		}
		b.WriteString(line)
	}
	return b.String()
}
