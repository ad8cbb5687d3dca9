package bridge_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/internal/pipenet"
	"github.com/a2astdio/a2astdio/internal/poison"
	"github.com/a2astdio/a2astdio/internal/test/agent"
	"github.com/a2astdio/a2astdio/internal/test/editor"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/internal/test/shapes"
)

var cuts = flag.String("cuts", "", `where TestCutAnywhere cuts: "" at some bytes; "all" at every byte of either version and editor, the agents taking turns, and for every agent at the edges of what is read`)

// cutPatience is how long a conversation may take in virtual time: its events take 5 s,
// and five attempts without an answer half a minute.
const cutPatience = 5 * time.Minute

// cutWords are what the agent says: three before its question, and the others behind the
// answer. None begins with another.
var cutWords = []string{"One ", "two ", "three.", "Four ", "five."}

// A cutCase is an agent with an editor.
type cutCase struct {
	editor.Protocol
	v1 bool
	// carrier is how the agent says text, which decides what its task holds of it. An
	// artifact holds all, and so does a history of messages. Of status messages with one ID,
	// which no history keeps (Gemini's server), the newest can be seen.
	carrier   string
	subscribe agent.Subscribe
}

// cutCases are all of them.
func cutCases() (all []cutCase) {
	for _, protocol := range []editor.Protocol{editor.ACP, editor.Lines, editor.ACP2} {
		for _, v1 := range []bool{false, true} {
			if protocol == editor.ACP2 && !v1 {
				continue // what an editor speaks has nothing to do with what the agent speaks
			}
			for _, carrier := range []string{"artifact", "history", "status message"} {
				for subscribe := agent.SubscribeTask; subscribe <= agent.SubscribeEcho; subscribe++ {
					all = append(all, cutCase{protocol, v1, carrier, subscribe})
				}
			}
		}
	}
	return all
}

// script is text, a tool with approval, its output, and more text.
func (c cutCase) script() *agent.Script {
	var steps []*agent.Step
	say := func(id string, words []string) {
		for i, w := range words {
			step := agent.Say(agent.Working, id, w)
			switch c.carrier {
			case "artifact":
				step = &agent.Step{Kind: agent.ArtifactUpdate, Artifact: &agent.Artifact{ID: id, Parts: agent.Text(w)}, Append: i > 0}
			case "history":
				step.Message.ID += fmt.Sprint(i)
			}
			steps = append(steps, step)
		}
	}
	steps = append(steps, &agent.Step{Kind: agent.TaskEvent, State: agent.Submitted})
	say("a", cutWords[:3])
	ask := agent.Ask(agent.InputRequired, "c", "ls")
	ask.Final, ask.Waits, ask.Ends, ask.Asks = true, true, true, []string{"c"}
	steps = append(steps, ask, (&agent.Call{ID: "c", Name: "ls", Status: agent.Executing, Live: "x"}).Step(agent.Working))
	steps = append(steps, agent.Run("c", "ls", "x y z")[1])
	say("b", cutWords[3:])
	steps = append(steps, agent.Done(agent.Completed))
	for _, s := range steps {
		s.After = 400 * time.Millisecond // two or three come during the wait before a subscription
	}
	script := &agent.Script{V1: c.v1, Subscribe: c.subscribe, Extensions: []string{agent.DevTool}, Turns: []*agent.Turn{{Steps: steps}}}
	if c.carrier == "status message" {
		script.History = agent.HistoryNone
	}
	return script
}

// A cutResult is what has come of a conversation.
type cutResult struct {
	turn          *editor.Turn
	letters, text string // what the user reads: see [shapes.View]
	gaps, asked   int    // how often a gap was told, and the user asked
	call          string // the last that was shown of the call
	heard         []agent.Heard
	// edges are the numbers of bytes behind each read; arrived is that behind each word, and
	// behind the task's ID ("").
	edges   []int
	arrived map[string]int
}

