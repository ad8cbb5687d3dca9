package demo

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"time"
)

// Stories with unusual pauses.

// bare asks by a ConfirmationRequest in the message of input-required, without a
// ToolCall (extension, §3.2, Client-to-Agent Messages). It has no tool_call_id, and
// neither has an answer.
func bare(args []string) story {
	return func(ctx context.Context, r *run) error {
		which, err := word(args, "options", "none")
		if err != nil {
			return err
		}
		c := r.command("echo bare", "Say one word")
		c.ID = ""
		if which == "none" {
			c.Confirmation.Options = nil
		}
		r.asked = true
		// There is no call to report as cancelled.
		p := newPause()
		p.calls, p.quiet = []toolCall{c}, true
		prose := r.task.text(r.task.messageID(), inProse(p.calls), coreOnly)
		if err := r.emit(event{kind: kindText, message: prose}); err != nil {
			return err
		}
		if err := r.wait(ctx, p, kindConfirmation, r.task.extension(*c.Confirmation)); err != nil {
			return err
		}
		if err := r.heed(ctx, p); err != nil {
			return err
		}
		given := p.answers[""]
		if !given.approved() {
			return r.say(ctx, "I do not run ", c.Confirmation.Execute.Command, ".\n")
		}
		r.ran(c, given, "%s", spoken(c))
		return r.say(ctx, "The command", " succeeded.\n")
	}
}

// twoEdits asks for two edits in one pause. A rejected one gets no further event: its
// last one says that it is pending.
func twoEdits(ctx context.Context, r *run) error {
	var edits []*editing
	var calls []toolCall
	for _, name := range []string{"one.txt", "two.txt"} {
		e, err := r.plan(ctx, name)
		if e == nil || err != nil {
			return err
		}
		edits, calls = append(edits, e), append(calls, e.call)
	}
	p := newPause()
	p.quiet = true
	answers, err := r.approveIn(ctx, p, calls...)
	if err != nil {
		return err
	}
	for _, e := range edits {
		if given := answers[e.call.ID]; given.approved() {
			if err := r.edit(ctx, e, given); err != nil {
				return err
			}
		}
	}
	return nil
}

// betweenDefault is long enough to cut the connection between two questions.
const betweenDefault = time.Second

// between asks for two commands, with text between them. It takes an answer as soon as
// a question was asked, and keeps the stream open for a while after both. Then it is
// input-required, as the extension requires.
func between(args []string) story {
	return func(ctx context.Context, r *run) error {
		pace := betweenDefault
		if len(args) > 0 {
			ms, err := strconv.ParseUint(args[0], 10, 16)
			if err != nil {
				return fmt.Errorf("%q is no number of milliseconds up to 65535", args[0])
			}
			pace = time.Duration(ms) * time.Millisecond
		}
		r.asked = true
		p := newPause()
		p.asking = true
		first, second := r.command("echo first", "Say the first word"), r.command("echo second", "Say the second word")
		if err := r.askAtOnce(p, first); err != nil {
			return err
		}
		if err := rest(ctx, pace/2); err != nil {
			return err
		}
		if err := r.say(ctx, "And", " another", " one.\n"); err != nil {
			return err
		}
		if err := rest(ctx, pace/2); err != nil {
			return err
		}
		if err := r.askAtOnce(p, second); err != nil {
			return err
		}
		if err := r.linger(ctx, p, pace); err != nil {
			return err
		}
		if err := r.heed(ctx, p); err != nil {
			return err
		}
		if err := r.execute(ctx, first, p.answers[first.ID], "first\n"); err != nil {
			return err
		}
		return r.execute(ctx, second, p.answers[second.ID], "second\n")
	}
}

// askAtOnce asks for a call that may be answered before the task pauses.
func (r *run) askAtOnce(p *pause, c toolCall) error {
	t := r.task
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.run != r {
		return errEnded
	}
	p.calls = append(p.calls, c)
	t.pause = p
	t.append(event{state: stateWorking, kind: kindConfirmation, message: t.extension(c)})
	return nil
}

// linger waits for the answers with an open stream, and then as usual.
func (r *run) linger(ctx context.Context, p *pause, d time.Duration) error {
	t := r.task
	t.mu.Lock()
	complete := len(p.unanswered()) == 0
	p.asking = false
	t.mu.Unlock()
	if !complete {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-p.done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
		}
	}
	return r.wait(ctx, p, kindStateChange, r.task.text(r.task.messageID(), inProse(p.calls), coreOnly))
}

// finished calls a tool without approval, which is so fast that its first event is its
// last.
func finished(ctx context.Context, r *run) error {
	text := "3 files"
	c := toolCall{
		ID: r.task.callID(), Name: "ls", Description: "List " + filepath.Base(r.workspacePath()), Status: callSucceeded,
		Input: map[string]any{"path": r.workspacePath()}, Output: &toolOutput{Text: &text},
	}
	if err := r.update(ctx, c); err != nil {
		return err
	}
	r.ran(c, answer{}, "ls with %s", part{data: c.Input}.json())
	return r.say(ctx, "There are", " 3 files.\n")
}
