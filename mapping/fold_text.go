package mapping

import (
	"hash/maphash"
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file is how a Fold knows what has been shown of a text, without keeping
// the text.

// artifactKey tells artifacts from messages among what was shown.
const artifactKey = "artifact\x00"

// tailLen is how much of the text that grows is kept as it is, and then hashed at
// once: hashing each piece costs several times as much as copying it.
const tailLen = 8 << 10

// headLen is how much of each text is kept as it is, to tell text that was shown
// from text that replaces it where there is too little of it for the hash.
const headLen = 64

// shown is what the editor has of one message or artifact.
type shown struct {
	id   string
	head string   // the first bytes of the text
	n    int      // bytes of text
	sums []extent // the hashes of what they were, in runs
	// others are the hashes of the parts that are not text, and thoughts.
	others map[uint64]struct{}
	// newest is the length of the last piece of text, while it is in the tail.
	newest int
	// again counts how often the text was replaced: each time opens a new message.
	again int
	// task is the one that said it; held counts to the last snapshot that held all
	// that was shown; chunk is the hash of the last piece of text.
	task  string
	held  int
	chunk uint64
	// lacking: the agent held only the newest of it, so that some may be missing.
	lacking bool
}

type extent struct {
	n   int
	sum uint64
}

// of finds what was shown of a message, unless it has been found already.
func (f *Fold) of(sh *shown, id string) *shown {
	if sh != nil {
		return sh
	}
	if f.live != nil && f.live.id == id {
		return f.live
	}
	if sh = f.texts[id]; sh == nil {
		sh = &shown{id: strings.Clone(id)}
		f.texts[sh.id] = sh
	}
	return sh
}

// ofArtifact is of for an artifact. It makes the key only where it is needed:
// most pieces are of the artifact that grows.
func (f *Fold) ofArtifact(id string) *shown {
	if f.live != nil {
		if live, ok := strings.CutPrefix(f.live.id, artifactKey); ok && live == id {
			return f.live
		}
	}
	return f.of(nil, artifactKey+id)
}

// text shows text that follows what was shown. part is the one that it is all of,
// nil if it is less.
func (f *Fold) text(sh *shown, text string, part *a2a.Part, s Step) {
	if text == "" {
		return
	}
	f.saw(sh, text)
	s.Kind, s.Text, s.Append = StepText, text, true
	if part != nil {
		s.TextJSON, s.Plain = part.TextJSON, part.Plain
	}
	f.add(s)
}

// saw notes that text was shown.
func (f *Fold) saw(sh *shown, text string) {
	if f.live != sh {
		f.seal()
		f.live = sh
	}
	if sh.n < headLen {
		sh.head += strings.Clone(text[:min(len(text), headLen-sh.n)])
	}
	sh.n += len(text)
	sh.task = f.TaskID
	if len(f.tail)+len(text) > tailLen {
		f.settle()
	}
	if len(text) > tailLen {
		sum := maphash.String(f.seed, text)
		sh.sums, sh.chunk = append(sh.sums, extent{len(text), sum}), sum
		return
	}
	f.tail, sh.newest = append(f.tail, text...), len(text)
}

// settle hashes the tail of the text that grows.
func (f *Fold) settle() {
	if sh := f.live; sh != nil && len(f.tail) > 0 {
		sh.sums = append(sh.sums, extent{len(f.tail), maphash.Bytes(f.seed, f.tail)})
		sh.chunk = maphash.Bytes(f.seed, f.tail[len(f.tail)-sh.newest:])
		f.tail = f.tail[:0]
	}
}

// seal ends the run of text that grows.
func (f *Fold) seal() {
	f.settle()
	f.live = nil
}

// rest returns what part of text, which begins at offset from of a message, has
// not been shown. replaced: what was shown is not the beginning of it.
func (f *Fold) rest(sh *shown, text string, from int) (rest string, replaced bool) {
	if from >= sh.n {
		return text, false
	}
	if from > 0 {
		// Parts of one message are shown in order, so that those before the
		// last shown one are told by their length.
		if from+len(text) <= sh.n {
			return "", false
		}
		return text[sh.n-from:], false
	}
	if n := min(len(text), len(sh.head)); text[:n] != sh.head[:n] {
		return text, true
	}
	if len(text) < sh.n {
		// The first of several parts, or an agent that has forgotten the rest.
		return "", false
	}
	if f.live == sh {
		f.settle()
	}
	at := 0
	for _, e := range sh.sums {
		if maphash.String(f.seed, text[at:at+e.n]) != e.sum {
			return text, true
		}
		at += e.n
	}
	return text[at:], false
}

// once reports whether something that is not text is shown for the first time,
// and notes it.
func (f *Fold) once(sh *shown, values ...string) bool {
	return sh.mark(markSum(values...))
}

func (sh *shown) mark(sum uint64) (isNew bool) {
	if sh.others == nil {
		sh.others = map[uint64]struct{}{}
	}
	before := len(sh.others)
	sh.others[sum] = struct{}{}
	return len(sh.others) > before
}

// marked is add for a step that shows something else than text.
func (f *Fold) marked(s Step, sh *shown, values ...string) {
	s.mark, s.markOf = markSum(values...), sh.id
	f.add(s)
}
