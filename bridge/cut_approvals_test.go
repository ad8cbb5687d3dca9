package bridge_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/demo"
	"github.com/a2astdio/a2astdio/internal/poison"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/acp"
)

var (
	approvalTurns = flag.Int("approval-turns", 550, "how many turns TestCutApprovals plays")
	approvalSeed  = flag.Uint64("approval-seed", 1, "the seed of the first of them")
)

// turnsPerSession is how many turns a session has: an error in one must not change the
// next.
const turnsPerSession = 5

// TestCutApprovals plays random turns of the embedded agent that ask for approval,
// over a connection that is cut up to four times in each, after any byte of either
// direction. The user allows, rejects, edits or dismisses, at once or late. Each
// approval is asked once, and its answer is acted on once, or the prompt fails with
// an error. What the agent has done is read from the agent itself.
func TestCutApprovals(t *testing.T) {
	total := *approvalTurns
	if testing.Short() {
		total /= 5
	}
	failed := map[string]int{}
	var mu sync.Mutex
	t.Run("turns", func(t *testing.T) {
		for at := 0; at < total; at += turnsPerSession {
			seed := *approvalSeed + uint64(at)
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					errs := playApprovals(t, seed, min(turnsPerSession, total-at))
					mu.Lock()
					defer mu.Unlock()
					for _, err := range errs {
						failed[err]++
					}
				})
			})
		}
	})
	n := 0
	for text, times := range failed {
		t.Logf("%4d × %s", times, text)
		n += times
	}
	t.Logf("%d of %d turns ended with an error", n, total)
	// More errors would mean that the bridge gives up too early.
	if n > total/4 {
		t.Errorf("%d of %d turns ended with an error", n, total)
	}
}

// playApprovals plays some turns of one session, and returns their errors, without IDs and
// numbers.
func playApprovals(t *testing.T, seed uint64, turns int) (errs []string) {
	random := rand.New(rand.NewPCG(seed, 0))
	var done doings
	var ids atomic.Int64
	counted := func() string { return fmt.Sprint("id-", ids.Add(1)) }
	var line *cutLine
	client := demoClient(t, &demo.Options{Version: []string{"0.3", "1.0"}[random.IntN(2)], NewID: []func() string{counted, nil}[random.IntN(2)], Ran: done.add,
		Pace: []time.Duration{-1, 20 * time.Millisecond, 200 * time.Millisecond}[random.IntN(3)]}, func(network *http.Transport) http.RoundTripper {
		line = &cutLine{dial: network.DialContext}
		network.DialContext = line.DialContext
		return poison.RoundTripper{RoundTripper: network}
	})
	must.Get(client.Card(t.Context()))(t)
	a := bridge.NewAgent(&bridge.Options{Client: client})
	defer a.Close()
	session := a.NewSession(t.TempDir())
	for i := range turns {
		story := []string{"edit", "shell", "many"}[random.IntN(3)]
		cuts := make([]int, random.IntN(5))
		for j := range cuts {
			cuts[j] = random.IntN(22_000) // a turn of many is 20,000 bytes long
		}
		slices.Sort(cuts)
		line.start(cuts, []time.Duration{0, 0, 400 * time.Millisecond, 3 * time.Second}[random.IntN(4)])
		user := &fickleUser{random: random, asked: map[string]int{}, said: map[string]mapping.Answer{}}
		ctx, stop := context.WithTimeout(t.Context(), cutPatience)
		prompt := story
		if story != "shell" {
			prompt += fmt.Sprintf(" file-%d.txt", i)
		}
		result, err := session.Prompt(ctx, []acp.ContentBlock{{Type: "text", Text: prompt}}, user)
		stop()
		synctest.Wait()
		if wrong := user.judge(story, result, err, done.take()); wrong != nil {
			t.Errorf("seed %d, turn %d, %q, cuts %v: %v", seed, i, prompt, cuts, wrong)
		}
		if err != nil {
			errs = append(errs, "… "+err.Error()[max(0, len(err.Error())-60):])
		}
	}
	return errs
}

