package trace

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Secrets are credentials that become known while the program runs, such as renewed
// tokens. The zero value is ready, and safe for concurrent use; nil has none.
type Secrets struct {
	mu   sync.Mutex
	list atomic.Pointer[[]string] // the newest last; replaced, never changed
}

// maxSecrets bounds the masked values to the newest. Each one slows masking a little,
// and a hundred renewals later the old ones have expired.
const maxSecrets = 128

// Add masks values from now on, in each form in which they may be written. It does not
// mask short ones: see [Options.Header].
func (s *Secrets) Add(values ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []string
	if now := s.list.Load(); now != nil {
		list = slices.Clone(*now)
	}
	known := len(list)
	for _, v := range values {
		if len(v) >= minLiteral && !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	if len(list) == known {
		return
	}
	list = list[max(0, len(list)-maxSecrets):]
	s.list.Store(&list)
}

// all returns a new pointer after each change; nil: none.
func (s *Secrets) all() *[]string {
	if s == nil {
		return nil
	}
	return s.list.Load()
}
