package trace

import (
	"io"
	"sync"
)

// Masked returns a writer that passes text on to out with credentials masked. Each
// Write is a text of its own, such as a line of a log.
func Masked(out io.Writer, opts *Options) io.Writer {
	return &maskedWriter{opts: opts, out: out}
}

type maskedWriter struct {
	opts *Options
	mu   sync.Mutex // a masker belongs to one goroutine
	mask *masker    // made by the first line: most logs have none
	out  io.Writer
}

func (w *maskedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mask == nil {
		w.mask = newMasker(w.opts.Header, w.opts.Secrets, w.opts.Later)
	}
	w.mask.learn()
	if _, err := io.WriteString(w.out, w.mask.text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// MaskOwn returns a function that masks the program's own credentials, and nothing
// else, in what users see: agents echo credentials in errors. It may be called from any
// goroutine.
func MaskOwn(opts *Options) func(string) string {
	mask := sync.OnceValue(func() *masker { return newMasker(opts.Header, opts.Secrets, opts.Later) })
	var mu sync.Mutex // a masker belongs to one goroutine
	return func(s string) string {
		mu.Lock()
		defer mu.Unlock()
		m := mask()
		m.learn()
		spans := m.find([]byte(s), true)
		if len(spans) == 0 {
			return s
		}
		return string(replace(nil, []byte(s), spans))
	}
}