// A doing is what the agent has done, and by which option.
type doing struct{ option, what string }

type doings struct {
	mu  sync.Mutex
	all []doing
}

func (d *doings) add(option, what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, doing{option, what})
}

// take returns what was done since it was called last.
func (d *doings) take() []doing {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := d.all
	d.all = nil
	return all
}

// A fickleUser is an editor that gives random answers after random times.
type fickleUser struct {
	random *rand.Rand
	asked  map[string]int // by what the call is for
	said   map[string]mapping.Answer
}

func (u *fickleUser) Show(context.Context, []mapping.Step) error { return nil }

func (u *fickleUser) Ask(ctx context.Context, questions []mapping.Question) (answers []mapping.Answer, err error) {
	for _, q := range questions {
		what := "run"
		if q.Call.Confirmation.Edit != nil {
			what = "write"
		}
		u.asked[what]++
		wait := time.NewTimer([]time.Duration{0, 60 * time.Millisecond, time.Second, 20 * time.Second}[u.random.IntN(4)])
		select {
		case <-wait.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		answer := mapping.Answer{Call: q.Call, OptionID: []string{"proceed_once", "proceed_once", "proceed_once", "cancel", ""}[u.random.IntN(5)]}
		if what == "write" && answer.OptionID == "proceed_once" && u.random.IntN(3) == 0 {
			text := fmt.Sprintf("my own text %d\n", u.random.Int())
			answer.NewContent = &text
		}
		u.said[what] = answer
		answers = append(answers, answer)
	}
	return answers, nil
}

// judge returns what is wrong with a turn, by what the agent did in it.
func (u *fickleUser) judge(story string, result bridge.Result, err error, done []doing) error {
	wants := map[string][]string{"edit": {"write"}, "shell": {"run"}, "many": {"write", "run"}}[story]
	did := map[string]int{}
	for _, e := range done {
		what := "run"
		if strings.HasPrefix(e.what, "write ") {
			what = "write"
		}
		did[what]++
		switch said, answered := u.said[what]; {
		case !answered || said.OptionID != "proceed_once":
			return fmt.Errorf("the agent did what nobody allowed: %+v, the answer is %+v", e, said)
		case e.option != said.OptionID:
			return fmt.Errorf("the agent heard %q, and %q was said", e.option, said.OptionID)
		case said.NewContent != nil && !strings.HasPrefix(e.what, fmt.Sprintf("write %q ", *said.NewContent)):
			return fmt.Errorf("the text is not the user's: %s, want %q", e.what, *said.NewContent)
		}
	}
	for _, what := range wants {
		allowed := u.said[what].OptionID == "proceed_once"
		switch {
		case u.asked[what] > 1:
			return fmt.Errorf("the user was asked %d times: %s", u.asked[what], what)
		case did[what] > 1:
			return fmt.Errorf("the agent did it %d times: %s", did[what], what)
		case err != nil:
		case u.asked[what] == 0:
			return fmt.Errorf("the user was never asked, and the turn ended well: %s", what)
		case allowed && did[what] == 0:
			return fmt.Errorf("the user allowed it, the turn ended well, and nothing was done: %s", what)
		}
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the turn does not end: %w", err)
	case err != nil && strings.Contains(err.Error(), "probably not delivered") && len(done) > 0:
		return fmt.Errorf("the agent did it: %w", err)
	case err != nil && !strings.Contains(err.Error(), "deliver"):
		return fmt.Errorf("the error does not say what became of the message: %w", err)
	case err == nil && (result.StopReason != acp.StopEndTurn || result.State != "completed"):
		return fmt.Errorf("the turn ended as %s, its task %s", result.StopReason, result.State)
	case err == nil && len(result.Unanswered) != u.dismissed():
		return fmt.Errorf("dismissed were %d, the result names %q", u.dismissed(), result.Unanswered)
	}
	return nil
}

func (u *fickleUser) dismissed() (n int) {
	for _, a := range u.said {
		if a.OptionID == "" {
			n++
		}
	}
	return n
}
