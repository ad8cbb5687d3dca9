package cli

import (
	"bytes"
	"fmt"
	"sync"
	"time"
)

// shownSoFar is what a terminal has got so far.
type shownSoFar struct {
	mu    sync.Mutex
	b     bytes.Buffer
	grown chan struct{}
}

// Write implements [io.Writer].
func (s *shownSoFar) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.grown != nil {
		close(s.grown)
		s.grown = nil
	}
	return s.b.Write(b)
}

func (s *shownSoFar) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// wait waits for a text, from a place on, and returns the place behind it.
func (s *shownSoFar) wait(text string, from int) (int, error) {
	timeout := time.After(talkTimeout)
	for {
		s.mu.Lock()
		i := bytes.Index(s.b.Bytes()[from:], []byte(text))
		if s.grown == nil {
			s.grown = make(chan struct{})
		}
		grown := s.grown
		s.mu.Unlock()
		if i >= 0 {
			return from + i + len(text), nil
		}
		select {
		case <-grown:
		case <-timeout:
			return 0, fmt.Errorf("the terminal never showed %q, but\n%s", text, s)
		}
	}
}
