package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

const (
	// mark is in each text at a fixed distance, and nowhere else on the wire, so that one
	// pass over the output counts what has arrived.
	mark = '~'
	// stampMark begins a time, in nanoseconds, of stampDigits digits.
	stampMark   = '@'
	stampDigits = 19
	// textSize is the text of a small event. Models send between 5 and 500 bytes at once.
	textSize = 200
	markStep = 10

	taskID     = "5f1c9a52-61a4-4f0e-9d8a-0d4f7f6f2b11"
	contextID  = "c8a7e0c4-2a55-4f53-8b7e-3d5b1c1f9a02"
	artifactID = "0b9d2f7e-7c1a-4a53-b6a0-2f9c1d3e5a77"
	messageID  = "c951efcf-3509-48b9-8490-026bf30d887a"
)

// place is where a time may be written.
var place = string(stampMark) + strings.Repeat("0", stampDigits)

// text returns n bytes of prose that differ with i: a place for a time, and a mark every
// markStep bytes. breaks: with a line feed every 80 bytes, as in code.
func text(i, n int, breaks bool) string {
	const words = "the agent reads every file of the project and writes what it has found into a list that the user may look at later while it works on "
	b := make([]byte, n)
	for k := copy(b, place); k < n; k++ {
		switch {
		case k%markStep == markStep-1:
			b[k] = mark
		case breaks && k%80 == 40:
			b[k] = '\n'
		default:
			b[k] = words[(i*7+k)%len(words)]
		}
	}
	return string(b)
}

// quoted is a text as the agents' encoders write it.
func quoted(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

// clock is a time of day that moves with i, as statuses carry.
func clock(i int) string {
	return fmt.Sprintf("2026-11-20T12:%02d:%02d.%03dZ", i/60000%60, i/1000%60, i%1000)
}

// artifactV1 is an A2A 1.x artifact update. With textSize bytes of text its frame
// has 517 bytes.
func artifactV1(i int, text string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1001,"result":{"artifactUpdate":{"taskId":"%s","contextId":"%s",`+
		`"artifact":{"artifactId":"%s","parts":[{"text":%s}]},"append":true,`+
		`"metadata":{"timestamp":"%s"}}}}`, taskID, contextID, artifactID, quoted(text), clock(i))
}

// statusV03 is text as Gemini CLI's server sends it (testdata/recordings/gemini).
func statusV03(i int, text string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":45,"result":{"kind":"status-update","taskId":"%s","contextId":"%s","status":{"state":"working",`+
		`"message":{"kind":"message","role":"agent","parts":[{"kind":"text","text":%s}],"messageId":"%s","taskId":"%[1]s","contextId":"%[2]s"},`+
		`"timestamp":"%[5]s"},"final":false,"metadata":{"coderAgent":{"kind":"text-content"},"model":"gemini-3.1-pro-preview","traceId":"r%[6]d"}}}`,
		taskID, contextID, quoted(text), messageID, clock(i), 10+i%90)
}

// toolEvent is a tool call as Gemini CLI's server tells of it.
func toolEvent(call, message, status string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":45,"result":{"kind":"status-update","taskId":"%s","contextId":"%s","status":{"state":"working","message":{"kind":"message","role":"agent",`+
		`"messageId":%q,"parts":[{"kind":"data","data":{"request":{"callId":%q,"name":"run_shell_command","args":{"command":"make"}},"status":%q,"tool":{"kind":"execute"}}}]}},`+
		`"final":false,"metadata":{"coderAgent":{"kind":"tool-call-update"}}}}`, taskID, contextID, message, call, status)
}

// A spelling is how one version says when a task begins and ends.
type spelling struct {
	card       string // with a %s for the URL
	begin, end string
}

