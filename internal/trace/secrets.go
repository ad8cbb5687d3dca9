package trace

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Secrets are credentials that become known while the program runs: tokens that
// are got and renewed. The zero value is ready, and safe for concurrent use; nil
// has none.
type Secrets struct {
	mu   sync.Mutex
	list atomic.Pointer[[]string] // as they came; replaced, never changed
}

// maxSecrets is how many are masked: the newest. Each makes what is masked a little
// slower, and who has been given a hundred tokens since knows that the old ones have
// ended.
const maxSecrets = 128

// Add has values masked from now on, wherever they turn up, in each way in which
// they may be written. Short ones are not: see [Options.Header].
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

// all is another pointer when there are others; nil: none.
func (s *Secrets) all() *[]string {
	if s == nil {
		return nil
	}
	return s.list.Load()
}
