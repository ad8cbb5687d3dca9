package bridge_test

import (
	"os"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// This file has the other conversation of a cutAgent: a recording of Gemini CLI's server,
// which writes a file. It is ten times as long, repeats events, and asks in its own
// dialect.

// recorded: the agent says what was recorded, and holds what that server does: a
// history with the first message of each ID.
const recorded carrier = "recording"

const (
	// slower is how much slower the events come, so that the wait before a subscription
	// misses some events and not all.
	slower = 5

	recordedFile    = "../testdata/recordings/gemini/0.61/write-confirm-once.jsonl"
	recordedTask    = "b2b8fba8-cbba-4475-bfb1-464e205fc0ce"
	recordedContext = "17cd8caf-b309-4ddb-9375-dd3ddb5b64e3"

	geminiCard = `{"name":"Gemini SDLC Agent","url":"http://agent.invalid/","protocolVersion":"0.3.0","capabilities":{"streaming":true},"defaultInputModes":["text"]}`
)

// recording reads the legs of the recording, and its chunks of text. If it cannot be read
// there are none, which fails the test.
func recording() (legs [][]item, words []string) {
	data, err := os.ReadFile(recordedFile)
	if err != nil {
		return nil, nil
	}
	var last int64
	for line := range strings.Lines(string(data)) {
		m := gjson.Parse(line)
		at := m.Get("t").Int()
		if m.Get("body.method").Str == "message/stream" {
			legs = append(legs, nil)
		}
		e := m.Get("data.result")
		if e.Get("kind").Str != "status-update" { // the task itself is the first event of every story
			continue
		}
		i := item{state: e.Get("status.state").Str, final: e.Get("final").Bool(), message: e.Get("status.message.messageId").Str,
			body: e.Get("status.message").Raw, event: e.Raw, wait: time.Duration(at-last) * time.Millisecond * slower}
		last = at
		if text := e.Get("status.message.parts.0.text"); text.Exists() {
			i.text = text.Str
			words = append(words, text.Str)
		}
		legs[len(legs)-1] = append(legs[len(legs)-1], i)
	}
	return legs, words
}
