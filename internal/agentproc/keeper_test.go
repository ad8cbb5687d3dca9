//go:build unix

package agentproc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

func keep(t *testing.T, words string, change func(*Options)) *Keeper {
	t.Helper()
	opts := &Options{Command: helperCommand(words)}
	if change != nil {
		change(opts)
	}
	k := must.Get(NewKeeper(opts))(t)
	t.Cleanup(func() { must.Do(t, k.Stop()) })
	return k
}

// An agent whose PATH leads into a directory that is opened later is started again without
// that; one whose PATH leads elsewhere goes on.
func TestEnter(t *testing.T) {
	log, dir, other := &logBuffer{}, t.TempDir(), t.TempDir()
	t.Setenv("PATH", dir+string(os.PathListSeparator)+"/usr/bin")
	k := keep(t, "env=PATH serve={port}", func(o *Options) { o.Print = log.print })
	must.Get(k.URL(t.Context()))(t)
	run := k.Done()
	err := k.Enter(other)
	must.True(t, err == nil && k.Err() == nil, "elsewhere", err, k.Err())
	err = k.Enter(dir)
	<-run
	must.True(t, err == nil && strings.Contains(k.Err().Error(), "a session was opened in "+dir), err, k.Err())
	k.Revive()
	run = k.Done()
	_, err = k.URL(t.Context())
	must.Do(t, k.Stop())
	<-run // all that it has said is there
	must.True(t, err == nil && strings.Contains(log.String(), "PATH is /usr/bin\n"), err, log.String())
}

// Nothing starts before somebody asks. All callers share one process. It starts again
// only when it has ended and is wanted.
func TestKeeper(t *testing.T) {
	t.Parallel()
	log := &logBuffer{}
	k := keep(t, "say=begun serve={port}", func(o *Options) { o.Print = log.print })
	first := k.Done()
	must.True(t, k.Err() == nil && log.String() == "", "before anybody has asked", k.Err(), log.String())
	var wg sync.WaitGroup
	urls := make([]string, 3)
	for i := range urls {
		wg.Go(func() { urls[i], _ = k.URL(t.Context()) })
	}
	wg.Wait()
	must.True(t, urls[0] != "" && urls[0] == urls[1] && urls[0] == urls[2], urls)
	k.Revive() // it lives
	must.Equal(t, k.Done(), first, "an agent that lives was given up")

	if resp, err := http.Get(urls[0] + "/exit"); err == nil {
		resp.Body.Close()
	}
	<-first
	must.Equal(t, strings.Count(log.String(), "begun"), 1) // all that it has said is there when it has ended
	_, err := k.URL(t.Context())
	must.Fail(t, err, "ended with status 0", "it is not wanted yet")
	k.Revive()
	second := k.Done()
	if second == first {
		t.Fatal("it is the same run")
	}
	must.Fail(t, k.Err(), "ended with status 0")
	must.Get(k.URL(t.Context()))(t)
	must.Do(t, k.Stop())
	<-second
	must.Equal(t, strings.Count(log.String(), "begun"), 2)
	k.Revive()
	_, err = k.URL(t.Context())
	must.Equal(t, err != nil, true, "it was started after Stop")
}

// An agent that cannot start reports why at each attempt, and the next attempt waits.
// An impatient caller gets a timeout.
func TestKeeperBackoff(t *testing.T) {
	t.Parallel()
	k := keep(t, "'say=Error: no key' exit=1", nil)
	_, err := k.URL(t.Context())
	must.Fail(t, err, "last words: Error: no key")
	<-k.Done()
	ended := k.current.ended
	k.Revive()
	must.Equal(t, k.current.notBefore.Sub(ended), firstPause)
	k.current.notBefore = time.Now().Add(time.Hour) // longer than this machine may stand still
	k.opts.Patience = time.Millisecond
	_, err = k.URL(t.Context())
	must.Equal(t, errors.As(err, new(*slowError)), true, err)
	must.Has(t, fmt.Sprint(err), "it keeps ending, and is started again in ", "no key")
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 30, 30} {
		must.Equal(t, pause(i+1, false), want*time.Second, i+1)
	}
	if pause(1, true) != 0 || pause(0, true) != 0 || pause(2, true) != time.Second || pause(1000, true) != maxPause {
		t.Error("an agent that served is started again at once, the first time")
	}
}

// For a caller that has given up, nothing is started.
func TestKeeperGivenUp(t *testing.T) {
	k := keep(t, "serve={port}", nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := k.URL(ctx)
	must.True(t, errors.Is(err, context.Canceled) && k.current.cmd == nil, err, "; started", k.current.cmd != nil)
}

// A caller's impatience does not end a slow agent, and a later call waits for it again.
func TestKeeperPatience(t *testing.T) {
	t.Parallel()
	gate, open := newGate(t)
	k := keep(t, "say=downloading get="+gate+" serve={port}", func(o *Options) {
		o.Patience = time.Nanosecond // the agent is started all the same
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for ; ; k.opts.Patience = 10 * time.Millisecond { // until its words have come
		_, err := k.URL(ctx)
		if slow := interface{ Timeout() bool }(nil); !errors.As(err, &slow) || !slow.Timeout() || !strings.Contains(err.Error(), "--timeout allows more; ") {
			t.Fatal(err)
		}
		if strings.HasSuffix(err.Error(), "; its last words: downloading") {
			break
		}
	}
	k.opts.Patience = 0
	open()
	must.Get(k.URL(ctx))(t)
}

// A wrong command is reported before anything starts.
func TestKeeperMisuse(t *testing.T) {
	for _, o := range []Options{{Command: ""}, {Command: "a | b"}, {Command: "./a"}, {Command: "a", Dir: filepath.Join(t.TempDir(), "none")}} {
		_, err := NewKeeper(&o)
		must.Equal(t, err != nil, true, o)
	}
}
