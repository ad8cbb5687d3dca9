package frame

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"

	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/transport/stdio"
)

// An Asker asks the user at a terminal. Without one it takes its own proposals, and
// writes to out.
type Asker struct {
	Ctx   context.Context
	TTY   io.ReadWriter // nil: nobody is asked
	Lines *bufio.Reader
	Out   io.Writer
}

// ErrGivenUp reports an end of input in place of an answer.
var ErrGivenUp = errors.New("bridge: nothing was set up, because there was no answer")

// NewAsker opens the user's terminal; with noInput, or without a terminal, the Asker asks
// nobody. The caller calls close when nothing more is to be asked.
func (p *Program) NewAsker(ctx context.Context, noInput bool) (a *Asker, close func()) {
	a = &Asker{Ctx: ctx, Out: p.Stdout}
	if noInput {
		return a, func() {}
	}
	tty, err := p.Terminal()
	if err != nil {
		return a, func() {}
	}
	a.TTY, a.Lines, a.Out = tty, bufio.NewReader(tty), tty
	release := func() {}
	if w, ok := p.Stderr.(*screenWriter); ok {
		release = w.s.Hold() // else who is waited for is drawn over the question
	}
	return a, func() {
		_ = tty.Close() // nothing written can be lost
		release()
	}
}

func (a *Asker) Asks() bool { return a.TTY != nil }

// Say shows text that may come from an agent.
func (a *Asker) Say(format string, args ...any) {
	// The next question reports a terminal that is gone.
	_, _ = fmt.Fprintln(a.Out, safe.Plain(fmt.Sprintf(format, args...)))
}

func (a *Asker) Page(p *Page) { _, _ = io.WriteString(a.Out, p.String()) }

// Ask shows a question and returns the answer; the proposal if the answer is empty or
// nobody is asked. It returns at once when its context ends.
func (a *Asker) Ask(question, proposed string) (string, error) {
	return a.ask(question, proposed, func() {})
}

func (a *Asker) ask(question, proposed string, again func()) (string, error) {
	if !a.Asks() {
		return proposed, nil
	}
	if proposed != "" {
		question += " [" + proposed + "]"
	}
	text, err := a.Line(safe.Plain(question)+": ", again)
	if text == "" && err == nil {
		text = proposed
	}
	return text, err
}

// Line writes a prompt, and returns what is typed behind it. again shows what the prompt is
// about once more: the process was stopped, and the shell has written to the terminal. It
// returns at once when its context ends.
func (a *Asker) Line(prompt string, again func()) (string, error) {
	for {
		if _, err := io.WriteString(a.TTY, prompt); err != nil {
			return "", err
		}
		line, ended, err := Await(a.Ctx, func() (string, error) { return a.Lines.ReadString('\n') })
		text := strings.TrimSpace(line)
		switch {
		case !ended:
			a.Say("") // the cursor stands behind the prompt
			return "", ErrInterrupted
		case errors.Is(err, ErrResumed):
			again()
		case text == "" && err == io.EOF:
			a.Say("")
			return "", ErrGivenUp
		case text == "" && err != nil:
			return "", err
		default:
			return text, nil
		}
	}
}

// Fresh drops what was typed before: it is no answer to what comes now.
func (a *Asker) Fresh() {
	if Flush(a.TTY) {
		a.Lines.Reset(a.TTY)
	}
}

// Confirm says what a question is about, and asks it. What was typed before all of that was shown is no
// answer: the terminal may be slow, or be held by Ctrl-S.
func (a *Asker) Confirm(about, question string) (bool, error) {
	show := func() {
		a.Say("%s", about)
		a.Fresh()
	}
	show()
	return a.yes(question, false, show)
}

func (a *Asker) Yes(question string, proposed bool) (bool, error) {
	return a.yes(question, proposed, func() {})
}

func (a *Asker) yes(question string, proposed bool, again func()) (bool, error) {
	words := map[bool]string{true: "Y/n", false: "y/N"}[proposed]
	for {
		text, err := a.ask(question+" ["+words+"]", "", again)
		switch strings.ToLower(text) {
		case "":
			return proposed, err
		case "y", "yes":
			return true, err
		case "n", "no":
			return false, err
		}
	}
}

// Await runs do, which may wait for a user. When ctx ends, it returns ctx's error at
// once, with ended false. do goes on until the user answers, or until the process ends
// where closing a terminal does not end a read.
func Await[T any](ctx context.Context, do func() (T, error)) (result T, ended bool, err error) {
	type reply struct {
		result T
		err    error
	}
	replies := make(chan reply, 1)
	go func() { // ends as said above
		result, err := do()
		replies <- reply{result, err}
	}()
	select {
	case r := <-replies:
		return r.result, true, r.err
	case <-ctx.Done():
		return result, false, ctx.Err()
	}
}

