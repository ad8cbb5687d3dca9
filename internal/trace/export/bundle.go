package export

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"runtime"

	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/internal/trace/card"
	"github.com/a2astdio/a2astdio/internal/trace/show"
	"github.com/a2astdio/a2astdio/internal/trace/view"
)

// BundleOptions tell what a bundle contains.
type BundleOptions struct {
	// Version is the program's.
	Version string
	// Texts keeps the conversation's text in the trace.
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

// Bundle writes a zip file for a bug report: the trace without the conversation's text,
// the versions, the agent's card.
func Bundle(r *trace.Reader, w io.Writer, opts *BundleOptions) error {
	z := zip.NewWriter(w)
	b := &bundle{opts: opts, build: view.NewBuilder()}
	out, err := z.Create("trace.jsonl")
	if err == nil {
		err = b.trace(r, out)
	}
	if err != nil {
		return err
	}
	var figures bytes.Buffer
	if err := show.New(&figures, nil).Stats(&b.stats, b.build.Spans); err != nil {
		return err
	}
	start := &b.stats.Start
	versions, err := json.MarshalIndent(map[string]any{"recorded": map[string]any{"version": start.Version, "system": start.System, "mode": start.Mode, "format": start.Format, "at": start.Time},
		"bundled": map[string]any{"version": opts.Version, "system": runtime.GOOS + "/" + runtime.GOARCH + " " + runtime.Version()}, "notes": r.Notes()}, "", "  ")
	if err != nil {
		return err
	}
	without, lengths := " without what was said", " (of texts, their lengths)"
	if opts.Texts {
		without, lengths = "", ""
	}
	for _, f := range []struct {
		name    string
		content []byte
	}{{"timeline.txt", b.timeline.Bytes()}, {"figures.txt", figures.Bytes()}, {"versions.json", versions}, {"card.json", b.card},
		{"README.txt", fmt.Appendf(nil, bundleReadme, without, lengths)}} {
		if len(f.content) == 0 {
			continue
		}
		out, err := z.Create(f.name)
		if err == nil {
			_, err = out.Write(f.content)
		}
		if err != nil {
			return err
		}
	}
	return z.Close()
}

type bundle struct {
	opts     *BundleOptions
	timeline bytes.Buffer
	stats    view.Stats
	build    *view.Builder
	card     []byte // nil until there is one
}

// trace writes the trace, and notes the versions and the card.
func (b *bundle) trace(r *trace.Reader, out io.Writer) error {
	lines := show.New(&b.timeline, nil)
	for {
		record, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if payload, whole := record.Payload(); record.Kind == trace.KindBody && whole && b.card == nil && card.IsCard(payload) {
			b.card = bytes.Clone(payload)
		}
		line := bytes.Clone(r.Line())
		if !b.opts.Texts {
			line = trace.Redacted(nil, line)
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return err
		}
		if !b.opts.Texts && record.Decode(line) != nil {
			continue
		}
		it := view.Of(record)
		if b.timeline.Len() < maxContent {
			if err := lines.Item(&it); err != nil {
				return err
			}
		}
		b.stats.Add(record, &it)
		b.build.Add(&it)
	}
}
