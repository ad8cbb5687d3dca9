package soak

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/bridge/store"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/test/editor"
	"github.com/a2astdio/a2astdio/internal/trace"
	"github.com/a2astdio/a2astdio/transport"
)

const (
	// sessions is how many use one bridge at a time.
	sessions = 4
	// promptsPerRound is how many prompts each of them sends before the checks, after
	// which the agent forgets.
	promptsPerRound = 8
	// restTime bounds how long the bridge may take to become quiet after all prompts, on a
	// good connection.
	restTime = 10 * time.Second
)

// TestSoak runs sessions over a bad connection. Each prompt ends like the agent's
// story, or with an error that names what happened. Its text is shown once and in
// order, and completely unless there was an error. The agent got the prompt once. In
// the end the bridge holds no goroutine more than at first. It runs alone, in this process.
func TestSoak(t *testing.T) {
	s := newSoak(t)
	began := time.Now()
	for round := 0; round == 0 || time.Since(began) < *soak && !t.Failed(); round++ {
		s.round(t, *seed+uint64(round), began.Add(*soak))
	}
	for _, b := range s.bridges {
		if err := b.Close(); err != nil {
			t.Errorf("%s: %v", b.version, err)
		}
		if _, wrong := b.Lines(); len(wrong) > 0 {
			t.Errorf("%s: the editor got what it should not: %s", b.version, strings.Join(wrong, "\n"))
		}
	}
	s.report(t, time.Since(began))
}

type soaking struct {
	agent   *agent
	proxy   *proxy
	bridges []*soakingBridge
	patient bool // there is time for stories of half a minute
	resting int  // goroutines before the first prompt

	mu       sync.Mutex
	prompts  int
	outcomes map[string]int
}

type soakingBridge struct {
	*editor.Editor
	version string
	cwd     string
	users   []*user
}

// A user has a session.
type user struct {
	*editor.Editor
	option string // what every question is answered with
}

func (u *user) pick(*editor.Shown) (string, time.Duration) { return u.option, 0 }

func newSoak(t *testing.T) *soaking {
	s := &soaking{agent: newAgent(t), outcomes: map[string]int{}, patient: *soak >= time.Minute}
	stall := shortStall
	if s.patient {
		stall = longStall
	}
	s.proxy = newProxy(t, s.agent.server.Listener.Addr().String(), stall)
	for _, version := range []string{"0.3", "1.0"} {
		b := &soakingBridge{version: version, cwd: t.TempDir()}
		kept, err := store.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for len(b.users) < sessions {
			u := &user{}
			if b.Editor == nil {
				b.Editor, err = editor.Start(&editor.Options{Cwd: b.cwd, Answer: u.pick, Store: kept, Serve: s.serve(t, version, kept)})
				u.Editor = b.Editor
			} else {
				u.Editor, err = b.Another(u.pick)
			}
			if err != nil {
				t.Fatal(err)
			}
			b.users = append(b.users, u)
		}
		s.bridges = append(s.bridges, b)
	}
	// Each is idle when the number stays.
	same := 0
	if !await(restTime, func() bool {
		s.proxy.cut() // kept connections have goroutines
		if same++; runtime.NumGoroutine() != s.resting {
			same, s.resting = 0, runtime.NumGoroutine()
		}
		return same == 5
	}) {
		t.Fatalf("the bridges do not come to rest before they have done anything:\n%s", stacks())
	}
	return s
}

// serve is a bridge to the agent behind the bad connection, with a trace if -artifacts wants one.
func (s *soaking) serve(t *testing.T, version string, kept *store.Store) func(context.Context, io.ReadCloser, io.WriteCloser) error {
	return func(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
		client := &transport.ClientOptions{Version: version}
		opts := &bridge.Options{Version: "soak", Name: s.proxy.url(), Workspace: "/", Store: kept, Protocol: bridge.ProtocolACP, OnEOF: bridge.OnEOFCancel}
		if flag.Lookup("test.artifacts").Value.String() == "true" {
			r, err := trace.Create(filepath.Join(t.ArtifactDir(), version+".jsonl"), &trace.Options{Mode: "bridge"})
			if err != nil {
				return err
			}
			defer r.Close()
			client.Wrap, opts.Tap, opts.Observe = r.Wrap, r.Tap, reach.Observer(r)
		}
		var err error
		if opts.Client, err = transport.NewClient(s.proxy.url(), client); err != nil {
			return err
		}
		defer opts.Client.Close()
		return bridge.Serve(ctx, in, out, opts)
	}
}

