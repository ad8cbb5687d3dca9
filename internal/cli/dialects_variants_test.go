package cli

import (
	"encoding/json"
	"io"
	"maps"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDialectVariants plays each recording as other legal agents might send it; the
// user must see the same text. A recording shows one version of one agent: IDs, the
// order of independent events, and optional members are no facts about it.
func TestDialectVariants(t *testing.T) {
	files := conversations(t)
	for _, file := range files {
		recorded := readRecording(t, file)
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		want := strings.Join(recorded.says[:min(len(recorded.says), 1)], " ")
		if recorded.send != "" {
			want = recorded.send
		}
		orders := map[string]func([]string) []string{"working said late": workingLate}
		if constantIDs(recorded.turns) {
			orders["a constant artifact ID"] = sameIDs
		}
		for variant, change := range variants(want) {
			orders[variant] = func(lines []string) (changed []string) {
				for _, line := range lines {
					changed = append(changed, vary(line, change)...)
				}
				return changed
			}
		}
		for variant, change := range orders {
			if without, ok := variantsNot[variant]; ok && strings.Contains(without+" ", " "+name+" ") {
				continue
			}
			t.Run(name+"/"+variant, func(t *testing.T) {
				t.Parallel()
				other := *recorded
				other.turns = nil
				for _, lines := range recorded.turns {
					other.turns = append(other.turns, change(lines))
				}
				server := httptest.NewServer(&recordedAgent{recording: &other})
				defer server.Close()
				text := playSend(t, &other, server.URL, io.Discard)
				if oneSpace(text) != oneSpace(want) {
					t.Errorf("send shows\n %q, the agent said\n %q", oneSpace(text), oneSpace(want))
				}
			})
		}
	}
}

// variantsNot names the recordings to which a variant does not apply, and why.
var variantsNot = map[string]string{
	// Without final the agent may go on by itself, so the bridge follows the task, and
	// would take the next recorded answer for it.
	"no final": " adk-python-credential adk-python-credential-words",
}

type object = map[string]any

// variants change an event, given as its result.
func variants(whole string) map[string]func(object) []object {
	rename := func(key string, to func(string) string) func(object) []object {
		return func(o object) []object {
			eachObject(o, func(o object) {
				if id, ok := o[key].(string); ok {
					o[key] = to(id)
				}
			})
			return []object{o}
		}
	}
	return map[string]func(object) []object{
		"artifact IDs": rename("artifactId", func(id string) string {
			if strings.Contains(id, ":") || strings.HasPrefix(id, "tool-") {
				return id // whose form says what it is
			}
			return "0-" + id
		}),
		"message IDs": rename("messageId", func(id string) string { return "0-" + id }),
		"tasks named after contexts": func(o object) []object {
			b, _ := json.Marshal(o)
			changed := strings.NewReplacer(`"t1"`, `"c1"`, `"t1:`, `"c1:`).Replace(string(b))
			var other object
			_ = json.Unmarshal([]byte(changed), &other)
			return []object{other}
		},
		"no final": func(o object) []object {
			eachObject(o, func(o object) { delete(o, "final") })
			return []object{o}
		},
		"no kind": func(o object) []object {
			eachObject(o, func(o object) {
				if o["kind"] == "text" || o["kind"] == "message" || o["kind"] == "status-update" || o["kind"] == "artifact-update" || o["kind"] == "task" {
					delete(o, "kind")
				}
			})
			return []object{o}
		},
		"an empty last chunk": func(o object) []object {
			a := updateOf(o, "artifactUpdate", "artifact")
			if a == nil || a["lastChunk"] != true {
				return []object{o}
			}
			first, last := cloneObject(o), cloneObject(o)
			delete(updateOf(first, "artifactUpdate", "artifact"), "lastChunk")
			end := updateOf(last, "artifactUpdate", "artifact")
			end["append"] = true
			end["artifact"].(object)["parts"] = []any{object{"kind": "text", "text": ""}}
			return []object{first, last}
		},
		"the user's message": func(o object) []object {
			s := updateOf(o, "statusUpdate", "status")
			if s == nil || s["status"].(object)["message"] != nil || !strings.Contains(strings.ToLower(s["status"].(object)["state"].(string)), "working") {
				return []object{o}
			}
			role := "user"
			if o["kind"] == nil {
				role = "ROLE_USER"
			}
			echo := cloneObject(o)
			updateOf(echo, "statusUpdate", "status")["status"].(object)["message"] = object{"kind": "message", "role": role, "messageId": "user-1", "parts": []any{object{"kind": "text", "text": "What I have said."}}}
			return []object{o, echo}
		},
		"all of it again in the last message": func(o object) []object {
			if s := completes(o); s != nil && s["message"] == nil && whole != "" {
				s["message"] = object{"kind": "message", "role": "ROLE_AGENT", "messageId": "whole", "parts": []any{object{"kind": "text", "text": whole}}}
			}
			return []object{o}
		},
		"all of it again in an artifact": func(o object) []object {
			if s := completes(o); s != nil && s["message"] == nil && whole != "" {
				u := object{"taskId": "t1", "contextId": "c1", "artifact": object{"artifactId": "whole", "parts": []any{object{"kind": "text", "text": whole}}}}
				if o["kind"] == nil {
					return []object{{"artifactUpdate": u}, o}
				}
				u["kind"] = "artifact-update"
				return []object{u, o}
			}
			return []object{o}
		},
		"a task at the end": func(o object) []object {
			s := completes(o)
			if s == nil || s["message"] != nil || whole == "" {
				return []object{o}
			}
			return []object{{"task": object{"id": "t1", "contextId": "c1", "status": s, "artifacts": []any{object{"artifactId": "whole", "parts": []any{object{"kind": "text", "text": whole}}}}}}}
		},
		"smaller chunks": func(o object) []object {
			a := updateOf(o, "artifactUpdate", "artifact")
			if a == nil || a["append"] != true {
				return []object{o}
			}
			parts, _ := a["artifact"].(object)["parts"].([]any)
			if len(parts) != 1 {
				return []object{o}
			}
			text, _ := parts[0].(object)["text"].(string)
			if len(text) < 4 || strings.Contains(string(mustJSON(a)), "final_snapshot") || strings.Contains(string(mustJSON(o)), `"adk_partial":false`) {
				return []object{o}
			}
			one, two := cloneObject(o), cloneObject(o)
			updateOf(one, "artifactUpdate", "artifact")["artifact"].(object)["parts"].([]any)[0].(object)["text"] = text[:len(text)/2]
			delete(updateOf(one, "artifactUpdate", "artifact"), "lastChunk")
			updateOf(two, "artifactUpdate", "artifact")["artifact"].(object)["parts"].([]any)[0].(object)["text"] = text[len(text)/2:]
			return []object{one, two}
		},
		"other metadata": func(o object) []object {
			eachObject(o, func(o object) {
				if m, ok := o["metadata"].(object); ok {
					m["com.example/trace"] = object{"id": "x", "n": 1}
				}
			})
			return []object{o}
		},
		"each event twice as working": func(o object) []object {
			s := updateOf(o, "statusUpdate", "status")
			if s == nil || s["status"].(object)["message"] != nil || s["metadata"] != nil || !strings.Contains(strings.ToLower(s["status"].(object)["state"].(string)), "working") {
				return []object{o}
			}
			return []object{o, cloneObject(o)}
		},
	}
}

// workingLate moves an empty "working" status behind the next artifact: the two are
// independent.
func workingLate(lines []string) []string {
	lines = slices.Clone(lines)
	for i := 0; i+1 < len(lines); i++ {
		s, a := updateOf(eventOf(lines[i]), "statusUpdate", "status"), updateOf(eventOf(lines[i+1]), "artifactUpdate", "artifact")
		if s == nil || a == nil || s["status"].(object)["message"] != nil || s["metadata"] != nil ||
			!strings.Contains(strings.ToLower(s["status"].(object)["state"].(string)), "working") {
			continue
		}
		lines[i], lines[i+1] = lines[i+1], lines[i]
		i++
	}
	return lines
}

// constantIDs reports whether each turn has at most one artifact, with an ID without
// meaning, so that the agent might use it in all tasks.
func constantIDs(turns [][]string) bool {
	some := false
	for _, lines := range turns {
		ids := map[string]bool{}
		for _, line := range lines {
			eachObject(eventOf(line), func(o object) {
				if id, ok := o["artifactId"].(string); ok {
					ids[id] = true
					some = true
				}
			})
		}
		for id := range ids {
			if len(ids) > 1 || strings.Contains(id, ":") || strings.HasPrefix(id, "tool-") {
				return false
			}
		}
	}
	return some
}

func sameIDs(lines []string) (changed []string) {
	for _, line := range lines {
		changed = append(changed, vary(line, func(o object) []object {
			eachObject(o, func(o object) {
				if _, ok := o["artifactId"].(string); ok {
					o["artifactId"] = "response"
				}
			})
			return []object{o}
		})...)
	}
	return changed
}

// eventOf is the event that a line of a recording is, nil if it is none.
func eventOf(line string) (o object) {
	if !strings.HasPrefix(line, "json ") {
		_ = json.Unmarshal([]byte(line[max(strings.IndexByte(line, '{'), 0):]), &o)
	}
	return o
}

// vary applies a change to a line of a recording.
func vary(line string, change func(object) []object) []string {
	mark, raw := "", line
	if i := strings.IndexByte(line, '{'); i > 0 {
		mark, raw = line[:i], line[i:]
	}
	var o object
	if json.Unmarshal([]byte(raw), &o) != nil {
		return []string{line}
	}
	if mark == "json " {
		return []string{mark + string(mustJSON(change(o)[0]))}
	}
	var lines []string
	for _, one := range change(o) {
		lines = append(lines, mark+string(mustJSON(one)))
	}
	return lines
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func cloneObject(o object) (other object) {
	_ = json.Unmarshal(mustJSON(o), &other)
	return other
}

// completes returns the status of an update that completes a task, nil if it does not.
func completes(o object) object {
	if s := updateOf(o, "statusUpdate", "status"); s != nil {
		status := s["status"].(object)
		if state, _ := status["state"].(string); strings.HasSuffix(strings.ToLower(state), "completed") {
			return status
		}
	}
	return nil
}

// updateOf returns an update, in either version's shape, nil if it is none of that kind.
func updateOf(o object, wrapper, member string) object {
	if inner, ok := o[wrapper].(object); ok {
		return inner
	}
	if _, ok := o[member].(object); ok && o["kind"] != nil && o["kind"] != "task" {
		return o
	}
	return nil
}

// eachObject calls visit for each object within a value, but not for what tools are given.
func eachObject(v any, visit func(object)) {
	switch v := v.(type) {
	case object:
		visit(v)
		for key, inner := range maps.All(v) {
			if key != "data" {
				eachObject(inner, visit)
			}
		}
	case []any:
		for _, inner := range v {
			eachObject(inner, visit)
		}
	}
}
