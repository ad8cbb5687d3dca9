package frame

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/a2astdio/a2astdio/internal/safe"
)

// cutLine makes text one line of at most width columns, without control characters.
func cutLine(text string, width int) string {
	return CutTo(OneLine(safe.Plain(text)), max(width, 1))
}

// A Screen is the terminal on which the user watches a turn: stderr, and mostly stdout,
// too. While nothing comes, it shows in a line who is waited for; the line is wiped
// when something comes.
//
// It draws no line while stdout stands in the middle of one: not every terminal can
// return to that place.
//
// Its writers may be used concurrently. A nil screen stands for streams that are no
// terminal: it does nothing.
type Screen struct {
	Err     io.Writer
	style   Style
	Columns func() int

	mu      sync.Mutex
	midline bool // stdout's last line has no end yet
	drawn   bool // the line is on the screen
	held    bool // somebody else has the terminal
	what    string
	since   time.Time   // when something last came
	timer   *time.Timer // of the next drawing; nil if nobody is waited for
}

// NewScreen returns a command's screen, and the stdout and stderr to write to from now
// on. s is nil where stderr is no terminal, or one that cannot wipe a line.
func NewScreen(stdout, stderr io.Writer) (s *Screen, out, err io.Writer) {
	if !IsTerminal(stderr) || os.Getenv("TERM") == "dumb" {
		return nil, stdout, stderr
	}
	s = &Screen{Err: stderr, style: StyleOf(stderr), Columns: func() int { return WidthOf(stderr) }}
	return s, &screenWriter{s, stdout, IsTerminal(stdout), false}, &screenWriter{s, stderr, true, true}
}

// A screenWriter is stdout or stderr behind a screen.
type screenWriter struct {
	s        *Screen
	w        io.Writer
	terminal bool
	ownLine  bool // it does not continue stdout's line
}

func (w *screenWriter) Write(b []byte) (int, error) {
	w.s.change(func() {
		w.s.wipe()
		if w.ownLine {
			w.s.endLine()
		} else if w.terminal && len(b) > 0 {
			w.s.midline = b[len(b)-1] != '\n'
		}
		w.s.since = time.Now()
	})
	// Without the lock: the terminal may be slow. Nothing is drawn until the write ends.
	n, err := w.w.Write(b)
	return n, err
}

// change does something under the lock; on a nil screen nothing.
func (s *Screen) change(do func()) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// wipe removes the line. The caller holds mu.
func (s *Screen) wipe() {
	if s.drawn {
		s.drawn = false
		_, _ = io.WriteString(s.Err, "\r\x1b[K") // a terminal that is gone needs none
	}
}

// endLine ends the line of stdout. The caller holds mu.
func (s *Screen) endLine() {
	if s.midline {
		s.midline = false
		_, _ = io.WriteString(s.Err, "\n")
	}
}

// LineStart wipes the drawn line, and ends one of stdout that is open.
func (s *Screen) LineStart() {
	s.change(func() {
		s.wipe()
		s.endLine()
	})
}

// InLine reports whether stdout stands in the middle of a line.
func (s *Screen) InLine() (in bool) {
	s.change(func() { in = s.midline })
	return in
}

// Line writes a line as wide as the terminal: what has happened, to what, and the
// result. The longer one of these is cut.
func (s *Screen) Line(word, paint, what, result string) {
	s.change(func() {
		s.wipe()
		s.endLine()
		room := s.Columns() - 1 - toolIndent
		if result != "" {
			result = ": " + OneLine(safe.Plain(result))
			what = cutLine(what, max(room-ColumnsOf(result), room/2))
		}
		text := cutLine(what+result, room)
		s.since = time.Now()
		_, _ = fmt.Fprintf(s.Err, "%s%s%s\n", s.style.paint(paint, word), strings.Repeat(" ", toolIndent-len(word)), text) // like all of stderr's lines
	})
}

// toolIndent is where the names of tools begin.
const toolIndent = 8

// Echoed notes that the terminal has echoed ^C behind the line.
func (s *Screen) Echoed() { s.change(func() { s.midline = true }) }

// WaitFor shows what is waited for whenever nothing has come for a second, until
// [Screen.End].
func (s *Screen) WaitFor(what string) {
	s.change(func() {
		s.what, s.since = what, time.Now()
		if s.timer == nil {
			s.timer = time.AfterFunc(time.Second, s.draw)
		}
	})
}

// Now changes what is waited for.
func (s *Screen) Now(what string) {
	s.change(func() {
		if what != s.what {
			s.what, s.since = what, time.Now()
		}
	})
}

func (s *Screen) draw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer == nil {
		return
	}
	s.timer.Reset(time.Second)
	silent := time.Since(s.since).Truncate(time.Second)
	if s.held || s.midline || silent < time.Second {
		return
	}
	s.drawn = true
	// The time comes first: it changes, and a narrow terminal keeps it.
	text := cutLine(fmt.Sprintf("%s waiting for %s (Ctrl-C cancels)", silent, s.what), s.Columns()-1)
	_, _ = io.WriteString(s.Err, "\r\x1b[K"+s.style.Dim(text)) // a terminal that is gone needs none
}

// End ends what WaitFor has begun, and wipes the line.
func (s *Screen) End() {
	s.change(func() {
		if s.timer != nil {
			s.timer.Stop()
			s.timer = nil
		}
		s.wipe()
	})
}

// Hold leaves the terminal to somebody else until release is called.
func (s *Screen) Hold() (release func()) {
	s.change(func() { s.held = true })
	s.LineStart()
	return func() {
		s.change(func() { s.held, s.since = false, time.Now() })
	}
}
