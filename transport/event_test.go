package transport

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/rawjson"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

func eventString(p protocol, raw string) string {
	var ev a2a.Event
	p.decode(raw, &ev)
	var w strings.Builder
	wireEvent(&w, &ev)
	return w.String()
}

func checkElements(t *testing.T, s string) {
	t.Helper()
	var walked, taken []string
	rawjson.EachElement(s, func(value string) bool { walked = append(walked, value); return true })
	var p a2a.Part
	for rest, ok := nextPart(s, nil, &p); ok; rest, ok = nextPart(rest, nil, &p) {
		taken = append(taken, string(p.Raw))
	}
	if rawjson.Valid([]byte(s)) && !slices.Equal(walked, taken) {
		t.Errorf("%s: walked %q, taken %q", s, walked, taken)
	}
}

func TestRepairText(t *testing.T) {
	for _, row := range must.Table[[2]string](t, "testdata/repair.txt") {
		in, want := row[0], row[1]
		must.Equal(t, string(repairText([]byte(in))), want, in)
	}
}

// FuzzEvent: no input causes a panic; valid JSON is UTF-8 after the repair; and
// unknown members change nothing.
func FuzzEvent(f *testing.F) {
	for _, file := range []string{"v03/go0315-stream-parts.txt", "v1/go2-v1-stream-parts.txt"} {
		for _, frame := range wireFrames(f, "../testdata/wire/"+file) {
			f.Add([]byte(readResponse(frame).result))
		}
	}
	f.Add([]byte(`{"kind":"task","id":"\ud800","status":{"state":1},"history":[{}],"artifacts":[[]]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		eventString(protocol{}, string(b)) // it may not panic, whatever it is
		b = repairText(b)
		checkElements(t, string(b))
		if !rawjson.Valid(b) {
			return
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(b, &members) != nil || len(members) == 0 {
			return
		}
		if !utf8.Valid(b) {
			t.Fatalf("not text: %q", b)
		}
		// The walk finds what encoding/json finds (the last of a name wins there).
		found := map[string]string{}
		rawjson.EachMember(string(b), func(k, v string) bool { found[k] = v; return true })
		if len(found) != len(members) {
			t.Fatalf("%s: found %v", b, found)
		}
		more := strings.Replace(string(b), "{", `{"x-unknown":{"a":[1,"}"]},`, 1)
		for _, p := range []protocol{{v03: true}, {}} {
			if got, want := eventString(p, more), eventString(p, string(b)); got != want {
				t.Fatalf("%s\nwith an unknown member: %s\nwithout: %s", b, got, want)
			}
		}
	})
}

// TestArtifactsOf: neighbours of one ID are one artifact, of all their parts; others stay apart.
func TestArtifactsOf(t *testing.T) {
	for _, row := range must.Table[[2]string](t, "testdata/artifacts.txt") {
		raw, want := row[0], row[1]
		got := ""
		for a := range artifactsOf(raw, nil) {
			var parts []string
			for p := range a.Parts.All() {
				parts = append(parts, p.Text+string(p.Data))
			}
			got += a.ID + " " + a.Name + ": " + strings.Join(parts, "|") + ";"
		}
		must.Equal(t, got, want, raw)
	}
	n := 0
	for range artifactsOf(`[{"artifactId":"a"},{"artifactId":"b"},{"artifactId":"c"}]`, nil) {
		if n++; n == 2 {
			break // the walk ends there
		}
	}
}
