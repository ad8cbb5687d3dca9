package trace

import (
	"io"
	"sync"
)

// Masked returns a writer that passes text on to out with credentials masked. Each
// Write is a text of its own, such as a line of a log.
func Masked(out io.Writer, opts *Options) io.Writer {
	return &maskedWriter{out: out, mask: sharedMask(opts, false)}
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
func MaskOwn(opts *Options) func(string) string { return sharedMask(opts, true) }

func sharedMask(opts *Options, own bool) func(string) string {
	// Made by the first text: most programs have none.
	mask := sync.OnceValue(func() *masker { return newMasker(opts.Header, opts.Secrets, opts.Later) })
	var mu sync.Mutex // a masker belongs to one goroutine
	return func(s string) string {
		mu.Lock()
		defer mu.Unlock()
		m := mask()
		m.learn()
		return string(replace(nil, []byte(s), m.find([]byte(s), own)))
	}
}
