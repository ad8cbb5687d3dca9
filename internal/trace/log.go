package trace

import (
	"io"
	"slices"
	"sync"
	"sync/atomic"
)

// Masked returns a writer that passes text on to out with credentials masked. Each
// Write is a text of its own, such as a line of a log.
func Masked(out io.Writer, opts *Options) io.Writer {
	return &maskedWriter{out: out, mask: sharedMask(opts, inText)}
}

type maskedWriter struct {
	mu   sync.Mutex // of out
	out  io.Writer
	mask func(string) string
}

func (w *maskedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := io.WriteString(w.out, w.mask(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// MaskOwn returns a function that masks the program's own credentials, and nothing
// else, in what users see: agents echo credentials in errors. It may be called from any
// goroutine.
func MaskOwn(opts *Options) func(string) string { return sharedMask(opts, ownOnly) }

// sharedMask returns a masking function that may be called from any goroutine.
func sharedMask(opts *Options, want scope) func(string) string {
	// Made by the first text: most programs have none.
	mask := sync.OnceValue(func() *masker { return newMasker(opts.Header, opts.Secrets, opts.Later) })
	var mu sync.Mutex // a masker belongs to one goroutine
	return func(s string) string {
		mu.Lock()
		defer mu.Unlock()
		m := mask()
		m.learnSecrets()
		return string(m.hide([]byte(s), want))
	}
}

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

// all returns the values; nil for none. The pointer differs after each change.
func (s *Secrets) all() *[]string {
	if s == nil {
		return nil
	}
	return s.list.Load()
}
