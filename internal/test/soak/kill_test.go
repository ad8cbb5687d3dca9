package soak

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	mathrand "math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/editor"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

const (
	// storyLines is one more than the bridge's lines from its first one to the end of the
	// story: a kill may come before, between and after them.
	storyLines = 16
	// maxHesitation bounds the time from a line to the kill: as long as the demo waits
	// between two words.
	maxHesitation = 20 * time.Millisecond

	// soon is when the user must read that an agent of --agent-command was killed. It
	// takes some milliseconds, and more where others keep the processors busy.
	soon = 10 * time.Second

	helloStory = "Hello from the a2astdio demo agent."
	editedLine = "Hello from the a2astdio demo agent.\n"
)

// wrote is the text of the edit story about a file that was not there.
func wrote(dir, name string) string {
	return fmt.Sprintf("I wrote %s.\nran: write %q to %q (proceed_once)\n", name, editedLine, filepath.Join(dir, name))
}

// A death tells whom to kill, and whose the agent is.
type death struct {
	victim string // bridge, editor or agent
	owned  bool   // the agent is of --agent-command; otherwise it is a separate process
}

// deaths are all combinations. A separate agent is replaced by another one.
var deaths = []death{{"bridge", true}, {"bridge", false}, {"editor", true}, {"editor", false}, {"agent", true}, {"agent", false}}

func (d death) String() string {
	if d.owned {
		return "the " + d.victim + " of an --agent-command"
	}
	return "the " + d.victim + " of an --agent"
}

// TestKill kills a process somewhere in the edit story, by kill -9. Ten seconds later no
// process is left. Another bridge can load the session, with all that was shown, once.
// If the agent lives, its story goes on to its end. The session works.
func TestKill(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("who is left is looked up in /proc, which is Linux's")
	}
	t.Parallel()
	for i := range *kills {
		seed := *seed + uint64(i)
		d := deaths[seed%uint64(len(deaths))]
		t.Run(fmt.Sprintf("%d: %s", i+1, d), func(t *testing.T) {
			t.Parallel()
			repeat(t, seed, "-run Kill -kills=1")
			kill(t, d, mathrand.New(mathrand.NewPCG(seed, 0)))
		})
	}
}

// A stage is the scene of one death.
type stage struct {
	death
	mark string
	env  []string
	cwd  string
	args []string // of the bridge

	failure string // of the story's turn, as the editor hears it

	server *exec.Cmd // the separate agent
	port   string
}

func newStage(t *testing.T, d death) *stage {
	t.Helper()
	s := &stage{death: d, mark: rand.Text(), cwd: t.TempDir(), port: "0"}
	s.env = []string{markName + "=" + s.mark, "XDG_STATE_HOME=" + t.TempDir(), "HOME=" + t.TempDir()}
	if d.owned {
		s.args = []string{"--agent-command", "'" + os.Args[0] + "' demo --listen 127.0.0.1:{port}"}
		return s
	}
	address := must.Get(s.serve(t))(t)
	s.args = []string{"--agent", address}
	u := must.Get(url.Parse(address))(t)
	s.port = u.Port()
	return s
}

// serve starts the separate agent, and returns its URL.
func (s *stage) serve(t *testing.T) (string, error) {
	server := exec.Command(os.Args[0], "demo", "--listen", "127.0.0.1:"+s.port)
	server.Env = []string{markName + "=agent of " + s.mark}
	out, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		return "", err
	}
	s.server = server
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait() // again, if it was the victim
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("the agent does not say where it is: %w", err)
	}
	return strings.TrimSpace(address), nil
}

// strike kills the victim, if it exists yet.
func (s *stage) strike(t *testing.T, p *program) error {
	switch {
	case s.victim == "bridge":
		return p.kill()
	case s.victim == "editor":
		p.vanish()
		return nil
	case s.owned:
		if pid := agentProcess(s.mark); pid != 0 {
			agent, err := os.FindProcess(pid)
			if err == nil {
				err = agent.Kill()
			}
			return err
		}
		return nil
	}
	if err := s.server.Process.Kill(); err != nil {
		return err
	}
	_ = s.server.Wait() // which says that it was killed
	_, err := s.serve(t)
	return err
}

