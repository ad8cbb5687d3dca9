package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A script is the fake agent's answer to a message: begin, the ring repeatedly, end.
// Each element of the ring is one write.
type script struct {
	spelling
	ring   [][]byte
	rounds int
	// pace is the time between two writes, 0 for none; with a pace each write has a place
	// for its time.
	pace time.Duration
	// fresh: each write has a place for a time all the same, which makes its IDs new ones.
	fresh bool
	// events and marks count what one ring holds; size is its bytes as frames.
	events, marks, size int
	payloads            [][]byte
}

// newScript renders payloads, several of them to a write.
func newScript(version string, payloads [][]byte, perWrite, rounds int) *script {
	s := &script{spelling: spellingOf(version), rounds: rounds, events: len(payloads), payloads: payloads}
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

// short is the same script, said once.
func (s *script) short() *script {
	c := *s
	c.rounds, c.pace = 1, 0
	return &c
}

// small makes n different small events.
func small(event func(int, string) []byte, n int, breaks bool) [][]byte {
	list := make([][]byte, n)
	for i := range list {
		list[i] = event(i, text(i, textSize, breaks))
	}
	return list
}

// stamped makes n small events with a place for a time in each text.
func stamped(event func(int, string) []byte, n int) [][]byte {
	list := make([][]byte, n)
	place := string(stampMark) + strings.Repeat("0", stampDigits)
	for i := range list {
		t := text(i, textSize, false)
		list[i] = event(i, place+t[len(place):])
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
func replay(recording string, n int) ([][]byte, error) {
	f, err := os.Open(recording)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var said []string
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var line struct {
			Data json.RawMessage `json:"data"`
		}
		if err := json.Unmarshal(in.Bytes(), &line); err != nil {
			return nil, err
		}
		p := string(line.Data)
		asks := strings.Contains(p, `"awaiting_approval"`) && !strings.Contains(p, `"outcome"`)
		if p == "" || asks || strings.Contains(p, `"final":true`) || !strings.Contains(p, `"update"`) && !strings.Contains(p, `-update"`) {
			continue
		}
		if strings.Contains(p, `"text-content"`) {
			p = strings.Replace(p, `"text":"`, `"text":"`+string(mark), 1)
		}
		said = append(said, p)
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for _, p := range said {
		for _, m := range names.FindAllStringSubmatch(p, -1) {
			ids[m[1]] = true
		}
	}
	var list [][]byte
	for i := range n {
		var pairs []string
		for id := range ids {
			pairs = append(pairs, id, id[:len(id)-5]+fmt.Sprintf("%05d", i))
		}
		r := strings.NewReplacer(pairs...)
		for _, p := range said {
			list = append(list, []byte(r.Replace(p)))
		}
	}
	return list, nil
}