func spellingOf(version string) spelling {
	if version == "0.3" {
		return spelling{
			card: `{"name":"Gemini SDLC Agent","description":"bench","version":"0.61.0","protocolVersion":"0.3.0","url":"%s","preferredTransport":"JSONRPC",` +
				`"capabilities":{"streaming":true},"defaultInputModes":["text"],"defaultOutputModes":["text"],"skills":[]}`,
			begin: `{"jsonrpc":"2.0","id":45,"result":{"kind":"task","id":"` + taskID + `","contextId":"` + contextID + `","status":{"state":"submitted","timestamp":"2026-11-20T12:00:00.000Z"},"history":[],"artifacts":[]}}`,
			end:   `{"jsonrpc":"2.0","id":45,"result":{"kind":"status-update","taskId":"` + taskID + `","contextId":"` + contextID + `","status":{"state":"completed","timestamp":"2026-11-20T12:59:59.999Z"},"final":true}}`,
		}
	}
	return spelling{
		card: `{"name":"bench","description":"bench","version":"1","supportedInterfaces":[{"url":"%s","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],` +
			`"capabilities":{"streaming":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[]}`,
		begin: `{"jsonrpc":"2.0","id":2,"result":{"task":{"id":"` + taskID + `","contextId":"` + contextID + `","status":{"state":"TASK_STATE_WORKING","timestamp":"2026-11-20T12:00:00.000Z"}}}}`,
		end:   `{"jsonrpc":"2.0","id":2,"result":{"statusUpdate":{"taskId":"` + taskID + `","contextId":"` + contextID + `","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-11-20T12:59:59.999Z"}}}}`,
	}
}

// A script is the fake agent's answer to a message: begin, the ring repeatedly, end.
// Each element of the ring is one write.
type script struct {
	spelling
	ring   [][]byte
	rounds int
	// pace is the time between two writes, 0 for none. With a pace, or if they are to be fresh,
	// each gets its time into its places: some IDs in growth have one, so that these are new.
	pace  time.Duration
	fresh bool
	// task is the answer to tasks/get, where the stream ends in its middle: its history begins with
	// the message that was sent. nil: it ends with end.
	task func(sent string) string
	// events and marks count what one ring holds; size is its bytes as frames.
	events, marks, size int
}

// newScript renders payloads, several of them to a write.
func newScript(version string, payloads [][]byte, perWrite, rounds int) *script {
	s := &script{spelling: spellingOf(version), rounds: rounds, events: len(payloads)}
	for len(payloads) > 0 {
		n := min(perWrite, len(payloads))
		var frames bytes.Buffer
		for _, p := range payloads[:n] {
			fmt.Fprintf(&frames, "data: %s\n\n", p)
			s.marks += bytes.Count(p, []byte{mark})
		}
		payloads = payloads[n:]
		s.size += frames.Len()
		s.ring = append(s.ring, chunk(frames.Bytes()))
	}
	return s
}

// chunk is a chunk of HTTP/1.1's chunked encoding.
func chunk(b []byte) []byte { return fmt.Appendf(nil, "%x\r\n%s\r\n", len(b), b) }

// small makes n different small events.
func small(event func(int, string) []byte, n int, breaks bool) [][]byte {
	list := make([][]byte, n)
	for i := range list {
		list[i] = event(i, text(i, textSize, breaks))
	}
	return list
}

// stamp writes a time into the places that a write has for it.
func stamp(write []byte, t time.Time) {
	digits := strconv.AppendInt(nil, t.UnixNano(), 10)
	for rest := write; ; {
		at := bytes.IndexByte(rest, stampMark)
		if at < 0 || at+1+stampDigits > len(rest) {
			return
		}
		rest = rest[at+1:]
		copy(rest[:stampDigits], digits)
	}
}

var names = regexp.MustCompile(`"(?:callId|messageId)":"([^"]+)"`)

// replay makes n conversations from a recorded Gemini server, each with its own names
// of calls and messages. It leaves out what makes the bridge wait for a user:
// questions, and the ends of legs.
func replay(recording string, n int) (list [][]byte, err error) {
	lines, err := os.ReadFile(recording)
	var said []string
	for line := range strings.Lines(string(lines)) {
		p := gjson.Get(line, "data").Raw
		asks := strings.Contains(p, `"awaiting_approval"`) && !strings.Contains(p, `"outcome"`)
		if p == "" || asks || strings.Contains(p, `"final":true`) || !strings.Contains(p, `"update"`) && !strings.Contains(p, `-update"`) {
			continue
		}
		if strings.Contains(p, `"text-content"`) {
			p = strings.Replace(p, `"text":"`, `"text":"`+string(mark), 1)
		}
		said = append(said, p)
	}
	ids := names.FindAllStringSubmatch(strings.Join(said, "\n"), -1)
	for i := range n {
		var pairs []string
		for _, m := range ids {
			pairs = append(pairs, m[1], m[1][:len(m[1])-5]+fmt.Sprintf("%05d", i))
		}
		r := strings.NewReplacer(pairs...)
		for _, p := range said {
			list = append(list, []byte(r.Replace(p)))
		}
	}
	return list, err
}