func kill(t *testing.T, d death, random *mathrand.Rand) {
	s := newStage(t, d)
	lines, hesitation := random.IntN(storyLines), time.Duration(random.Int64N(int64(maxHesitation)))
	p := newProgram(t, s.env, s.args...)
	reached, struck := make(chan struct{}), make(chan struct{})
	strike := sync.OnceFunc(func() { close(reached) })
	var began time.Time
	go func() { // ends with the strike
		defer close(struck)
		<-p.started
		<-reached
		timer := time.NewTimer(hesitation)
		defer timer.Stop()
		<-timer.C
		began = time.Now()
		must.Fail(t, s.strike(t, p), "")
	}()
	before := screenOf(nil)
	opts := &editor.Options{Cwd: s.cwd, OnLine: func(n int) {
		if n >= lines {
			strike()
		}
	}}
	if lines == 0 {
		strike()
	}
	err := p.begin(opts)
	ended := err != nil
	if !ended {
		turn := p.Prompt("edit k.txt")
		<-turn.Done
		before = screenOf(turn.Shown)
		if ended = turn.Err == editor.Ended; !ended {
			s.failure = turn.Err
		}
	}
	strike() // the story was shorter; otherwise it waits until it is done
	<-struck
	switch {
	case ended && d.victim == "agent":
		t.Fatal("the bridge has ended with its agent", err)
	case s.failure != "" && !isNamed(s.failure):
		t.Errorf("the error does not name what happened: %s", s.failure)
	}
	told := time.Since(began)
	if d.victim == "agent" && d.owned && s.failure != "" && (told > soon || !strings.Contains(s.failure, "ended with status 137 (killed)")) {
		t.Errorf("after %v the user hears that %s", told, s.failure)
	}
	if d.victim == "agent" {
		began = time.Now()
		must.Fail(t, p.quit(), "")
	} else {
		_ = p.Close() // it was killed, or had nobody left
	}
	left := nobody(t, s.mark, began)
	shown, wrong := p.Lines()
	must.Equal(t, len(wrong), 0, "the editor got what it should not", wrong)
	t.Logf("%v after line %d of %d; told of it after %v (%s); nobody left after %v", hesitation, lines, shown, told, s.failure, left)
	s.afterwards(t, p.Session(), before)
}

// afterwards continues the session in another bridge, and loads it in a third.
func (s *stage) afterwards(t *testing.T, session string, before *screen) {
	p := s.bridge(t, "")
	var stored []string
	for _, id := range p.Call("session/list", "{}").Get("result.sessions.#.sessionId").Array() {
		stored = append(stored, id.Str)
	}
	s.quit(t, p)
	if session == "" {
		for _, id := range stored { // the editor was about to get it
			s.quit(t, s.bridge(t, id))
		}
		return
	}
	if !slices.Contains(stored, session) {
		if s.victim == "agent" || before.touched() { // otherwise its prompt may not have been read
			t.Fatalf("the session is not in the list: %q", stored)
		}
		return
	}
	p = s.bridge(t, session)
	if s.victim == "bridge" && !s.owned && before.touched() {
		// Nobody has heard the agent's story, and the agent waits for the answer.
		must.Equal(t, await(patience, func() bool { return screenOf(p.Loaded()).text == wrote(s.cwd, "k.txt") }), true, "the story does not go on")
	}
	after := s.hello(t, p)
	must.Fail(t, s.compare(before, after), "", *before, *after)
	s.quit(t, p)

	p = s.bridge(t, session)
	again := screenOf(p.Loaded())
	if again.text != after.text || len(again.thoughts) != len(after.thoughts) {
		t.Errorf("loaded once more it is %+v, want %+v", *again, *after)
	}
	// The editor shows the user's words itself; the bridge cannot know of those that it
	// had not read.
	want := after.user + "hello"
	must.Equal(t, again.user, want, "what the user has said, loaded once more")
	s.quit(t, p)
}

// touched reports whether the screen shows anything of the agent.
func (s *screen) touched() bool { return s.text != "" || len(s.thoughts) > 0 || len(s.calls) > 0 }

