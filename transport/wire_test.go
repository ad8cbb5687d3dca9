package transport

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// wireFrames returns the data of the events in a recording: the data lines of a .txt
// file, the values of "data" of Gemini's .jsonl.
func wireFrames(t testing.TB, file string) (frames []string) {
	t.Helper()
	b := must.Get(os.ReadFile(file))(t)
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, len(b)+1)
	for lines.Scan() {
		line := lines.Text()
		if strings.HasSuffix(file, ".jsonl") {
			if d := gjson.Get(line, "data"); d.IsObject() {
				frames = append(frames, d.Raw)
			}
			continue
		}
		if _, rest, ok := strings.Cut(line, "] "); ok && strings.HasPrefix(line, "[+") {
			if d, ok := strings.CutPrefix(rest, "data: "); ok {
				frames = append(frames, d)
			} else if strings.HasPrefix(rest, `{"jsonrpc"`) {
				frames = append(frames, rest)
			}
		}
	}
	return frames
}

// wireEvent writes an event out, without Raw. Long texts are shortened.
func wireEvent(w *strings.Builder, ev *a2a.Event) {
	kinds := []string{"unknown", "task", "message", "status", "artifact"}
	fmt.Fprintf(w, "%s task=%q context=%q", kinds[ev.Kind], ev.TaskID, ev.ContextID)
	if ev.State != "" {
		fmt.Fprintf(w, " state=%s", ev.State)
	}
	if ev.EndsLeg {
		w.WriteString(" ends")
	}
	if ev.Append {
		w.WriteString(" append")
	}
	if ev.LastChunk {
		w.WriteString(" last")
	}
	if ev.Timestamp != "" {
		fmt.Fprintf(w, " at=%s", ev.Timestamp)
	}
	w.WriteString("\n")
	if ev.Metadata != "" {
		fmt.Fprintf(w, "  metadata %s\n", wireShort(string(ev.Metadata)))
	}
	if ev.HasMessage {
		wireMessage(w, "  message", ev.Message)
	}
	if ev.Kind == a2a.EventArtifact {
		wireArtifact(w, "  artifact", ev.Artifact)
	}
	if ev.Artifacts != nil {
		for a := range ev.Artifacts {
			wireArtifact(w, "  artifacts", a)
		}
	}
	if ev.History != nil {
		for m := range ev.History {
			wireMessage(w, "  history", m)
		}
	}
}

func wireMessage(w *strings.Builder, what string, m a2a.Message) {
	fmt.Fprintf(w, "%s id=%q role=%s task=%q context=%q\n", what, m.ID, m.Role, m.TaskID, m.ContextID)
	wireParts(w, m.Parts, m.Metadata)
}

func wireArtifact(w *strings.Builder, what string, a a2a.Artifact) {
	fmt.Fprintf(w, "%s id=%q name=%q description=%q\n", what, a.ID, a.Name, a.Description)
	wireParts(w, a.Parts, a.Metadata)
}

func wireParts(w *strings.Builder, parts a2a.Parts, metadata a2a.JSON) {
	if metadata != "" {
		fmt.Fprintf(w, "    metadata %s\n", wireShort(string(metadata)))
	}
	for p := range parts.All() {
		switch p.Kind {
		case a2a.PartText:
			fmt.Fprintf(w, "    text %s", wireShort(string(p.TextJSON)))
			if gjson.Parse(string(p.TextJSON)).Str != p.Text {
				fmt.Fprintf(w, " is not %q", p.Text)
			}
		case a2a.PartFile:
			fmt.Fprintf(w, "    file %+v", p.File)
		case a2a.PartData:
			fmt.Fprintf(w, "    data %s", wireShort(string(p.Data)))
		default:
			fmt.Fprintf(w, "    unknown %s", wireShort(string(p.Raw)))
		}
		if p.Metadata != "" {
			fmt.Fprintf(w, " metadata %s", wireShort(string(p.Metadata)))
		}
		w.WriteString("\n")
	}
}

func wireShort(s string) string {
	if len(s) > 200 {
		return fmt.Sprintf("%s… (%d)", s[:200], len(s))
	}
	return s
}

// wireDecode writes out the decoded events of a recording.
func wireDecode(t testing.TB, p protocol, file string) string {
	t.Helper()
	var w strings.Builder
	for _, f := range wireFrames(t, file) {
		if !rawjson.Valid([]byte(f)) {
			t.Fatalf("%s: not JSON: %s", file, f)
		}
		r := readResponse(f)
		if r.failure != "" {
			e, _ := readError(r.failure)
			fmt.Fprintf(&w, "error %d %q data=%s\n", e.Code, e.Message, e.Data)
			continue
		}
		var ev a2a.Event
		p.decode(r.result, &ev)
		wireEvent(&w, &ev)
		// A clone reads the same.
		var cloned strings.Builder
		var again strings.Builder
		wireEvent(&again, &ev)
		wireEvent(&cloned, ev.Clone())
		must.Equal(t, again.String(), cloned.String(), "the clone differs", file)
	}
	return w.String()
}

// TestWire: what SDKs and Gemini's server have sent, as events.
func TestWire(t *testing.T) {
	for dir, p := range map[string]protocol{"v03": {v03: true}, "v1": {}} {
		for _, ext := range []string{"txt", "jsonl"} {
			files, _ := filepath.Glob("../testdata/wire/" + dir + "/*." + ext)
			for _, file := range files {
				t.Run(filepath.Base(file), func(t *testing.T) { must.Golden(t, *update, file+".golden", wireDecode(t, p, file)) })
			}
		}
	}
}

// wireNeutral replaces the values that are unique to a recording by numbers.
func wireNeutral(s string) string {
	s = regexp.MustCompile(` at=\S+`).ReplaceAllString(s, "")
	names := make(map[string]string)
	return regexp.MustCompile(`"(m-\d+|[0-9a-f]{8}-[0-9a-f-]{27})"`).ReplaceAllStringFunc(s, func(id string) string {
		if names[id] == "" {
			names[id] = fmt.Sprintf("#%d", len(names))
		}
		return names[id]
	})
}