// stacks are all goroutines'.
func stacks() string {
	var b strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&b, 1)
	return b.String()
}

// round lets each session send some prompts, over a seed's bad connection.
func (s *soaking) round(t *testing.T, seed uint64, end time.Time) {
	repeat(t, seed, fmt.Sprintf("-run Soak -soak=%v", min(*soak, 30*time.Second)))
	s.agent.renew()
	s.proxy.behave(true, seed)
	good := time.AfterFunc(time.Until(end), func() { s.proxy.behave(false, 0) })
	var all sync.WaitGroup
	for i, b := range s.bridges {
		for j, u := range b.users {
			random := rand.New(rand.NewPCG(seed, uint64(1+i*sessions+j)))
			all.Go(func() { s.talk(t, b, u, random, fmt.Sprintf("%d-%d-%d", seed, i, j), end) }) // ends with its prompts
		}
	}
	all.Wait()
	good.Stop()
	s.proxy.behave(false, 0)
	if _, twice := s.agent.times(""); len(twice) > 0 {
		t.Errorf("the agent got more than once: %q", twice)
	}
	s.agent.renew() // what it still does has goroutines
	if !await(restTime, func() bool {
		s.proxy.cut()
		return runtime.NumGoroutine() <= s.resting
	}) {
		t.Errorf("%d goroutines are left, at first there were %d:\n%s", runtime.NumGoroutine(), s.resting, stacks())
	}
}

// talk is a session's user. After an error it continues with the session, or with
// another, and at the end with another, too.
func (s *soaking) talk(t *testing.T, b *soakingBridge, u *user, random *rand.Rand, name string, end time.Time) {
	anew := func() {
		if m := u.Call("session/delete", fmt.Sprintf(`{"sessionId":%q}`, u.Session())); !m.Get("result").Exists() {
			t.Errorf("session/delete: %s", m.Raw)
		}
		if err := u.Open(""); err != nil {
			t.Error(err)
		}
	}
	defer anew()
	var next *saying // what the agent has asked for
	for n := 0; n < promptsPerRound && (n == 0 || time.Now().Before(end)) && !t.Failed(); n++ {
		p := s.choose(random, fmt.Sprintf("%s-%d", name, n), b.cwd)
		if next != nil {
			p, next = *next, nil
		}
		u.option = p.answer
		turn := u.Prompt(p.text)
		timer := time.NewTimer(patience)
		select {
		case <-turn.Done:
		case <-timer.C:
			t.Errorf("%s: %q: no reply in %v\n%s", b.version, p.text, patience, stacks())
			b.Terminate()
			return
		}
		timer.Stop()
		accepted, _ := s.agent.times(p.text)
		if err := p.judge(screenOf(turn.Shown), turn.Stop, turn.Err, accepted); err != nil {
			t.Errorf("%s: %q: %v\n%s", b.version, p.text, err, turn.Err)
		}
		if turn.Err == "" {
			next = p.then
		}
		s.count(turn.Stop + named(turn.Err))
		// An open question in prose would take the next prompt for its answer.
		if turn.Err != "" && (p.prose || random.IntN(2) == 0) {
			anew()
		}
	}
}

// A saying is a prompt and the agent's answer.
type saying struct {
	text   string  // its first word selects the demo's story
	answer string  // the answer to its question, if there is one
	want   string  // the story's text
	asks   bool    // it asks for approval
	prose  bool    // it asks in prose
	then   *saying // the prompt that answers in prose
}

const shellCommand = "echo one && echo two && echo three"

