package frame

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
)

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

// Terminal opens the terminal for a question.
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
	s := &seat{k: k, closed: make(chan struct{}), resumed: make(chan os.Signal, 1)}
	if k.Notify != nil {
		k.Notify(s.resumed)
	}
	return s, nil
}

// read begins to read, unless a read is under way.
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
	closed  chan struct{}
	once    sync.Once
	rest    string // what was read and not taken
	resumed chan os.Signal
}

// ErrResumed ends a read: the process was stopped, and goes on. The shell has written to
// the terminal meanwhile.
var ErrResumed = errors.New("the process goes on")

// Read implements [io.Reader].
func (s *seat) Read(b []byte) (int, error) {
	if s.rest == "" {
		select {
		case <-s.closed: // then nothing is read
			return 0, os.ErrClosed
		default:
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
		case <-s.closed:
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
	s.once.Do(func() {
		signal.Stop(s.resumed)
		close(s.closed)
	})
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
	if s.k.reading == nil {
		return true
	}
	select {
	case <-s.k.reading:
		s.k.reading = nil
	default:
	}
	return true
}
