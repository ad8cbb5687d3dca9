package companion

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// open has a CLI open a diff, which must not fail.
func open(t *testing.T, s *Server, c client, path, content string) {
	t.Helper()
	if err := s.hub.openDiff(t.Context(), c, path, content); err != nil {
		t.Errorf("opening %s: %v", path, err)
	}
}

// TestDecisionsWrong: a decision that cannot be used says why, and leaves the diff
// open.
func TestDecisionsWrong(t *testing.T) {
	var e scriptedEditor
	var one, two scriptedCLI
	s := serverOf(t, &e)
	s.hub.join(&one)
	s.hub.join(&two)
	open(t, s, &one, "/w/a", "x")
	open(t, s, &one, "/w/b", "x")
	open(t, s, &two, "/w/b", "y")
	for params, want := range map[string]string{
		`{}`:                                "say which diff",
		`{"diffId":null,"filePath":"/w/a"}`: "say which diff",
		`{"diffId":1,"content":"x"}`:        "diffId must not be a JSON number",
		`{"diffId":"1","content":null}`:     "content must be the whole file",
		`{"diffId":"1","content":["x"]}`:    "content must not be a JSON array",
		`{"diffId":"1","content":""}`:       "cannot be accepted empty",
		`["/w/a"]`:                          "must be an object",
		`{"diffId":"1","content":"x"`:       "unexpected end",
	} {
		_, err := s.Handle(MethodDiffAccepted, []byte(params))
		if err == nil || !errors.Is(err, ErrParams) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", params, err, want)
		}
	}
	_, decided := one.heard()
	_, other := two.heard()
	if len(decided)+len(other) > 0 || len(s.hub.diffs) != 3 {
		t.Errorf("decided: %q %q; %d diffs are open", decided, other, len(s.hub.diffs))
	}
	say(t, s, MethodDiffAccepted, `{"diffId":"3","content":"two's"}`)
	say(t, s, MethodDiffRejected, `{"diffId":"2"}`)
	say(t, s, MethodDiffAccepted, `{"diffId":"9"}`) // it is closed already
	_, decided = one.heard()
	_, other = two.heard()
	wantLines(t, "the first CLI", decided, `ide/diffRejected {"filePath":"/w/b"}`)
	wantLines(t, "the second CLI", other, `ide/diffAccepted {"filePath":"/w/b","content":"two's"}`)
}

// TestCloseCrossesAccept: what the user accepts in the editor while the CLI closes
// the diff is the final content: nothing that the user wrote is lost.
func TestCloseCrossesAccept(t *testing.T) {
	for name, answer := range map[string]error{"the editor has closed it": nil, "the editor knows it no more": errors.New("no such diff")} {
		t.Run(name, func(t *testing.T) {
			var s *Server
			e := scriptedEditor{close: func(context.Context, CloseDiff) (CloseDiffResult, error) {
				say(t, s, MethodDiffAccepted, `{"diffId":"1","content":"the user's"}`)
				return CloseDiffResult{}, answer
			}}
			s = serverOf(t, &e)
			var cli scriptedCLI
			s.hub.join(&cli)
			open(t, s, &cli, "/w/a", "x")
			content, err := s.hub.closeDiff(&cli, "/w/a")
			if err != nil || content == nil || *content != "the user's" {
				t.Errorf("%v, %v", content, err)
			}
			if _, decided := cli.heard(); len(decided) > 0 {
				t.Errorf("the CLI was told %q, too", decided)
			}
		})
	}
}

