package calls

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// This file holds the rules against a truth of its own: what an agent means that says of calls
// whatever can be said, in each order. One letter is a mention of the call "c", or a mark:
//
//	P pending  A asks for something  B asks for something else  W pending, answered elsewhere
//	X executing  a b z executing with output "a", "ab", "z"  S succeeded  F failed
//	D E G another call: asks, executing, succeeded
//	!  the agent waits, and the user answers what is open
//	|  the turn ends, and the next one goes on in the same task
const (
	oneCall  = "PABWXabzSF!|"
	twoCalls = "PAXS!|DEG"
)

// letter is what the agent says.
func letter(r byte) ToolCall {
	c := ToolCall{ID: "c", Name: "n"}
	if strings.IndexByte("DEG", r) >= 0 {
		c.ID = "d"
	}
	switch r {
	case 'P', 'W':
		c.Status = Pending
	case 'A', 'B', 'D':
		c.Status, c.Asks, c.Confirmation = Pending, true, &Confirmation{Execute: &ExecuteDetails{Command: string(r)}}
	case 'X', 'E':
		c.Status = Executing
	case 'a', 'z':
		c.Status, c.OutputSoFar = Executing, string(r)
	case 'b':
		c.Status, c.OutputSoFar = Executing, "ab"
	case 'S', 'G':
		c.Status, c.Output = Succeeded, &Output{Text: "r"}
	case 'F':
		c.Status, c.Error = Failed, &ErrorDetails{Message: "f"}
	}
	return c
}

func asked(c *ToolCall) string {
	if c.Confirmation == nil {
		return ""
	}
	return c.Confirmation.Execute.Command
}

// output is what a call shows.
func output(c *ToolCall) string {
	switch {
	case c.Output != nil:
		return c.Output.Text
	case c.Error != nil:
		return c.Error.Message
	}
	return c.OutputSoFar
}

// A carrier says how a stretch of mentions comes.
type carrier uint8

const (
	uncut      carrier = iota
	whole              // lost, and then the task with all mentions
	wholeStale         // the first task is older than the cut
	newest             // the task holds the newest mention only
	again              // behind the cut what was said before it comes again, with the same IDs
)

// A play is a sequence, of which mentions from cut to upto are lost.
type play struct {
	seq       string
	cut, upto int
	carrier   carrier
}

type player struct {
	play
	calls *Calls
	truth truth
	turn  int
	said  []heardMention       // since the beginning
	put   map[string]int       // how often a question was put to the user
	shown map[string]*ToolCall // the newest step of a call
	lost  bool
	wrong []string
}

type heardMention struct {
	call ToolCall
	id   string
}

func (p *player) fail(what string) {
	if !slices.Contains(p.wrong, what) {
		p.wrong = append(p.wrong, what)
	}
}

func (p *player) say(m heardMention) {
	now := m.call
	was := map[string]Status{}
	for _, one := range p.calls.list {
		was[one.Shown] = one.Status.rank() | Status(one.Questions)<<4
		if one.Closed {
			delete(was, one.Shown)
		}
	}
	for _, s := range p.calls.Say(&now, m.id, Live, nil) {
		one := p.calls.list[slices.IndexFunc(p.calls.list, func(o *kept) bool { return o.Shown == s.Call.Shown })]
		if before, ok := was[s.Call.Shown]; ok && before>>4 == Status(one.Questions) && s.Call.Status.rank() < before&15 {
			p.fail("a state goes back")
		}
		p.shown[s.Call.Shown] = s.Call
	}
}

// task takes the task as it holds the first n mentions.
func (p *player) task(n int) {
	list := p.said[:n]
	if p.carrier == newest && n > 0 {
		list = list[n-1:]
	}
	p.calls.Snapshot(func(yield func(string) bool) {
		for _, m := range list {
			if !yield(m.id) {
				return
			}
		}
	})
	for _, m := range list {
		p.say(m)
	}
	p.calls.EndSnapshot()
}

// mark plays a letter that is no mention; false if the sequence is none.
func (p *player) mark(s byte) bool {
	if s == '!' && p.truth.open() == 0 && !p.truth.asksAgain() {
		return false
	}
	if p.lost && p.carrier != again {
		p.task(len(p.said))
	}
	p.lost, p.cut = false, -1
	if s == '|' {
		p.end()
		for _, m := range p.truth.calls {
			if !m.status.Ended() {
				m.status, m.left, m.asks = Cancelled, true, false
			}
		}
		p.turn++
		p.calls.Begin()
		return true
	}
	p.calls.AskNewest(nil)
	switch open, want := len(p.calls.Open()), p.truth.open(); {
	case open < want:
		p.fail("a question is not asked")
	case open > want:
		p.fail("a call is asked about that has moved on")
	}
	for _, c := range p.calls.Open() {
		p.put[fmt.Sprint(c.Shown, p.calls.task.calls[c.ID].Questions)]++
		p.calls.Answered(c.ID, true)
	}
	for _, m := range p.truth.calls {
		m.answered = m.answered || m.asks
	}
	return true
}

// end ends a turn: its calls are compared with what the agent has meant.
func (p *player) end() {
	list := p.calls.list
	if len(list) != len(p.truth.calls) {
		p.fail(fmt.Sprintf("%d calls too many", len(list)-len(p.truth.calls)))
	} else {
		for i, m := range p.truth.calls {
			p.compare(list[i], m)
		}
	}
	p.calls.EndTurn(true, false, nil)
	for _, one := range p.calls.list {
		if !one.Status.Ended() {
			p.fail("a call is left open")
		}
	}
	for _, n := range p.put {
		if n > 1 {
			p.fail("a question is asked twice")
		}
	}
}

