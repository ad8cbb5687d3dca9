package cli

import (
	"io"

	"github.com/a2astdio/a2astdio/internal/rawjson"
)

const (
	// maxPiece bounds the pieces of a long text, so that their unused room is small and no
	// text is moved.
	maxPiece = 1 << 20
	// writePiece is how much is written at once.
	writePiece = 64 << 10
)

// jsonPieces is growing JSON, in pieces. Each piece is as large as all before it: a
// hundred thousand short texts take little each, and a long one has few pieces. No
// piece ends within a character.
type jsonPieces [][]byte

func (p *jsonPieces) add(s string) {
	last := p.room(len(s))
	*last = append(*last, s...)
}

// addEscaped adds text as the content of a JSON string.
func (p *jsonPieces) addEscaped(text string) {
	for len(text) > maxPiece {
		n := maxPiece
		for n > maxPiece-4 && text[n]&0xC0 == 0x80 {
			n--
		}
		p.addEscaped(text[:n])
		text = text[n:]
	}
	last := p.room(len(text) + len(text)/16)
	*last = rawjson.AppendEscaped(*last, text)
}

func (p *jsonPieces) room(n int) *[]byte {
	all := *p
	if len(all) == 0 || cap(all[len(all)-1])-len(all[len(all)-1]) < n {
		held := 0
		if len(all) > 0 {
			held = 2 * cap(all[len(all)-1])
		}
		all = append(all, make([]byte, 0, max(n, min(held, maxPiece))))
		*p = all
	}
	return &all[len(all)-1]
}

// A pieceWriter joins pieces before it writes. It never cuts one, so that a writer that
// looks at characters gets whole ones.
type pieceWriter struct {
	w   io.Writer
	buf []byte
	err error
}

func (w *pieceWriter) add(s string) {
	w.buf = append(w.buf, s...)
	w.full()
}

func (w *pieceWriter) string(s string) {
	w.buf = append(rawjson.AppendEscaped(append(w.buf, '"'), s), '"')
	w.full()
}

// member adds an object's member and a comma, unless the value is empty.
func (w *pieceWriter) member(name, value string) {
	if value == "" {
		return
	}
	w.string(name)
	w.add(":")
	w.string(value)
	w.add(",")
}

func (w *pieceWriter) write(piece []byte) {
	if len(piece) < writePiece {
		w.buf = append(w.buf, piece...)
		w.full()
		return
	}
	w.flush()
	if w.err == nil {
		_, w.err = w.w.Write(piece)
	}
}

func (w *pieceWriter) full() {
	if len(w.buf) >= writePiece {
		w.flush()
	}
}

func (w *pieceWriter) flush() {
	if w.err == nil && len(w.buf) > 0 {
		_, w.err = w.w.Write(w.buf)
	}
	w.buf = w.buf[:0]
}

// end writes the rest, and returns the first error.
func (w *pieceWriter) end() error {
	w.flush()
	return w.err
}