// choose chooses a story; name makes its prompt unique. dir is the session's.
func (s *soaking) choose(random *rand.Rand, name, dir string) saying {
	yes := random.IntN(4) > 0
	option := map[bool]string{true: "proceed_once", false: "cancel"}[yes]
	switch n := random.IntN(20); {
	case s.patient && n == 0:
		return saying{text: "slow " + name, want: numbered("tick %d of 60\n", 60)}
	case n < 3:
		return saying{text: "long " + name, want: numbered("chunk %d\n", 10_000)}
	case n < 8:
		return saying{text: "hello " + name, want: "Hello from the a2astdio demo agent."}
	case n < 11:
		return saying{text: "ask " + name, want: "Which colour shall it be?", prose: true,
			then: &saying{text: "red-" + name, prose: true, want: "So it is red-" + name + "."}}
	case n < 15 && yes:
		return saying{text: "edit " + name, answer: option, want: wrote(dir, name), asks: true}
	case n < 15:
		return saying{text: "edit " + name, answer: option, want: "I leave " + name + " as it is.\nran: nothing\n", asks: true}
	case yes:
		return saying{text: "shell " + name, answer: option, want: fmt.Sprintf("The command succeeded.\nran: %q in %q (proceed_once)\n", shellCommand, dir), asks: true}
	}
	return saying{text: "shell " + name, answer: option, want: "I do not run " + shellCommand + ".\nran: nothing\n", asks: true}
}

func numbered(format string, n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// judge tells what is wrong with a prompt's end. The demo keeps all that it says, so
// there is no gap, and the text before an error is the beginning of the story.
func (p *saying) judge(got *screen, stop, failure string, accepted int) error {
	for call, n := range got.asked {
		if n > 1 {
			return fmt.Errorf("the user was asked %d times about the call %s", n, call)
		}
	}
	switch {
	case len(got.asked) > 1:
		return fmt.Errorf("the user was asked about %d calls", len(got.asked))
	case len(got.notices) > 0:
		return fmt.Errorf("a notice, and the agent holds everything: %q", got.notices)
	case failure != "":
		if !strings.HasPrefix(p.want, got.text) {
			return fmt.Errorf("shown is not how the story begins: %s", difference(p.want, got.text))
		}
		if named(failure) == "" {
			return fmt.Errorf("the error does not name what happened: %s", failure)
		}
		return nil
	case stop != "end_turn":
		return fmt.Errorf("it ended as %q", stop)
	case accepted != 1:
		return fmt.Errorf("the agent got it %d times; shown is %q", accepted, got.text[:min(len(got.text), 100)])
	case got.text != p.want:
		return fmt.Errorf("shown is not what the agent said: %s", difference(p.want, got.text))
	case p.asks && len(got.asked) != 1:
		return fmt.Errorf("the user was not asked")
	}
	for call, status := range got.calls {
		if status != "completed" && status != "failed" {
			return fmt.Errorf("the call %s is left as %s", call, status)
		}
	}
	return nil
}

// difference shows where two texts differ.
func difference(want, got string) string {
	at := 0
	for at < len(want) && at < len(got) && want[at] == got[at] {
		at++
	}
	from := max(0, at-30)
	return fmt.Sprintf("after %d bytes %q, want %q; %d and %d bytes in all", at, got[from:min(len(got), at+60)], want[min(from, len(want)):min(len(want), at+60)], len(got), len(want))
}

// names are the words by which an error names what happened.
var names = []struct{ words, what string }{
	{"possibly delivered, so it is not sent again", "error: possibly delivered"},
	{"the message may have been delivered, so it is not sent again", "error: possibly delivered, before the task had an ID"},
	{"probably not delivered", "error: probably not delivered"},
	{"it has probably been restarted, and what it was doing is lost", "error: the task is gone"},
	{"agent: task not found: ", "error: the task is gone"},
	{"ended with status 137 (killed)", "error: the agent is gone"},
	{"connection refused: is the agent running", "error: the agent is gone"},
	{"agent: HTTP 400: ", "error: the agent got half a request"},
}

// named returns what an error names, "" if nothing.
func named(failure string) string {
	for _, n := range names {
		if strings.Contains(failure, n.words) {
			return n.what
		}
	}
	return ""
}

func (s *soaking) count(outcome string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prompts++
	s.outcomes[outcome]++
}

func (s *soaking) report(t *testing.T, took time.Duration) {
	var b strings.Builder
	for _, what := range slices.Sorted(maps.Keys(s.outcomes)) {
		fmt.Fprintf(&b, "\n%6d %s", s.outcomes[what], what)
	}
	s.proxy.mu.Lock()
	defer s.proxy.mu.Unlock()
	fmt.Fprintf(&b, "\nfaults: %v", s.proxy.faults)
	t.Logf("seed %d: %d prompts in %v:%s", *seed, s.prompts, took.Round(time.Millisecond), b.String())
}
