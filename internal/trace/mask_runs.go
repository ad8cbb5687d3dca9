package trace

import "bytes"

// A run is a kind of part of a text that ends where something else begins. The first ones are
// those of the charsets' characters.
type run uint8

const (
	runValue    run = iota + run(charsUpper) + 1 // a value without quotes
	runParam                                     // the value of a parameter
	runBrackets                                  // a value in brackets
	runKey                                       // a private key
	runSecond                                    // the second part of a token
	runThird
	allRuns
)

// runs has the newest run of each kind in one text. A word within a run has the run's end, so that a
// text of nothing but words is read once, and not from each of them to its end.
type runs [allRuns]span

// end returns the end of the run at i; of inner brackets maybe that of the outer ones, which
// are masked in any case.
func (r *runs) end(kind run, b []byte, i int) int {
	last := &r[kind]
	if i < last.from || i >= last.to {
		*last = span{i, kind.end(b, i)}
	}
	return last.to
}

func (kind run) end(b []byte, i int) int {
	switch kind {
	case runKey:
		if n := bytes.Index(b[i:], []byte("-----END")); n >= 0 {
			return i + n
		}
		return len(b)
	case runBrackets:
		return closing(b, i)
	}
	for i < len(b) && kind.has(b[i]) {
		i++
	}
	return i
}

func (kind run) has(c byte) bool {
	switch kind {
	case runValue:
		return bytes.IndexByte([]byte(" \t\r\n\"'`&;,<>\\"), c) < 0
	case runParam:
		return bytes.IndexByte([]byte("& \t\r\n\"'<>#;\\"), c) < 0
	case runSecond, runThird:
		return charsDash.has(c)
	}
	return charset(kind).has(c)
}
