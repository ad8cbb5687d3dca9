package transport

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/fastpath"
	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// FuzzTemplate: a template is only faster. A frame that fits it is valid and needs no
// repair, and gives the same event as decoding.
func FuzzTemplate(f *testing.F) {
	const v1 = `{"jsonrpc":"2.0","id":1,"result":{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":%[2]s,"parts":[{"text":%[1]s}]},"append":true,"metadata":{"n":%[2]s,"at":"2026"}}}}`
	const v03 = `{"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"working","message":{"kind":"message","role":"agent",` +
		`"parts":[{"kind":"text","text":%s}],"messageId":%[2]s},"timestamp":%[2]s},"final":false,"metadata":{"coderAgent":{"kind":%[2]s},"model":"x"}}}`
	const tool = `{"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"working","message":{"role":"agent",` +
		`"parts":[{"kind":"data","data":{"call":%[2]s,"args":{"deep":[%[1]s,{"er":%[2]s}]},"same":true},"metadata":{"m":%[2]s}}],"messageId":"m"},"timestamp":%[1]s},"final":false}}`
	const none = `{"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"working","timestamp":%s},"final":false,"metadata":{"x":%s}}}`
	const value = `{"jsonrpc":"2.0","id":1,"result":{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"data":%s,"metadata":{"data_part_compat":true,"y":%s}}]}}}}`
	for _, text := range []string{`"one"`, `"a longer text, without anything special"`, `"\n\t\"\\\u00e9 é 😀"`, `"\ud83d"`, `"\ud83d\ude00"`, `""`, `5`, "\"\x01\"", "\"\xff\"", `"\u0000"`} {
		for _, other := range []string{`"k"`, `"longer"`, `17`, `017`, `1.5`, `"\n"`, `{"a":["b",2]}`, `null`} {
			f.Add(fmt.Appendf(nil, v1, `"abc"`, `"k"`), fmt.Appendf(nil, v1, text, other))
			f.Add(fmt.Appendf(nil, v1, text, other), fmt.Appendf(nil, v1, `"abc"`, `5`))
			f.Add(fmt.Appendf(nil, v03, text, `"k"`), fmt.Appendf(nil, v03, `"xyz"`, other))
			f.Add(fmt.Appendf(nil, v03, `"xyz"`, other), fmt.Appendf(nil, v03, text, other))
			for _, form := range []string{tool, none, value} {
				f.Add(fmt.Appendf(nil, form, `"xyz"`, `"k"`), fmt.Appendf(nil, form, text, other))
				f.Add(fmt.Appendf(nil, form, text, other), fmt.Appendf(nil, form, `"xyz"`, `"k"`))
			}
		}
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		like := templateOf(first)
		if like == nil {
			return
		}
		if !tryTemplate(t, like, first) && bytes.Equal(first, repairText(bytes.Clone(first))) && !strings.Contains(string(first), `\`) {
			t.Errorf("%s does not fit itself", first)
		}
		tryTemplate(t, like, second)
	})
}

// templateOf makes a template of a frame, nil if there can be none.
func templateOf(frame []byte) *template {
	data := repairText(bytes.TrimSpace(bytes.Clone(frame)))
	if len(data) == 0 || !rawjson.Valid(data) {
		return nil
	}
	r := readResponse(rawjson.View(data))
	if r.failure != "" || r.result == "" {
		return nil
	}
	ev := new(a2a.Event)
	protocol{}.decode(r.result, ev)
	like := newTemplate(data, ev, new(fastpath.Large))
	spoil(data)
	return like
}

// tryTemplate compares both ways to decode a frame, if it fits.
func tryTemplate(t *testing.T, like *template, frame []byte) bool {
	fit, spans := like.fits(frame, []span{{1, 2}}) // after those of another
	if fit.template == nil {
		return false
	}
	frame = frame[:fit.end]
	if !rawjson.Valid(frame) || !bytes.Equal(frame, repairText(bytes.Clone(frame))) {
		t.Fatalf("%q fits, and is not valid", frame)
	}
	want := new(a2a.Event)
	protocol{}.decode(readResponse(rawjson.View(frame)).result, want)
	got, part := new(a2a.Event), new(a2a.Part)
	like.decode(frame, &fit, spans, got, part, nil)
	got.FastPath().Shape = nil
	if w, g := spellEvent(want), spellEvent(got); w != g {
		t.Fatalf("%q\nis   %s\nnot  %s", frame, g, w)
	}
	return true
}

func spellEvent(e *a2a.Event) string {
	var b strings.Builder
	for _, parts := range []a2a.Parts{e.Message.Parts, e.Artifact.Parts} {
		fmt.Fprintf(&b, "%s ", parts.Raw)
		for p := range parts.All() {
			fmt.Fprintf(&b, "%+v ", *p)
		}
	}
	c := *e
	c.Message.Parts, c.Artifact.Parts, c.FastPath().Redecode, c.Artifacts, c.History = a2a.Parts{}, a2a.Parts{}, nil, nil, nil
	return fmt.Sprintf("%s%+v", b.String(), c)
}

// TestDroppedTemplate: nothing leads to a template that was dropped, also if its frame was found
// before: an agent would have all kept that it ever made us make.
func TestDroppedTemplate(t *testing.T) {
	s := &Stream{reader: &frameReader{}}
	var dropped *template
	for i := range 3 * maxTemplates {
		tmpl := &template{}
		s.keep(tmpl)
		if i == 0 {
			dropped = tmpl
		}
	}
	s.follow(dropped)
	if s.reader.template == dropped || slices.Contains(s.templates, dropped) || len(s.templates) > maxTemplates {
		t.Fatalf("%d are kept, or the dropped one", len(s.templates))
	}
}
