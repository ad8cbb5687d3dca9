package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// A style writes words in colour, or as they are.
type style bool

func (s style) red(text string) string    { return s.paint("31", text) }
func (s style) green(text string) string  { return s.paint("32", text) }
func (s style) yellow(text string) string { return s.paint("33", text) }
func (s style) cyan(text string) string   { return s.paint("36", text) }
func (s style) bold(text string) string   { return s.paint("1", text) }
func (s style) dim(text string) string    { return s.paint("2", text) }

func (s style) paint(code, text string) string {
	if !s || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// styleOf is the style of a stream (https://no-color.org).
func styleOf(stream any) style {
	return style(isTerminal(stream) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb")
}

// widthOf is how many columns a terminal has; 80 if the terminal does not tell.
func widthOf(stream any) int {
	if f, ok := fileOf(stream); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
	}
	return helpWidth
}

// cut makes text one line of at most width columns, without control characters.
func cut(text string, width int) string {
	return cutTo(oneLine(plainText(text)), max(width, 1))
}

// A screen is the terminal on which the user watches a turn: stderr, and mostly stdout,
// too. While nothing comes, it shows in a line who is waited for; the line is wiped
// when something comes.
//
// It draws no line while stdout stands in the middle of one: not every terminal can
// return to that place.
//
// Its writers may be used concurrently. A nil screen stands for streams that are no
// terminal: it does nothing.
type screen struct {
	err     io.Writer
	style   style
	columns func() int

	mu      sync.Mutex
	midline bool // stdout's last line has no end yet
	drawn   bool // the line is on the screen
	held    bool // somebody else has the terminal
	what    string
	since   time.Time // when something last came

	stop chan struct{}
	done chan struct{}
}

// newScreen returns a command's screen, and the stdout and stderr to write to from now
// on. s is nil where stderr is no terminal, or one that cannot wipe a line.
func newScreen(stdout, stderr io.Writer) (s *screen, out, err io.Writer) {
	if !isTerminal(stderr) || os.Getenv("TERM") == "dumb" {
		return nil, stdout, stderr
	}
	s = &screen{err: stderr, style: styleOf(stderr), columns: func() int { return widthOf(stderr) }}
	return s, &screenWriter{s, stdout, isTerminal(stdout), false}, &screenWriter{s, stderr, true, true}
}

// A screenWriter is stdout or stderr behind a screen.
type screenWriter struct {
	s        *screen
	w        io.Writer
	terminal bool
	ownLine  bool // it does not continue stdout's line
}

// Write implements [io.Writer].
func (w *screenWriter) Write(b []byte) (int, error) {
	w.s.mu.Lock()
	w.s.wipe()
	if w.ownLine {
		w.s.endLine()
	} else if w.terminal && len(b) > 0 {
		w.s.midline = b[len(b)-1] != '\n'
	}
	w.s.since = time.Now()
	w.s.mu.Unlock()
	// Without the lock: the terminal may be slow. Nothing is drawn until the write ends.
	n, err := w.w.Write(b)
	return n, err
}

// wipe removes the line. The caller holds mu.
func (s *screen) wipe() {
	if s.drawn {
		s.drawn = false
		_, _ = io.WriteString(s.err, "\r\x1b[K") // a terminal that is gone needs none
	}
}

// endLine ends the line of stdout. The caller holds mu.
func (s *screen) endLine() {
	if s.midline {
		s.midline = false
		_, _ = io.WriteString(s.err, "\n")
	}
}

// lineStart ends an open line.
func (s *screen) lineStart() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wipe()
	s.endLine()
}

// inLine reports whether stdout stands in the middle of a line.
func (s *screen) inLine() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.midline
}

// line writes a line as wide as the terminal: what has happened, to what, and the
// result. The longer one of these is cut.
func (s *screen) line(word, paint, what, result string) {
	s.lineStart()
	s.mu.Lock()
	defer s.mu.Unlock()
	room := s.columns() - 1 - toolIndent
	if result != "" {
		result = ": " + oneLine(plainText(result))
		what = cut(what, max(room-columnsOf(result), room/2))
	}
	text := cut(what+result, room)
	s.since = time.Now()
	_, _ = fmt.Fprintf(s.err, "%s%s%s\n", s.style.paint(paint, word), strings.Repeat(" ", toolIndent-len(word)), text) // like all of stderr's lines
}

// toolIndent is where the names of tools begin.
const toolIndent = 8

// echoed notes that the terminal has echoed ^C behind the line.
func (s *screen) echoed() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.midline = true
}

// waitFor shows what is waited for whenever nothing has come for a second, until
// [screen.end].
func (s *screen) waitFor(what string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.what, s.since = what, time.Now()
	begun := s.stop != nil
	if !begun {
		s.stop, s.done = make(chan struct{}), make(chan struct{})
	}
	s.mu.Unlock()
	if !begun {
		go s.run(s.stop, s.done) // ends with stop
	}
}

// now changes what is waited for.
func (s *screen) now(what string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if what != s.what {
		s.what, s.since = what, time.Now()
	}
}

func (s *screen) run(stop, done chan struct{}) {
	defer close(done)
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			s.draw()
		case <-stop:
			return
		}
	}
}

func (s *screen) draw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	silent := time.Since(s.since).Truncate(time.Second)
	if s.held || s.midline || silent < time.Second {
		return
	}
	s.drawn = true
	// The time comes first: it changes, and a narrow terminal keeps it.
	text := cut(fmt.Sprintf("%s waiting for %s (Ctrl-C cancels)", silent, s.what), s.columns()-1)
	_, _ = io.WriteString(s.err, "\r\x1b[K"+s.style.dim(text)) // a terminal that is gone needs none
}

// end stops waitFor, and wipes the line.
func (s *screen) end() {
	if s == nil {
		return
	}
	s.mu.Lock()
	stop, done := s.stop, s.done
	s.stop, s.done = nil, nil
	s.mu.Unlock()
	if stop != nil {
		close(stop)
		<-done
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wipe()
}

// hold leaves the terminal to somebody else until release is called.
func (s *screen) hold() (release func()) {
	if s == nil {
		return func() {}
	}
	s.lineStart()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.held, s.since = false, time.Now()
	}
}