func (p *player) compare(one *kept, m *meant) {
	var want ToolCall
	switch m.status {
	case Succeeded:
		want.Output = &Output{Text: m.out}
	case Failed:
		want.Error = &ErrorDetails{Message: m.out}
	}
	switch {
	case one.Closed && m.left || m.asks && (one.Closed || !one.Status.Ended()):
	case one.Status != m.status && !(m.asks && one.Asks):
		p.fail("state")
	case one.Status == Executing && one.OutputSoFar != m.out:
		p.fail("output")
	case one.Status.Ended() && !one.Closed && !(deepEqual(p.shown[one.Shown].Output, want.Output) && deepEqual(p.shown[one.Shown].Error, want.Error)):
		p.fail("result")
	}
}

// run plays a sequence; false if it is none.
func (p *player) run() bool {
	p.calls, p.put, p.shown = New(), map[string]int{}, map[string]*ToolCall{}
	p.calls.Enter("t")
	p.turn = 1
	p.calls.Begin()
	for i := range len(p.seq) {
		s := p.seq[i]
		if s == '!' || s == '|' {
			if !p.mark(s) {
				return false
			}
			continue
		}
		p.lost = p.lost || p.carrier != uncut && p.cut == i
		m := heardMention{letter(s), fmt.Sprint("m", len(p.said))}
		p.said = append(p.said, m)
		p.truth.say(m.call, p.turn)
		switch {
		case !p.lost:
			p.say(m)
		case p.carrier == again: // what is the same is known, and the rest is live
			if i == p.cut {
				p.again(p.said[:len(p.said)-1], p.upto-p.cut)
			}
			p.say(m)
		case p.carrier == wholeStale && i == p.cut && len(p.said) > 1:
			p.task(len(p.said) - 2)
		case i == p.upto:
			p.task(len(p.said))
		}
	}
	if p.lost && p.carrier != again {
		p.task(len(p.said))
	}
	p.end()
	return true
}

// again says the newest n mentions again, which were heard.
func (p *player) again(said []heardMention, n int) {
	p.calls.inSnapshot, p.calls.trust = true, Replayed
	for _, m := range said[max(0, len(said)-n):] {
		p.say(m)
	}
	p.calls.EndSnapshot()
}

// sequences calls f with all sequences of up to n letters. No mark follows another.
func sequences(alphabet string, n int, f func(string)) {
	var more func(p string)
	more = func(p string) {
		if p != "" {
			f(p)
		}
		if len(p) == n {
			return
		}
		for i := range len(alphabet) {
			if a := alphabet[i]; !isMark(a) || p != "" && !isMark(p[len(p)-1]) {
				more(p + string(a))
			}
		}
	}
	more("")
}

func isMark(r byte) bool { return r == '!' || r == '|' }

// plays calls f with each stretch of a sequence that a cut may lose.
func plays(seq string, c carrier, f func(play)) {
	if c == uncut {
		f(play{seq, -1, -1, c})
		return
	}
	for cut := range len(seq) {
		for upto := cut; upto < len(seq) && !isMark(seq[upto]); upto++ {
			if c != again || cut >= upto-cut {
				f(play{seq, cut, upto, c})
			}
		}
	}
}

var long = flag.Bool("long", false, "TestLaw: sequences of four, cut, too")

// TestLaw: so many of all sequences are wrong, and no more. The 12 and 48 are of one kind: a
// turn ends a call with S, and the next says F and then P of that ID. Nobody is known to do
// it, and whether it corrects the end or begins another call is not to be known. An agent
// that holds its newest mention only has lost the others.
func TestLaw(t *testing.T) {
	for _, row := range []struct {
		name     string
		alphabet string
		length   int
		carrier  carrier
		n, wrong int
	}{
		{"live", oneCall, 4, uncut, 15106, 12},
		{"cut", oneCall, 3, whole, 6922, 0},
		{"long, cut", oneCall, 4, whole, 124010, 48},
		{"cut, first task stale", oneCall, 3, wholeStale, 6922, 0},
		{"cut, newest mention", oneCall, 3, newest, 6922, 1737},
		{"said again", oneCall, 3, again, 4702, 0},
		{"two calls", twoCalls, 4, uncut, 4432, 0},
		{"two calls, cut", twoCalls, 3, whole, 2551, 0},
	} {
		if strings.HasPrefix(row.name, "long") && !*long {
			continue
		}
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			n, wrong := 0, 0
			example := map[string]string{}
			sequences(row.alphabet, row.length, func(seq string) {
				plays(seq, row.carrier, func(pl play) {
					p := player{play: pl}
					if !p.run() {
						return
					}
					if n++; len(p.wrong) == 0 {
						return
					}
					wrong++
					example[strings.Join(p.wrong, ", ")] = fmt.Sprintf("%s %d-%d", seq, pl.cut, pl.upto)
				})
			})
			t.Logf("wrong: calls, %s: %d", row.name, wrong)
			if n != row.n || wrong != row.wrong {
				t.Errorf("%d of %d are wrong; want %d of %d: %v", wrong, n, row.wrong, row.n, example)
			}
		})
	}
}