// mayTell reports whether a notice is true here. A killed agent has lost the
// conversation; a living one may still work when its editor returns.
func (s *stage) mayTell(notice string) bool {
	may := []string{"begins another conversation, or another task", "ended in the middle of this turn", "ended before the agent had answered", "does not accept connections any more"}
	if s.victim == "bridge" && !s.owned {
		may = []string{"ended before the agent had answered"}
	}
	if strings.Contains(s.failure, strings.Trim(strings.TrimSpace(notice), "[]")) {
		return true // the turn is loaded with its reason
	}
	return slices.ContainsFunc(may, func(words string) bool { return strings.Contains(notice, words) })
}

// compare tells what is wrong with a loaded screen.
func (s *stage) compare(before, after *screen) error {
	thoughts := slices.Compact(slices.Sorted(slices.Values(after.thoughts)))
	text, greeted := strings.CutSuffix(after.text, helloStory)
	// A bridge that is killed with its agent loses what was shown in the last 10 ms. What the
	// user was asked was on disk before, with all that stood above it.
	lost := s.victim == "bridge" && s.owned
	if lost {
		before.text = ""
		if len(before.asked) == 0 {
			before.thoughts, before.calls = nil, nil
		}
	}
	switch {
	case !greeted:
		return fmt.Errorf("hello is not answered as it should be")
	case !strings.HasPrefix(text, before.text):
		return fmt.Errorf("text that was shown is not")
	case !strings.HasPrefix(wrote(s.cwd, "k.txt"), text):
		return fmt.Errorf("the text is not how the story begins")
	case len(thoughts) != len(after.thoughts):
		return fmt.Errorf("a thought is doubled")
	case len(after.thoughts) < len(before.thoughts)+1: // hello has one
		return fmt.Errorf("a thought that was shown is not")
	case slices.ContainsFunc(after.notices, func(n string) bool { return !s.mayTell(n) }) || len(after.notices) > 2:
		return fmt.Errorf("a notice") // or one too many
	case after.user != "edit k.txt" && (after.user != "" || before.touched()):
		return fmt.Errorf("the user has not said that")
	}
	for id := range before.calls {
		if after.calls[id] == "" {
			return fmt.Errorf("the call %s that was shown is not", id)
		}
	}
	for id, n := range after.asked {
		if n > 1 {
			return fmt.Errorf("the user is asked %d times about %s", n, id)
		}
	}
	switch data, err := os.ReadFile(filepath.Join(s.cwd, "k.txt")); {
	case err != nil && text == "" && errors.Is(err, fs.ErrNotExist):
	case len(data) == 0 && text == "" && err == nil && s.victim == "agent": // killed between the making of the file and the writing
	case err != nil:
		return fmt.Errorf("the file: %w", err)
	case string(data) != editedLine:
		return fmt.Errorf("the file is %q", data)
	}
	return nil
}

// bridge starts another bridge, with a new session or a stored one, whose turn goes on by
// itself if there is one.
func (s *stage) bridge(t *testing.T, session string) *program {
	t.Helper()
	p := newProgram(t, s.env, s.args...)
	if err := p.begin(&editor.Options{Cwd: s.cwd, Session: session}); err != nil {
		t.Fatal(err, p.stderr.String())
	}
	return p
}

// hello uses the session after its running turn. It returns what is shown since the loading.
func (s *stage) hello(t *testing.T, p *program) *screen {
	t.Helper()
	var shown []editor.Shown
	var turn *editor.Turn
	await(patience, func() bool {
		turn = p.Prompt("hello")
		<-turn.Done
		shown = append(shown, turn.Shown...)
		return !strings.Contains(turn.Err, "still running")
	})
	must.Equal(t, turn.Stop, "end_turn", "the session cannot be used", turn.Err)
	return screenOf(append(p.Loaded(), shown...))
}

func (s *stage) quit(t *testing.T, p *program) {
	t.Helper()
	began := time.Now()
	must.Fail(t, p.quit(), "")
	nobody(t, s.mark, began)
}

// isNamed reports whether an error names what happened.
func isNamed(failure string) bool {
	return slices.ContainsFunc([]string{
		"possibly delivered, so it is not sent again",
		"the message may have been delivered, so it is not sent again",
		"probably not delivered",
		"the agent has been restarted, or has deleted it",
		"agent: task not found: ",
		"ended with status 137 (killed)",
		"connection refused: is the agent running",
	}, func(words string) bool { return strings.Contains(failure, words) })
}