// TestOpenDiffNotShown: where the editor shows nothing the CLI gets no error, so
// that its own question in the terminal works; and nothing is left.
func TestOpenDiffNotShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := scriptedEditor{open: func(context.Context, OpenDiff) error { return errors.New("no such method") }}
		var cli scriptedCLI
		s := serverOf(t, &e)
		s.hub.join(&cli)
		open(t, s, &cli, "/w/a", "x")
		synctest.Wait()
		wantLines(t, "an editor without diffs", e.heard(), "ide/openDiff 1 /w/a")

		// One that does not answer may show it yet: it is asked to take it away.
		e.open = func(ctx context.Context, _ OpenDiff) error {
			<-ctx.Done()
			return ctx.Err()
		}
		began := time.Now()
		open(t, s, &cli, "/w/a", "x")
		synctest.Wait()
		wantLines(t, "an editor that hangs", e.heard(), "ide/openDiff 2 /w/a", "ide/closeDiff 2 /w/a")
		if took := time.Since(began); took != editorWait {
			t.Errorf("the CLI waited %v", took)
		}

		// What is decided while it opens counts; and then nothing is to be closed.
		e.open = func(ctx context.Context, d OpenDiff) error {
			say(t, s, MethodDiffAccepted, fmt.Sprintf(`{"diffId":%q,"content":"quick"}`, d.DiffID))
			return errors.New("closed already")
		}
		open(t, s, &cli, "/w/a", "x")
		synctest.Wait()
		_, decided := cli.heard()
		wantLines(t, "the CLI", decided, `ide/diffAccepted {"filePath":"/w/a","content":"quick"}`)
		wantLines(t, "a quick user", e.heard(), "ide/openDiff 3 /w/a")
		if len(s.hub.diffs) != 0 {
			t.Errorf("%d diffs are left", len(s.hub.diffs))
		}
	})
}

// TestNoDiffs: an editor that never shows a diff is asked once, or not at all if that
// is known.
func TestNoDiffs(t *testing.T) {
	e := scriptedEditor{open: func(context.Context, OpenDiff) error {
		return &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "no method"}
	}}
	var cli scriptedCLI
	s := serverOf(t, &e)
	s.hub.join(&cli)
	open(t, s, &cli, "/w/a", "x")
	open(t, s, &cli, "/w/a", "x")
	wantLines(t, "the editor", e.heard(), "ide/openDiff 1 /w/a")
	if content, err := s.hub.closeDiff(&cli, "/w/a"); content != nil || err != nil || len(s.hub.diffs) > 0 {
		t.Errorf("%v %v, %d diffs", content, err, len(s.hub.diffs))
	}
}

// TestOpenDiffRefused: what no editor could show is an error for the CLI.
func TestOpenDiffRefused(t *testing.T) {
	var e scriptedEditor
	var cli scriptedCLI
	s := serverOf(t, &e)
	if err := s.hub.openDiff(t.Context(), &cli, "/w/a", "x"); err == nil {
		t.Error("a session that has ended opened a diff")
	}
	s.hub.join(&cli)
	for i := range maxDiffs {
		open(t, s, &cli, fmt.Sprintf("/w/%d", i), "x")
	}
	if err := s.hub.openDiff(t.Context(), &cli, "/w/more", "x"); err == nil {
		t.Error("there is no limit")
	}
	if n := len(e.heard()); n != maxDiffs {
		t.Errorf("the editor was asked %d times", n)
	}
}

// TestSameFileAgain: a CLI waits for one decision about a file; its older diff is
// taken away.
func TestSameFileAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e scriptedEditor
		var cli scriptedCLI
		s := serverOf(t, &e)
		s.hub.join(&cli)
		open(t, s, &cli, "/w/a", "1")
		e.heard()
		e.close = func(ctx context.Context, _ CloseDiff) (CloseDiffResult, error) {
			<-ctx.Done() // and one that is not taken away does not disturb the new one
			return CloseDiffResult{}, ctx.Err()
		}
		open(t, s, &cli, "/w/a", "2")
		say(t, s, MethodDiffAccepted, `{"diffId":"2","content":"two"}`)
		_, decided := cli.heard()
		wantLines(t, "the CLI", decided, `ide/diffAccepted {"filePath":"/w/a","content":"two"}`)
		time.Sleep(editorWait)
		synctest.Wait()
		if len(s.hub.diffs) != 0 {
			t.Errorf("%d diffs are left", len(s.hub.diffs))
		}
	})
}
