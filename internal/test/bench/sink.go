package bench

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"time"
)

// sinkBuffer is how much the editor's end reads at once. A pipe holds 64 KiB.
const sinkBuffer = 64 << 10

// replied is in the reply to a prompt and nowhere else. Baselines are searched for it,
// too, so that the editor's end costs the same for all.
const replied = `"stopReason"`

// A sink is the editor's end of stdout.
type sink struct {
	r io.Reader
	// wantMarks and wantReplies end the reading.
	wantMarks, wantReplies int
	stamps                 bool
	// pause is a slow reader's pause after each read.
	pause time.Duration

	marks, replies int
	bytes          int64
	done           time.Time // when the last mark came
	delays         []time.Duration
}

// run reads until all has come, or stdout has ended.
func (s *sink) run() error {
	const carry = max(len(replied), stampDigits+1) - 1
	buf := make([]byte, carry+sinkBuffer)
	have := 0 // bytes before the new ones
	for s.marks < s.wantMarks || s.replies < s.wantReplies {
		n, err := s.r.Read(buf[have : have+sinkBuffer])
		if n > 0 {
			now := time.Now()
			s.take(buf[:have+n], have, now)
			end := have + n
			from := max(0, end-carry)
			have = copy(buf, buf[from:end])
		}
		if err != nil {
			return err
		}
		if s.pause > 0 {
			rest(s.pause)
		}
	}
	return nil
}

func (s *sink) take(b []byte, have int, now time.Time) {
	fresh := b[have:]
	s.bytes += int64(len(fresh))
	if s.marks += bytes.Count(fresh, []byte{mark}); s.marks >= s.wantMarks && s.done.IsZero() {
		s.done = now
	}
	s.replies += bytes.Count(b[max(0, have-len(replied)+1):], []byte(replied))
	if !s.stamps {
		return
	}
	for rest := b[max(0, have-stampDigits):]; ; {
		at := bytes.IndexByte(rest, stampMark)
		if at < 0 || at+1+stampDigits > len(rest) {
			return
		}
		rest = rest[at+1:]
		if t, err := strconv.ParseInt(string(rest[:stampDigits]), 10, 64); err == nil {
			s.delays = append(s.delays, now.Sub(time.Unix(0, t)))
		}
	}
}

// quantile returns the q-th part of sorted values.
func quantile[T any](sorted []T, q float64) (v T) {
	if len(sorted) == 0 {
		return v
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	if n := len(sorted); n > 0 && n%2 == 0 {
		return (sorted[n/2-1] + sorted[n/2]) / 2
	}
	return quantile(sorted, 0.5)
}
