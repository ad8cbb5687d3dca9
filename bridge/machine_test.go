package bridge

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// anyKnown is anything that a leg may know.
func anyKnown(r *rand.Rand) *known {
	states := []a2a.State{"", a2a.StateWorking, a2a.StateInputRequired, a2a.StateAuthRequired, a2a.StateCompleted}
	is := func() bool { return r.IntN(2) == 0 }
	return &known{callFacts: callFacts{calls: work(r.IntN(int(callsWait) + 1)), moved: is()}, state: states[r.IntN(len(states))], finality: finality(r.IntN(int(ownWord) + 1)),
		taskID: []string{"", "t1"}[r.IntN(2)], progress: progress(r.IntN(int(saidState) + 1)), subscription: subscription(r.IntN(int(subNever) + 1)), pushes: []*pushFeed{nil, {}}[r.IntN(2)], owes: is(), parted: is(),
		replies: replies(r.IntN(int(manyReplies) + 1)), grown: r.IntN(3), tries: r.IntN(6), unknown: r.IntN(7), missing: r.IntN(7), stood: r.IntN(10), auths: r.IntN(6), verdict: verdict(r.IntN(int(byMessage) + 1))}
}

// TestMachine: whatever is known, a leg ends as the agent has said, or with an error; it asks only
// what waits; and each row of the table decides something.
func TestMachine(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, which the race detector makes take minutes")
	}
	r := rand.New(rand.NewPCG(1, 2))
	used := map[*row]bool{}
	for range 1 << 20 {
		p, k, in := []phase{streaming, away}[r.IntN(2)], anyKnown(r), input(1<<r.IntN(bits.Len16(uint16(inSettled))))
		if row := rowFor(p, k, in); row != nil {
			used[row] = true
		}
		to, do := decide(p, k, in)
		if ends := do == doEnd || do == doGiveUp || do == doUnsent; ends != (to == over) {
			t.Fatalf("%v, %#x: the phase is %v, and the action %v: %+v", p, in, to, do, k)
		}
		if do == doEnd && !k.terminal() && !k.rests() && k.verdict != byLook && k.verdict != bySubscriptions && !k.parted && !k.concluded() {
			t.Fatalf("%v, %v: it ends though the agent has not said so: %+v", p, in, k)
		}
		if do == doEnd && k.pending() && !k.terminal() && k.verdict != byLook {
			t.Fatalf("%v, %v: it ends though a call waits: %+v", p, in, k)
		}
		if do == doAsk && !k.pending() {
			t.Fatalf("%v, %v: it asks though nothing waits: %+v", p, in, k)
		}
		if do == doUnsent && k.arrived() {
			t.Fatalf("%v, %v: the message has come: %+v", p, in, k)
		}
	}
	for i := range machine {
		if !used[&machine[i]] {
			t.Errorf("the row %q decides nothing", machine[i].name)
		}
	}
}
