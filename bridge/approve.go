package bridge

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/mapping/ask"
)

// This file decides about approvals, for every editor and for the shell. The
// policy, in plain words:
//
//   - The user is asked about each call that the agent wants approved, and the
//     agent hears the option that the user picked, as it named it.
//   - Three things answer without the user, each because the user said so: the
//     mode yolo, the mode accept-edits for an edit of a plain file inside the
//     session's directories, and an "always" that the bridge remembers. They
//     answer with an option that allows this call only, and is certain to.
//   - The bridge remembers "always" only for agents that cannot
//     ([mapping.Option.Remember]), and exactly: that command in that directory,
//     that file, that tool of that server. Its option says so.
//   - Where nobody answers (a dialog that was dismissed, an editor that is gone,
//     no terminal), the answer is the option that is certain to reject. If the
//     agent offers none, the task is cancelled and no option is sent.
//   - A decision is about what was asked. It is dropped if the call asks for
//     something else before it is sent, or if the mode that made it was left.
//   - A question whose only option is to cancel the task is not asked: there is nothing to choose.
//   - An option whose meaning cannot be told is offered, and nobody but the user
//     picks it.

// The permission modes. They live in the bridge, so that they work with every
// agent and in the middle of a turn.
const (
	ModeDefault     = "default"      // the user is asked whenever the agent asks
	ModeAcceptEdits = "accept-edits" // edits of plain files in the session's directories are allowed
	ModeYolo        = "yolo"         // everything is
)

// Modes lists the permission modes.
func Modes() []string { return []string{ModeDefault, ModeAcceptEdits, ModeYolo} }

// approvals is what the user of a session has said about approvals in advance. It
// is safe for concurrent use.
type approvals struct {
	mu         sync.Mutex
	mode       string
	remembered []ask.Scope
}

// A decision is the answer to a question, and who gave it.
type decision struct {
	question mapping.Question
	option   mapping.Option
	// newContent replaces what the agent proposed to write.
	newContent *string
	by         string // see [Observation.By]
}

// answer is what the agent is told. The option must not be one that cancels the
// task.
func (d *decision) answer() mapping.Answer {
	return mapping.Answer{Call: d.question.Call, OptionID: d.option.SentID(), NewContent: d.newContent}
}

// question returns the question that a call asks in this session.
func (s *Session) question(call *mapping.ToolCall) mapping.Question {
	return nameLinkTargets(mapping.NewQuestion(call), s.agent.opts.Client.Local())
}

// nameLinkTargets changes a question's options: where one would be remembered for a file that a
// link leads to, its name says which, or its description, if that is too long for a name.
func nameLinkTargets(q mapping.Question, local bool) mapping.Question {
	for i := range q.Options {
		o := &q.Options[i]
		if o.Remember == nil {
			continue
		}
		r := resolveScope(*o.Remember, local)
		if r == *o.Remember {
			continue
		}
		path := ask.Visible(r.Path)
		if name := fmt.Sprintf("%s (that is %s)", o.Name, path); ask.OneLine(name) == name {
			o.Name = name
		} else {
			o.Name, o.Description = o.Name+" (through a link)", "That is "+path
		}
	}
	return q
}

// decide is approvals.decide in this session.
func (s *Session) decide(q mapping.Question) (decision, bool) {
	return s.approvals.decide(q, s.directories(), s.agent.opts.Client.Local())
}

// accept is approvals.accept in this session.
func (s *Session) accept(q mapping.Question, a mapping.Answer) decision {
	return s.approvals.accept(q, a, s.agent.opts.Client.Local(), s.agent.opts.Log)
}

// directories are those that the session is about, Cwd first.
func (s *Session) directories() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{s.Cwd}, s.additional...)
}

// decide answers a question without the user; false: the user is to be asked.
// dirs are the session's directories; local says that the agent works on this
// machine, so that its paths can be looked at.
func (p *approvals) decide(q mapping.Question, dirs []string, local bool) (decision, bool) {
	if len(q.Options) == 1 && q.Options[0].CancelsTask {
		return decision{question: q, option: q.Options[0], by: ByDismissed}, true // there is nothing to choose
	}
	once, ok := q.AllowOnce()
	if !ok {
		return decision{}, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mode == ModeYolo || p.mode == ModeAcceptEdits && isPlainEdit(q.Call, dirs, local) {
		return decision{question: q, option: once, by: ByMode}, true
	}
	return decision{question: q, option: once, by: ByAlways}, p.remembers(&q, local)
}

// accept turns an editor's answer into a decision, and remembers what is
// to be remembered. An option that was not offered, or new content that the agent
// does not take, is no answer, which rejects.
func (p *approvals) accept(q mapping.Question, a mapping.Answer, local bool, log *slog.Logger) decision {
	o, ok := q.Pick(a.OptionID)
	if !ok || a.NewContent != nil && !(q.TakesContent() && o.Allows()) {
		return decision{question: q, option: q.Reject(), by: ByDismissed}
	}
	if o.Remember != nil {
		s := resolveScope(*o.Remember, local)
		log.Info("always allowed in this session", "what", s.String())
		p.mu.Lock()
		defer p.mu.Unlock()
		if !slices.Contains(p.remembered, s) {
			p.remembered = append(p.remembered, s)
		}
	}
	return decision{question: q, option: o, newContent: a.NewContent, by: ByUser}
}

// remembers reports whether the user has always allowed such a call, by an option
// that the question offers again.
func (p *approvals) remembers(q *mapping.Question, local bool) bool {
	offered := slices.ContainsFunc(q.Options, func(o mapping.Option) bool { return o.Remember != nil })
	s := ask.ScopeOf(q.Call)
	if !offered || s.Kind == ask.ScopeNone || len(p.remembered) == 0 {
		return false
	}
	wider, ok := s.Wider()
	return slices.Contains(p.remembered, resolveScope(s, local)) || ok && slices.Contains(p.remembered, wider)
}

// always lists in words what an "always" has allowed.
func (p *approvals) always() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := make([]string, 0, len(p.remembered))
	for _, s := range p.remembered {
		list = append(list, s.String())
	}
	return list
}

// SetMode changes how approvals are given from now on.
func (s *Session) SetMode(mode string) error {
	if !slices.Contains(Modes(), mode) {
		return fmt.Errorf("editor: there is no mode %q: use one of %s", mode, strings.Join(Modes(), ", "))
	}
	s.approvals.mu.Lock()
	defer s.approvals.mu.Unlock()
	s.approvals.mode = mode
	return nil
}

// Mode returns the mode that the session is in.
func (s *Session) Mode() string {
	s.approvals.mu.Lock()
	defer s.approvals.mu.Unlock()
	return s.approvals.mode
}

// resolveScope returns the scope with its path resolved, if that is one of this machine.
func resolveScope(s ask.Scope, local bool) ask.Scope {
	if s.Kind == ask.ScopeFile && local {
		if path, ok := resolve(s.Path); ok {
			s.Path = path
		}
	}
	return s
}

// resolve follows the symbolic links of a path, of which the last parts need not
// exist yet; false if that cannot be done.
func resolve(path string) (string, bool) {
	rest := ""
	for dir := filepath.Clean(path); ; dir = filepath.Dir(dir) {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			return filepath.Join(real, rest), true
		}
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return "", false // a link without a target, or a directory that may not be read
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}
