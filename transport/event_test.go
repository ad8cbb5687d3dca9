package transport

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/rawjson"
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
	for in, want := range map[string]string{
		`"plain"`:             `"plain"`,
		`"\ud83d\ude00"`:      `"\ud83d\ude00"`,
		`"\ud83d"`:            `"\ufffd"`,
		`"\uDE00 \uD83D x"`:   `"\ufffd \ufffd x"`,
		`"\ud83d\ud83d\ude0"`: `"\ufffd\ufffd\ude0"`,
		`"\\ud83d"`:           `"\\ud83d"`,
		`"\\\ud83d\\"`:        `"\\\ufffd\\"`,
		`"\u00e9\`:            `"\u00e9\`,
		"\"\xff\xfe é\"":      "\"\uFFFD é\"",
	} {
		if got := string(repairText([]byte(in))); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
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

// Every state, in every spelling, as an update and as a snapshot, in both versions, and
// which of them end the leg.
func TestStates(t *testing.T) {
	ends := map[a2a.State]string{ // what ends as news: by both, by 1.x alone
		a2a.StateCompleted: "both", a2a.StateCanceled: "both", a2a.StateFailed: "both", a2a.StateRejected: "both",
		a2a.StateInputRequired: "1.0",
	}
	numbers := map[a2a.State]int{
		a2a.StateUnknown: 0, a2a.StateSubmitted: 1, a2a.StateWorking: 2, a2a.StateCompleted: 3, a2a.StateFailed: 4,
		a2a.StateCanceled: 5, a2a.StateInputRequired: 6, a2a.StateRejected: 7, a2a.StateAuthRequired: 8,
	}
	if len(a2a.States()) != 9 {
		t.Fatal(a2a.States())
	}
	for _, state := range a2a.States() {
		upper := strings.ReplaceAll(strings.ToUpper(string(state)), "-", "_")
		v1 := "TASK_STATE_" + upper
		if state == a2a.StateUnknown {
			v1 = "TASK_STATE_UNSPECIFIED"
		} else if (protocol{}).state(state) != v1 {
			t.Errorf("%s is spelled %s", state, (protocol{}).state(state))
		}
		if state.Terminal() != (ends[state] == "both") {
			t.Errorf("%s: terminal %v", state, state.Terminal())
		}
		for _, p := range []protocol{{v03: true}, {}} {
			for _, written := range []string{`"` + string(state) + `"`, `"` + v1 + `"`, `"` + upper + `"`, fmt.Sprint(numbers[state])} {
				status := `{"taskId":"t","contextId":"c","status":{"state":` + written + `}}`
				task := `{"id":"t","contextId":"c","status":{"state":` + written + `}}`
				for _, test := range []struct {
					raw  string
					kind a2a.EventKind
					ends bool
				}{
					{`{"kind":"status-update",` + status[1:], a2a.EventStatus, ends[state] == "both" || ends[state] == p.name()},
					{`{"statusUpdate":` + status + `}`, a2a.EventStatus, ends[state] == "both" || ends[state] == p.name()},
					{status, a2a.EventStatus, ends[state] == "both" || ends[state] == p.name()},
					{strings.TrimSuffix(status, "}") + `,"final":true}`, a2a.EventStatus, true},
					{`{"kind":"task",` + task[1:], a2a.EventTask, state.Terminal()},
					{`{"task":` + task + `}`, a2a.EventTask, state.Terminal()},
					{task, a2a.EventTask, state.Terminal()},
				} {
					var ev a2a.Event
					p.decode(test.raw, &ev)
					if ev.Kind != test.kind || ev.State != state || ev.EndsLeg != test.ends || ev.TaskID != "t" || ev.ContextID != "c" {
						t.Errorf("%s: %s: kind %d, state %s, ends %v", p.name(), test.raw, ev.Kind, ev.State, ev.EndsLeg)
					}
				}
			}
		}
	}
}

// bothCard is the card of an agent that speaks both versions.
const bothCard = `{"name":"Test","url":"%[1]s/rpc","protocolVersion":"0.3.0",
	"supportedInterfaces":[{"url":"%[1]s/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0","tenant":"x"}],
	"capabilities":{"streaming":true,"extensions":[{"uri":"https://e.example/x/v1","required":true},{"uri":"https://e.example/y/v1"}]}}`
