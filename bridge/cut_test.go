package bridge_test

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// outcome is what a conversation whose line was cut must come to.
type cutOutcome string

const (
	// whole: the editor has seen what it sees without a cut, and nothing else.
	whole cutOutcome = "whole"
	// gap: all that could be had, once and in order. If that is not all, the
	// editor was told so; if it is, it may have been, since nobody can know.
	gap cutOutcome = "gap"
	// gone: the prompt fails, and says why; what was shown before stays.
	gone cutOutcome = "error"
)

// cutTable says, for each behaviour of an agent, and each way of carrying text,
// what a cut comes to after the task's ID is known and before the end is.
// Before the ID it is always an error, and after the end always whole.
//
// An artifact and a history are kept by the agent, so that whatever was lost can
// be had from tasks/get. A status message is not: all but the newest is lost.
var cutTable = map[behaviour]map[carrier]cutOutcome{
	snapshotting: {inArtifact: whole, inHistory: whole, inStatus: gap},
	echoing:      {inArtifact: whole, inHistory: whole, inStatus: gap},
	liveOnly:     {inArtifact: whole, inHistory: whole, inStatus: gap},
	refusing:     {inArtifact: whole, inHistory: whole, inStatus: gap},
	silent:       {inArtifact: whole, inHistory: whole, inStatus: gap},
	empty:        {inArtifact: whole, inHistory: whole, inStatus: gap},
	restarted:    {inArtifact: gone, inHistory: gone, inStatus: gone},
}

// recordedTable is the same for the conversation that was recorded. The agent's
// history has the first chunk of a message alone.
var recordedTable = map[behaviour]map[carrier]cutOutcome{
	snapshotting: {recorded: gap}, // as that server does it
	liveOnly:     {recorded: gap},
}

var cuts = flag.String("cuts", "", `where TestCutAnywhere cuts: "" at every byte, the agents taking turns (-short: at the edges of events); "all" at every byte for every agent`)

// cutPatience is how long, in virtual time, a conversation may take: the story
// is 5 s, and five attempts that bring nothing half a minute.
const cutPatience = 5 * time.Minute

// TestCutRecording is TestCutAnywhere for a conversation with Gemini's server.
func TestCutRecording(t *testing.T) {
	for _, b := range slices.Sorted(maps.Keys(recordedTable)) {
		for _, lines := range []bool{false, true} {
			name := map[bool]string{false: "acp", true: "lines"}[lines]
			t.Run(fmt.Sprintf("%s/%s", name, b), func(t *testing.T) {
				t.Parallel()
				cutEverywhere(t, lines, "0.3", b, recorded)
			})
		}
	}
}

// TestCutAnywhere plays one conversation, text, a tool with approval, its live
// output, more text, over a connection that is closed after each number of bytes
// in turn; see cutTable for what must come of it. In every case no text is
// doubled, and no message is sent twice.
func TestCutAnywhere(t *testing.T) {
	for _, version := range []string{"0.3", "1.0"} {
		for _, b := range slices.Sorted(maps.Keys(cutTable)) {
			for _, c := range slices.Sorted(maps.Keys(cutTable[b])) {
				for _, lines := range []bool{false, true} {
					name := map[bool]string{false: "acp", true: "lines"}[lines]
					t.Run(fmt.Sprintf("%s/%s/%s/%s", name, version, b, c), func(t *testing.T) {
						t.Parallel()
						cutEverywhere(t, lines, version, b, c)
					})
				}
			}
		}
	}
}

// cutsPerBubble is how many conversations share a bridge, one after the other:
// enough that starting it does not count, and few enough that one that goes
// wrong spoils little.
const cutsPerBubble = 100

func cutEverywhere(t *testing.T, lines bool, version string, b behaviour, c carrier) {
	const never = 1 << 30
	table := cutTable
	if c == recorded {
		table = recordedTable
	}
	var words []string
	var want shownToEditor
	var uncut *cutFacts
	synctest.Test(t, func(t *testing.T) {
		play := newCutPlay(t, lines, version, b, c)
		defer play.close()
		want, uncut = play.prompt(never)
		words = play.agent.words
	})
	switch {
	case want.err != "" || want.stop != "end_turn" || want.asked != 1 || !slices.Equal(want.words(words), words):
		t.Fatalf("without a cut: %+v", want)
	case uncut.wire > 3<<10 && c != recorded:
		t.Fatalf("the conversation is %d bytes: too long to cut after each of them", uncut.wire)
	}
	at := cutsOf(table, b, c, uncut, lines)
	wrong := map[string][]int{}
	for some := range slices.Chunk(at, cutsPerBubble) {
		synctest.Test(t, func(t *testing.T) {
			play := newCutPlay(t, lines, version, b, c)
			defer play.close()
			for _, n := range some {
				if err := judge(want, play, n, table[b][c]); err != nil {
					wrong[err.Error()] = append(wrong[err.Error()], n)
				}
			}
		})
	}
	for _, text := range slices.Sorted(maps.Keys(wrong)) {
		t.Errorf("cut after %s of %d bytes: %s", ranges(wrong[text]), uncut.wire, text)
	}
}