// Input returns stdin for a command that reads all of it. Its reads end with ctx.
func (p *Program) Input(ctx context.Context) io.Reader { return &input{ctx, p.Stdin} }

type input struct {
	ctx  context.Context
	from io.Reader
}

func (r *input) Read(b []byte) (int, error) {
	piece := make([]byte, len(b)) // of its own: a read that is given up goes on
	n, ended, err := Await(r.ctx, func() (int, error) { return r.from.Read(piece) })
	if !ended {
		return 0, ErrInterrupted
	}
	return copy(b, piece[:n]), err
}

func (p *Program) ReadPrompt(ctx context.Context) (string, error) {
	b, err := io.ReadAll(io.LimitReader(p.Input(ctx), maxPrompt+1))
	switch {
	case errors.Is(err, ErrInterrupted):
		return "", err
	case err != nil:
		return "", fmt.Errorf("stdin: %w", err)
	case len(b) > maxPrompt:
		return "", Usagef("the prompt on stdin is longer than %d MiB", maxPrompt>>20)
	}
	// JSON cannot carry anything but UTF-8.
	return strings.ToValidUTF8(string(b), "\ufffd"), nil
}

// maxPrompt bounds a prompt from stdin like an editor's line.
const maxPrompt = stdio.MaxLine

// A Keyboard is the user's terminal, for all questions of a command. A read that a
// question has begun cannot be ended on every system. If the question is withdrawn, the
// next one goes on with the read, so that what the user types then is not lost. The
// terminal is open until the process ends.
type Keyboard struct {
	Open func() (io.ReadWriteCloser, error)
	// Notify, if set, tells a channel whenever the process goes on after it was stopped.
	Notify func(chan<- os.Signal)

	mu      sync.Mutex
	tty     io.ReadWriteCloser
	reading chan keystrokes // of the read that is under way, nil if there is none
}

// keystrokes are what a read has brought: on a terminal a line, or a part of a longer one.
type keystrokes struct {
	text string
	err  error
}

func (k *Keyboard) Terminal() (io.ReadWriteCloser, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.tty == nil {
		tty, err := k.Open()
		if err != nil {
			return nil, err
		}
		k.tty = tty
	}
	s := &seat{k: k, resumed: make(chan os.Signal, 1)}
	s.open, s.close = context.WithCancel(context.Background())
	if k.Notify != nil {
		k.Notify(s.resumed)
	}
	return s, nil
}

// read returns the channel of the read that is under way, and begins one if there is none.
func (k *Keyboard) read() chan keystrokes {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.reading == nil {
		reading := make(chan keystrokes, 1)
		k.reading = reading
		go func() { // ends when the user has typed a line, or with the process
			b := make([]byte, 4<<10)
			n, err := k.tty.Read(b)
			reading <- keystrokes{string(b[:n]), err}
		}()
	}
	return k.reading
}

// A seat is a keyboard as long as one question is asked.
type seat struct {
	k       *Keyboard
	open    context.Context // until Close
	close   context.CancelFunc
	rest    string // what was read and not taken
	resumed chan os.Signal
}

// ErrResumed ends a read: the process was stopped, and goes on. The shell has written to
// the terminal meanwhile.
var ErrResumed = errors.New("the process goes on")

func (s *seat) Read(b []byte) (int, error) {
	if s.rest == "" {
		if s.open.Err() != nil { // then nothing is read
			return 0, os.ErrClosed
		}
		select {
		case t := <-s.k.read():
			s.k.mu.Lock()
			s.k.reading = nil
			s.k.mu.Unlock()
			if t.text == "" {
				return 0, t.err
			}
			s.rest = t.text
		case <-s.resumed:
			return 0, ErrResumed
		case <-s.open.Done():
			return 0, os.ErrClosed
		}
	}
	n := copy(b, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (s *seat) Write(b []byte) (int, error) {
	select {
	case <-s.resumed: // what is asked now comes after it
	default:
	}
	return s.k.tty.Write(b)
}

// Close ends the question, and its reads.
func (s *seat) Close() error {
	signal.Stop(s.resumed)
	s.close()
	return nil
}

// Fd is the descriptor for reading.
func (s *seat) Fd() uintptr {
	if fd, ok := Descriptor(s.k.tty); ok {
		return uintptr(fd)
	}
	return ^uintptr(0)
}

// Flush drops what was typed before now, where tty is a keyboard, and reports whether it
// is: it is no answer to what the user has not seen.
func Flush(tty io.Reader) bool {
	s, ok := tty.(*seat)
	if !ok {
		return false
	}
	flushInput(s.Fd())
	s.rest = ""
	s.k.mu.Lock()
	defer s.k.mu.Unlock()
	select {
	case <-s.k.reading: // never, if there is none
		s.k.reading = nil
	default:
	}
	return true
}
