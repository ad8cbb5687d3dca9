package shown

import "strings"

// This file is for editors that can show an item in place of itself (ACP, version 2), and for
// what no later look will show.

// mends reports whether a state that was asked for has a known item as it should be shown: with more in
// the middle, or, of an artifact, another text; false where other items may have said some of it. Where
// the old text stays, that is the artifact of a task that is over, as its agent has replaced it (S9):
// trpc-agent-go does so with each piece. One that holds the newest piece alone has neither: so an artifact
// that has come in pieces is never replaced by a text that lacks some of them, since some agents keep the
// newest one alone, and it may not have been heard.
func (s *Shown) mends(it *item, in *Item) bool {
	may := s.InPlace
	may = may || in.Kind == Artifact && s.state.Terminal() // rule: S9
	was := s.said.textOf(func(of *item) bool { return of == it })
	if !may || s.Partial || it.life == dead || len(was) != it.n || in.Role == Status {
		return false // other items have said some of it, or it may be the newest piece
	}
	if end, _ := alike([]byte(was), in.seq, place{}); !s.InPlace && end.said >= len(was) && end.seq >= len(in.seq) {
		return false // other white space is not worth all of it once more
	}
	return has(in.seq, was) || in.Kind == Artifact && it.events == 1 && !strings.Contains(was, in.seq)
}

// has reports whether a text has all of another in its order, with more between.
func has(seq, part string) bool {
	for part != "" {
		n := 0
		for n < min(len(seq), len(part)) && seq[n] == part[n] {
			n++
		}
		if n == 0 {
			at := strings.Index(seq, part[:min(len(part), evidence)])
			if at < 0 {
				return false
			}
			seq = seq[at:]
		}
		seq, part = seq[n:], part[n:]
	}
	return true
}
