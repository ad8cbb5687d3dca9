package spell

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

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
	// mcpHeld is the most of images in one result, in base64.
	mcpHeld = 2 << 20
	// mcpLine is where a line is broken: some clients cut by lines, and leave out a long one.
	mcpLine = 1_000
	// mcpMost is how much may wait to be taken: more than any model reads.
	mcpMost = 4 << 20
)

// MCP spells steps as text for a model that has asked an agent by a tool of the Model
// Context Protocol. What it has spelled is taken from it in pieces, once.
type MCP struct {
	// Handle names the conversation in links.
	Handle string

	text    []byte
	content []any  // what is no text
	held    int    // bytes in content
	from    string // the message or artifact of the last text
	room    int    // how much more of that artifact is repeated; below 0: no more, as was said
	doing   string
	outage  mapping.Outage
}

// Size is how much waits to be taken.
func (m *MCP) Size() int { return len(m.text) + m.held }

func (m *MCP) hold(content any, size int) {
	m.content = append(m.content, content)
	m.held += size
}

// Doing is what the agent did last, in a line of its words.
func (m *MCP) Doing() string { return m.doing }

// Forget drops what waits to be taken.
func (m *MCP) Forget() { m.text, m.content, m.held = nil, nil, 0 }

// Append adds steps. If so much waits that nobody will read it, it is dropped, and that is said.
func (m *MCP) Append(steps []mapping.Step) {
	for i := range steps {
		if s := &steps[i]; !s.Repeats {
			m.step(s)
		}
	}
	if m.Size() > mcpMost {
		m.Forget()
		m.aside("[Much has come here that was not taken, and is left out.]")
	}
}

func (m *MCP) step(s *mapping.Step) {
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
	goesOn := s.Append && s.Shown == m.from
	if m.begin(s.Shown); s.ArtifactID == "" {
		m.text = append(m.text, s.Text...)
		return
	}
	name := ask.OneLine(cmp.Or(s.Name, s.ArtifactID))
	if !goesOn {
		m.room = mcpArtifact
		m.text = fmt.Appendf(m.text, "[artifact %s]\n", name)
	}
	head, rest := ask.Split(s.Text, max(0, m.room))
	m.text = append(m.text, head...)
	if m.room -= len(head); rest != "" && m.room >= 0 {
		m.room = -1
		m.text = fmt.Appendf(m.text, "\n[artifact %s: the rest by read_artifact]", name)
		m.link(s.ArtifactID, name, "text/plain", 0)
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
	name, media := ask.OneLine(cmp.Or(f.Name, s.Name, "file")), cmp.Or(f.MediaType, "of an unknown type")
	size := base64.RawStdEncoding.DecodedLen(len(strings.TrimRight(f.Bytes, "=")))
	about := fmt.Sprintf("[file %s, %s, %d bytes]", name, media, size)
	text, _ := f.Content()
	switch {
	case f.URI != "":
		about = fmt.Sprintf("[file %s, %s]", name, media)
		m.hold(MCPFile(name, f), len(f.URI))
	case strings.HasPrefix(media, "image/") && m.held+len(f.Bytes) <= mcpHeld:
		m.hold(MCPFile(name, f), len(f.Bytes))
	case size <= mcpSmall && utf8.Valid(text):
		about += "\n" + string(text)
	default:
		m.link(cmp.Or(s.ArtifactID, f.Name, "file"), name, f.MediaType, size)
	}
	m.aside(about)
}

// MCPFile spells a file as content: what a model sees, or a resource of its own.
func MCPFile(name string, f *a2a.File) json.RawMessage {
	content, _ := acpContent(&mapping.Step{Name: name, Part: &a2a.Part{Kind: a2a.PartFile, File: *f}})
	return content
}

// link holds a link that read_artifact serves. A size of 0 is not known.
func (m *MCP) link(id, name, media string, size int) {
	uri := "a2a://" + m.Handle + "/" + id
	m.hold(struct {
		Type  string `json:"type"`
		URI   string `json:"uri"`
		Name  string `json:"name"`
		Media string `json:"mimeType,omitempty"`
		Size  int    `json:"size,omitempty"`
	}{"resource_link", uri, strings.Clone(name), strings.Clone(media), size}, len(uri))
}

// Take takes the first of what waits: at most n bytes of text, in short lines, and with the
// last of it what is no text.
func (m *MCP) Take(n int) (text string, content []any) {
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
