package bridge_test

import (
	"flag"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// An outcome is what must come of a conversation with a cut.
type cutOutcome string

const (
	// whole: the editor has seen what it sees without a cut, and nothing else.
	whole cutOutcome = "whole"
	// gap: the editor has seen once, in order, all that the agent could still tell. If that
	// is not all, the editor was told of a gap. If it is all, it may have been told of one:
	// the bridge cannot know.
	gap cutOutcome = "gap"
	// gone: the prompt fails with the reason, and what was shown before stays.
	gone cutOutcome = "error"
)

// cutTable has the outcome of a cut for each behaviour of an agent and each way of
// carrying text, if the cut comes after the task's ID and before the end. A cut before the
// ID is always an error; one after the end always gives whole.
//
// The agent keeps artifacts and the history, so tasks/get returns what was lost. Of status
// messages it keeps the newest only.
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

// cutPatience is how long a conversation may take in virtual time: its events take 5 s,
// and five attempts without an answer half a minute.
const cutPatience = 5 * time.Minute

// lessCollection saves a third of the time where all cuts are wanted: a conversation makes
// much garbage and keeps nothing.
func lessCollection(t *testing.T) {
	if *cuts != "all" {
		return
	}
	was := debug.SetGCPercent(400)
	t.Cleanup(func() { debug.SetGCPercent(was) })
}

// TestCutRecording is TestCutAnywhere for a conversation with Gemini's server.
func TestCutRecording(t *testing.T) {
	lessCollection(t)
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

// TestCutAnywhere plays one conversation (text, a tool with approval, its output, more
// text) once for each number of bytes after which the connection is closed. cutTable has
// the outcomes. No text may come twice, and no message may be sent twice.
func TestCutAnywhere(t *testing.T) {
	lessCollection(t)
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

// cutsPerBubble is how many conversations use one bridge, one after the other. More would
// let one failure hide more of the others; fewer would take longer.
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

// cutsOf returns where to cut. For every agent it cuts at the edges of each event. The
// bytes within an event are the same for all agents and editors, so they are shared out
// among the agents: each byte of either version is cut at once.
//
// The recording is long. Its agents share the edges as well, and all bytes if all are
// wanted.
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

// judge returns what is wrong with a conversation with a cut.
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
		// The cut came after the end of a response. The answer was sent on this connection,
		// which looked idle, and was lost: the bridge says so.
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