// play holds the conversation over a connection that breaks behind so many bytes of either
// direction; -1: never.
func (c cutCase) play(t *testing.T, at int) (r cutResult) {
	r.arrived = map[string]int{}
	synctest.Test(t, func(t *testing.T) {
		a := agent.New(c.script())
		listener, sever := pipenet.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if c.v1 { // a stream that lasts as long as its connection: a cut looks like an end
				w.Header().Set("Transfer-Encoding", "identity")
			}
			a.ServeHTTP(w, r)
		}))
		line := &cutLine{dial: listener.Dial, at: -1}
		network := &http.Transport{DialContext: line.DialContext}
		n := 0
		e := must.Get(editor.Start(&editor.Options{Protocol: c.Protocol, URL: agent.URL, Network: poison.RoundTripper{RoundTripper: network},
			NewID: func() string { n++; return fmt.Sprintf("id-%04d", n) }}))(t)
		synctest.Wait()
		if line.start(at); at < 0 {
			line.read = r.reads
		}
		r.turn = e.Prompt("go")
		select {
		case <-r.turn.Done:
		case <-time.After(cutPatience):
			e.Cancel(r.turn)
			<-r.turn.Done
			r.turn.Err = "the turn does not end"
		}
		r.letters, r.text, r.gaps = shapes.View(r.turn.Shown)
		for _, s := range r.turn.Shown {
			if s.Kind == editor.Question {
				r.asked++
			} else if s.Kind == editor.Call && s.Text != "" {
				r.call = s.Text + " " + s.Content
			}
		}
		must.Do(t, e.Close())
		r.heard = a.Heard()
		a.Close()
		network.CloseIdleConnections()
		must.Do(t, sever())
	})
	return r
}

// reads notes what has arrived.
func (r *cutResult) reads(n int, b []byte) {
	r.edges = append(r.edges, n)
	for _, word := range cutWords {
		if bytes.Contains(b, []byte(`"text":"`+word+`"`)) && r.arrived[word] == 0 {
			r.arrived[word] = n
		}
	}
	if bytes.Contains(b, []byte("task-1")) && r.arrived[""] == 0 {
		r.arrived[""] = n
	}
}

// TestCutAnywhere plays one conversation once for each number of bytes after which the
// connection is closed. Nothing that has arrived is lost, no text comes twice, no message is
// sent twice, and a gap is told where words may be missing, and nowhere else.
func TestCutAnywhere(t *testing.T) {
	cases := cutCases()
	for i, c := range cases {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			t.Parallel()
			uncut := c.play(t, -1)
			if want := shapes.Letters(strings.Join(cutWords, "")); uncut.letters != want || uncut.gaps > 0 || uncut.turn.Err != "" || len(uncut.arrived) != len(cutWords)+1 {
				t.Fatalf("without a cut: %q, %d gaps, %s, %v", uncut.text, uncut.gaps, uncut.turn.Err, uncut.arrived)
			}
			edges := map[int]bool{}
			for _, e := range uncut.edges {
				edges[e-2], edges[e-1], edges[e], edges[e+1] = true, true, true, true
			}
			wrong := map[string][]int{}
			for n := range uncut.edges[len(uncut.edges)-1] {
				wanted := n%(len(cases)*4) == i*4 || edges[n] && n%6 == i%6
				if testing.Short() {
					wanted = wanted && n%4 == 0
				}
				if *cuts == "all" {
					wanted = n%(len(cases)/4) == i/4 || edges[n]
				}
				if wanted {
					if err := c.judge(c.play(t, n), uncut, n); err != "" {
						wrong[err] = append(wrong[err], n)
					}
				}
			}
			for _, text := range slices.Sorted(maps.Keys(wrong)) {
				t.Errorf("cut behind bytes %v of %d: %s", wrong[text], uncut.edges[len(uncut.edges)-1], text)
			}
		})
	}
}

