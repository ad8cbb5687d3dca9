package spell

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// TestMCPHeld: all that waits to be taken counts, and has a bound, also if nobody takes it.
func TestMCPHeld(t *testing.T) {
	m := &MCP{}
	uri := "https://agent.example/" + strings.Repeat("x", 1_000)
	for range 10_000 {
		m.Append([]mapping.Step{{Kind: mapping.StepPart, Part: &a2a.Part{Kind: a2a.PartFile, File: a2a.File{URI: uri}}}})
	}
	if size := m.Size(); size < 100_000 || size > mcpMost {
		t.Errorf("%d bytes wait", size)
	}
	if text, content := m.Take(1 << 20); m.Size() != 0 || len(content) == 0 || !strings.HasPrefix(text, "[Much has come") {
		t.Errorf("%d bytes wait when all was taken; %d of content, and %.100s", m.Size(), len(content), text)
	}
}

// TestMCPKeeps: what waits is no view of the event that has told it.
func TestMCPKeeps(t *testing.T) {
	raw := []byte("report.bin application/x")
	name, media, _ := strings.Cut(rawjson.View(raw), " ")
	m := &MCP{}
	m.Append([]mapping.Step{{Kind: mapping.StepPart, Part: &a2a.Part{Kind: a2a.PartFile, File: a2a.File{Name: name, MediaType: media, Bytes: "/w=="}}}})
	clear(raw)
	_, content := m.Take(1 << 20)
	if link, _ := json.Marshal(content); string(link) != `[{"type":"resource_link","uri":"a2a:///report.bin","name":"report.bin","mimeType":"application/x","size":1}]` {
		t.Errorf("%s", link)
	}
}
