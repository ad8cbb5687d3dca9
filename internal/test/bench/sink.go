package bench

import (
	"bufio"
	"bytes"
	"errors"
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
	// wantMarks and wantReplies end the reading.
	wantMarks, wantReplies int
	stamps                 bool

	marks, replies int
	bytes          int64
	done           time.Time // when the last mark came
	delays         []time.Duration
}

// A slowReader pauses before each read.
type slowReader struct {
	io.Reader
	pause time.Duration
}

func (r slowReader) Read(b []byte) (int, error) {
	rest(r.pause)
	return r.Reader.Read(b)
}

// run reads until all has come, or stdout has ended.
func (s *sink) run(r io.Reader) error {
	for lines := bufio.NewReaderSize(r, sinkBuffer); s.marks < s.wantMarks || s.replies < s.wantReplies; {
		line, err := lines.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) { // a long line comes in pieces
			return err
		}
		s.bytes += int64(len(line))
		if s.marks += bytes.Count(line, []byte{mark}); s.marks >= s.wantMarks && s.done.IsZero() {
			s.done = time.Now()
		}
		if bytes.Contains(line, []byte(replied)) {
			s.replies++
		}
		if at := bytes.IndexByte(line, stampMark); s.stamps && at >= 0 {
			if t, err := strconv.ParseInt(string(line[at+1:at+1+stampDigits]), 10, 64); err == nil {
				s.delays = append(s.delays, time.Since(time.Unix(0, t)))
			}
		}
	}
	return nil
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