// judge says what is wrong with a conversation that was cut behind n bytes.
func (c cutCase) judge(got, uncut cutResult, n int) string {
	prompts, answers := 0, 0
	for _, h := range got.heard {
		if h.Method != "message/stream" {
			continue
		} else if len(h.Answers) > 0 {
			answers++
		} else {
			prompts++
		}
	}
	rest, missing := got.letters, ""
	for _, word := range cutWords {
		var said bool
		if rest, said = strings.CutPrefix(rest, shapes.Letters(word)); !said {
			missing = word
			if uncut.arrived[word] <= n {
				return fmt.Sprintf("%q had arrived, and is not shown", word)
			}
		}
	}
	switch {
	case rest != "":
		return fmt.Sprintf("the text is doubled, or out of order: %q", got.text)
	case prompts > 1 || answers > 1:
		return fmt.Sprintf("%d prompts and %d answers were sent", prompts, answers)
	case got.turn.Err != "" && (uncut.arrived[""] > n || answers == 0 && strings.Contains(got.turn.Err, "probably not delivered")):
		return "" // nothing can be asked for; or the answer was lost, and the bridge says so
	case got.turn.Err != "" || got.turn.Stop != uncut.turn.Stop:
		return fmt.Sprintf("the turn ended as %s, %s", got.turn.Stop, got.turn.Err)
	case got.asked != 1:
		return fmt.Sprintf("the user was asked %d times", got.asked)
	case c.carrier == "status message" && got.gaps > 1:
		return fmt.Sprintf("the gap is told %d times", got.gaps)
	case c.carrier == "status message" && got.gaps == 1:
		return ""
	case got.gaps > 0:
		return "a gap is told where the task holds all"
	case missing != "":
		return fmt.Sprintf("%q is missing, and no gap is told", missing)
	case got.text != uncut.text:
		return fmt.Sprintf("the text is in other messages: %q", got.text)
	case c.carrier != "status message" && got.call != uncut.call:
		return fmt.Sprintf("the call ended as %s, and without a cut as %s", got.call, uncut.call)
	}
	return ""
}

var errCut = errors.New("the line is cut")

// A cutLine is a network whose connections are cut after a number of bytes, counted over all
// of them, in both directions. The cut comes in the middle of a read or a write: the bytes
// before it have arrived.
type cutLine struct {
	dial func(ctx context.Context, network, addr string) (net.Conn, error)

	mu sync.Mutex
	at int // -1: it is not cut, or was
	n  int
	// what was asked of the network: see TestTurnCalls
	dialled, writes, reads int

	read func(n int, b []byte) // if not nil, gets what is read, and the number behind it
}

// start counts from here.
func (l *cutLine) start(at int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at, l.n = at, 0
}

func (l *cutLine) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	l.mu.Lock()
	l.dialled++
	l.mu.Unlock()
	conn, err := l.dial(ctx, network, addr)
	return &cutConn{conn, l}, err
}

// travel counts bytes, and returns how many of them arrive.
func (l *cutLine) travel(b []byte, read bool) (arrive int, cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(b)
	if read && n > 0 {
		l.reads++
	} else if !read {
		l.writes++
	}
	if l.at >= 0 && l.n+n > l.at {
		n, cut = max(0, l.at-l.n), true
		l.at = -1
	}
	if l.n += n; read && l.read != nil {
		l.read(l.n, b[:n])
	}
	return n, cut
}

type cutConn struct {
	net.Conn
	line *cutLine
}

func (c *cutConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	n, cut := c.line.travel(b[:n], true)
	if cut {
		c.Close()
		return n, errCut
	}
	return n, err
}

func (c *cutConn) Write(b []byte) (int, error) {
	n, cut := c.line.travel(b, false)
	n, err := c.Conn.Write(b[:n])
	if cut && err == nil {
		c.Close()
		err = errCut
	}
	return n, err
}
