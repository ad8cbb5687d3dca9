package spell

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
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
	// artifacts are those whose text has begun, long those of which a part is left out.
	artifacts map[string]*mcpText
	long      []*mcpText
	doing     string
	outage    mapping.Outage
}

// mcpText is an artifact's text.
type mcpText struct {
	id, name string
	size     int
}

// Size is how much waits to be taken.
func (m *MCP) Size() int { return len(m.text) + m.held + len(m.long) }

// hold adds content.
func (m *MCP) hold(content json.RawMessage) {
	m.content = append(m.content, content)
	m.held += len(content)
}

// Doing is what the agent did last, in a line of its words.
func (m *MCP) Doing() string { return m.doing }

// Forget drops what waits to be taken.
func (m *MCP) Forget() { m.text, m.content, m.held, m.images, m.long = nil, nil, 0, 0, nil }

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

// said adds text of a message, or of an artifact.
func (m *MCP) said(s *mapping.Step) {
	text := s.Text
	if s.ArtifactID != "" {
		a := m.artifact(s)
		head, rest := ask.Split(text, max(0, mcpArtifact-a.size))
		if a.size += len(text); rest != "" && !slices.Contains(m.long, a) {
			m.long = append(m.long, a)
		}
		text = head
	}
	if text != "" {
		m.begin(s.Shown)
		m.text = append(m.text, text...)
	}
}

// artifact is what is known of a text's artifact, whose name is said where it begins.
func (m *MCP) artifact(s *mapping.Step) *mcpText {
	a := m.artifacts[s.ArtifactID]
	if a != nil && s.Append {
		return a
	}
	if m.artifacts == nil || len(m.artifacts) >= mcpKnown {
		m.artifacts = map[string]*mcpText{}
	}
	a = &mcpText{id: strings.Clone(s.ArtifactID), name: strings.Clone(cmp.Or(s.Name, s.ArtifactID))}
	m.artifacts[a.id] = a
	m.begin(s.Shown)
	m.text = fmt.Appendf(m.text, "[artifact %s]\n", ask.OneLine(a.name))
	return a
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
	text, _ := DecodeFile(f.Bytes)
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
	for _, a := range m.long {
		head += fmt.Sprintf("\n[artifact %s: %d bytes so far, the rest by read_artifact]", ask.OneLine(a.name), a.size)
		content = append(content, m.link(a.id, a.name, "text/plain", a.size))
	}
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

// DecodeFile decodes a file's content, in either alphabet of base64.
func DecodeFile(encoded string) ([]byte, error) {
	encoded = strings.TrimSpace(encoded)
	content, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		content, err = base64.RawURLEncoding.DecodeString(strings.TrimRight(encoded, "="))
	}
	return content, err
}
