package export

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/card"
	"github.com/a2astdio/a2astdio/internal/trace/show"
	"github.com/a2astdio/a2astdio/internal/trace/view"
)

// BundleOptions say what goes into a bundle beside the trace.
type BundleOptions struct {
	// Version is the program's.
	Version string
	// Texts leaves what was said in the trace.
	Texts bool
}

const bundleReadme = `A trace of a2astdio, for a bug report.

trace.jsonl    both wires%s; a2astdio trace show trace.jsonl
timeline.txt   the same, a line a record%s
figures.txt    how much, how often, how long
versions.json  what recorded it, and what made this
card.json      the agent's card, as it was when it was fetched

Credentials are masked by their names and shapes. Look through it before you
hand it on: names of hosts, files and tools are in it.
`

// Bundle writes a zip file for a bug report: the trace without what was said, the
// versions, the agent's card.
func Bundle(r *trace.Reader, w io.Writer, opts *BundleOptions) error {
	z := zip.NewWriter(w)
	out, err := z.Create("trace.jsonl")
	if err != nil {
		return err
	}
	var timeline, figures bytes.Buffer
	lines := show.New(&timeline, nil)
	var stats view.Stats
	build := view.NewBuilder()
	var found []byte
	for {
		record, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if b, whole := record.Payload(); record.Kind == trace.KindBody && whole && found == nil && card.IsCard(b) {
			found = bytes.Clone(b)
		}
		line := bytes.Clone(r.Line())
		if !opts.Texts {
			line = trace.Redacted(nil, line)
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
		if !opts.Texts && record.Decode(line) != nil {
			continue
		}
		it := view.Of(record)
		if timeline.Len() < maxContent {
			if err := lines.Item(&it); err != nil {
				return err
			}
		}
		stats.Add(record, &it)
		build.Add(&it)
	}
	if err := show.New(&figures, nil).Stats(&stats, build.Spans); err != nil {
		return err
	}
	versions, err := json.MarshalIndent(map[string]any{"recorded": map[string]any{"version": stats.Start.Version, "system": stats.Start.System, "mode": stats.Start.Mode, "format": stats.Start.Format, "at": stats.Start.Time},
		"bundled": map[string]any{"version": opts.Version, "system": runtime.GOOS + "/" + runtime.GOARCH + " " + runtime.Version()}, "notes": r.Notes()}, "", "  ")
	if err != nil {
		return err
	}
	without, lengths := " without what was said", " (of texts, their lengths)"
	if opts.Texts {
		without, lengths = "", ""
	}
	files := []struct {
		name    string
		content []byte
	}{{"timeline.txt", timeline.Bytes()}, {"figures.txt", figures.Bytes()}, {"versions.json", versions}, {"card.json", found},
		{"README.txt", fmt.Appendf(nil, bundleReadme, without, lengths)}}
	for _, f := range files {
		if len(f.content) == 0 {
			continue
		}
		out, err := z.Create(f.name)
		if err == nil {
			_, err = io.Copy(out, strings.NewReader(string(f.content)))
		}
		if err != nil {
			return err
		}
	}
	return z.Close()
}
