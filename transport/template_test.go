package transport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/fastpath"
	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// FuzzTemplate: a template is only faster. A frame that fits it is valid and needs no
// repair, and gives the same event as decoding.
func FuzzTemplate(f *testing.F) {
	const v1 = `{"jsonrpc":"2.0","id":1,"result":{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[{"text":%s}]},"append":true,"metadata":{"n":%s,"at":"2026"}}}}`
	const v03 = `{"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":"working","message":{"kind":"message","role":"agent",` +
		`"parts":[{"kind":"text","text":%s}],"messageId":%[2]s},"timestamp":%[2]s},"final":false,"metadata":{"coderAgent":{"kind":%[2]s},"model":"x"}}}`
	for _, text := range []string{`"one"`, `"a longer text, without anything special"`, `"\n\t\"\\\u00e9 é 😀"`, `"\ud83d"`, `"\ud83d\ude00"`, `""`, `5`, "\"\x01\"", "\"\xff\"", `"\u0000"`} {
		for _, other := range []string{`"k"`, `"longer"`, `17`, `017`, `1.5`, `"\n"`, `{"a":["b",2]}`, `null`} {
			f.Add(fmt.Appendf(nil, v1, `"abc"`, `"k"`), fmt.Appendf(nil, v1, text, other))
			f.Add(fmt.Appendf(nil, v1, text, other), fmt.Appendf(nil, v1, `"abc"`, `5`))
			f.Add(fmt.Appendf(nil, v03, text, `"k"`), fmt.Appendf(nil, v03, `"xyz"`, other))
			f.Add(fmt.Appendf(nil, v03, `"xyz"`, other), fmt.Appendf(nil, v03, text, other))
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
	like := newTemplate(data, ev)
	spoil(data)
	return like
}

// tryTemplate compares both ways to decode a frame, if it fits.
func tryTemplate(t *testing.T, like *template, frame []byte) bool {
	fit, holes := like.fits(frame, []slot{{1, 2}}) // after those of another
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
	like.decode(frame, &fit, holes, got, part, nil)
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

// FuzzClean: cleanJSON is true only for input that the slow path accepts unchanged.
func FuzzClean(f *testing.F) {
	for _, s := range []string{`{"a":[1,-2.5e+3,0,true,false,null,"x\n\u00e9"],"b":{}}`, `[01]`, `[1.]`, `[-]`, `{"a" : 1 , "b":[ ]}`, `{"a":1,}`, `["\ud83d\ude00"]`, ` 5 `, `"`, `{`, `[}`, `tru`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if cleanJSON(string(b), nil) && (!rawjson.Valid(b) || !json.Valid(b) || !bytes.Equal(b, repairText(bytes.Clone(b)))) {
			t.Errorf("%q is clean", b)
		}
		if known := string(b); known != "" && known[0] == '{' && cleanJSON(known, nil) {
			known = known[:rawjson.SkipValue(known, 0)]
			from := new(fastpath.Source)
			from.Add(known)
			for _, s := range []string{known, `{"a":[` + known + `,` + known + `]}`, `[` + known + known + `]`, `{` + known + `}`} {
				if cleanJSON(s, from) != cleanJSON(s, nil) {
					t.Errorf("%q is clean: not as where %q is known", s, known)
				}
			}
		}
		if text := strings.TrimRight(string(b), " \t\r\n"); len(text) > 1 && text[0] == '"' && cleanJSON(text, nil) {
			from := &fastpath.Source{Begun: text[:len(text)-1]}
			for _, more := range []string{`"`, ``, `x"`, `\n"`, `\"`, "\xa9\"", `\ude00"`, `"}`, `u0041"`} {
				if s := from.Begun + more; cleanJSON(s, from) != cleanJSON(s, nil) {
					t.Errorf("%q is clean: not as where its beginning is known", s)
				}
			}
		}
		var want string
		if rawjson.Valid(b) && utf8.Valid(b) && len(b) > 0 && b[0] == '"' && json.Unmarshal(b, &want) == nil {
			if got := jsonText(strings.TrimRight(string(b), " \t\r\n")); got != want {
				t.Errorf("%q reads %q, not %q", b, got, want)
			}
		}
	})
}