// cutsOf says where to cut: at the edges of each event for every agent, and in
// the middle of one, which is the same to all of them, for each agent in turn, so
// that no byte of either version is left out. What is in the middle of an event
// is the same to both editors, too.
//
// The recording is long, so its agents take turns at the edges, and, if all bytes
// are wanted, at all bytes.
func cutsOf(table map[behaviour]map[carrier]cutOutcome, b behaviour, c carrier, uncut *cutFacts, lines bool) (at []int) {
	edges := map[int]bool{}
	for _, e := range uncut.edges {
		edges[e-2], edges[e-1], edges[e], edges[e+1] = true, true, true, true
	}
	carriers := slices.Sorted(maps.Keys(table[b]))
	turn := slices.Index(slices.Sorted(maps.Keys(table)), b)*len(carriers) + slices.Index(carriers, c)
	for n := range uncut.wire {
		inTurn := n%(len(table)*len(carriers)) == turn
		if c == recorded {
			if inTurn && (*cuts == "all" || edges[n]) {
				at = append(at, n)
			}
		} else if *cuts == "all" || edges[n] || !lines && !testing.Short() && inTurn {
			at = append(at, n)
		}
	}
	return at
}

// ranges writes numbers, which ascend, as 1–3, 7.
func ranges(n []int) string {
	var out []string
	for i := 0; i < len(n); {
		j := i
		for j+1 < len(n) && n[j+1] == n[j]+1 {
			j++
		}
		if i == j {
			out = append(out, fmt.Sprint(n[i]))
		} else {
			out = append(out, fmt.Sprintf("%d–%d", n[i], n[j]))
		}
		if i = j + 1; len(out) == 12 && i < len(n) {
			return fmt.Sprintf("%s and %d more", strings.Join(out, ", "), len(n)-i)
		}
	}
	return strings.Join(out, ", ")
}

// judge says what is wrong with a conversation that was cut.
func judge(want shownToEditor, play *cutPlay, at int, outcome cutOutcome) error {
	got, task := play.prompt(at)
	if task == nil {
		return fmt.Errorf("the agent got no prompt")
	}
	switch {
	case !task.known:
		outcome = gone
	case task.told && outcome == gone:
		outcome = whole // the end had arrived before the agent was restarted
	}
	all := play.agent.words
	seen := got.words(all)
	for id, n := range task.sends {
		if n != 1 {
			return fmt.Errorf("message %s was sent %d times", id, n)
		}
	}
	if sends := count(task.requests, "send", "message/stream", "SendStreamingMessage"); sends > 2 || !task.known && sends > 1 {
		return fmt.Errorf("%d messages were sent", sends)
	}
	for i, w := range seen {
		if slices.Contains(seen[:i], w) {
			return fmt.Errorf("%q is doubled: %q", w, seen)
		}
	}
	if !slices.IsSortedFunc(seen, func(a, b string) int { return slices.Index(all, a) - slices.Index(all, b) }) || slices.Contains(seen, "?") {
		return fmt.Errorf("the text is out of order: %q", got.texts)
	}
	switch {
	case got.stop == "" && got.err == "":
		return fmt.Errorf("no reply to the prompt; requests: %v", tail(task.requests))
	case outcome == gone && got.err == "":
		return fmt.Errorf("no error, but %s", got.stop)
	case outcome == gone && task.known && !strings.Contains(got.err, "not found"):
		return fmt.Errorf("the error does not say that the task is gone: %s", got.err)
	case outcome == gone:
		return nil
	case strings.Contains(got.err, "probably not delivered") && len(task.sends) == 1:
		// The cut came behind the end of a response, and met the answer on a
		// connection that looked idle. It has not come, and that is what is said.
		return nil
	case got.err != "":
		return fmt.Errorf("error %s; requests: %v", got.err, tail(task.requests))
	case got.stop != want.stop:
		return fmt.Errorf("the prompt ended as %s", got.stop)
	case got.asked != 1:
		return fmt.Errorf("the user was asked %d times", got.asked)
	}
	var missing []string
	for _, w := range all {
		if task.had[w] && !slices.Contains(seen, w) {
			missing = append(missing, w)
		}
	}
	switch {
	case len(missing) > 0:
		return fmt.Errorf("it had %q and did not show it (gap said: %v)", missing, got.gaps > 0)
	case outcome == gap && got.gaps > 1:
		return fmt.Errorf("the gap is said %d times", got.gaps)
	case outcome == gap && len(seen) < len(all) && got.gaps == 0:
		return fmt.Errorf("a gap that is not said: the agent said %q, shown is %q", all, seen)
	case play.agent.carrier == recorded && !maps.Equal(got.tools, want.tools): // all of it is in the history
		return fmt.Errorf("the tool ended as %v, without a cut as %v", got.tools, want.tools)
	case outcome == gap:
		return nil
	case got.gaps > 0:
		return fmt.Errorf("a gap is said where the agent holds everything; shown is %q", seen)
	case len(seen) < len(all):
		return fmt.Errorf("shown is only %q; requests: %v", seen, tail(task.requests))
	case got.text() != want.text():
		return fmt.Errorf("text in other messages: %s, without a cut %s", got.text(), want.text())
	case !maps.Equal(got.tools, want.tools):
		return fmt.Errorf("the tool ended as %v, without a cut as %v", got.tools, want.tools)
	}
	return nil
}

func count(list []string, values ...string) (n int) {
	for _, s := range list {
		if slices.Contains(values, s) {
			n++
		}
	}
	return n
}

func tail(list []string) []string { return list[max(0, len(list)-4):] }
