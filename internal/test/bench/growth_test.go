package bench

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"testing"
)

// A growingWire is a stream without repetition.
type growingWire struct {
	*fakeWire
	event func(i int) []byte
	i     int
}

func (w *growingWire) RoundTrip(req *http.Request) (*http.Response, error) {
	return w.answer(req, readerFunc(func(b []byte) (int, error) {
		if len(w.left) == 0 {
			w.left = fmt.Appendf(nil, "data: %s\n\n", w.event(w.i))
			w.i++
		}
		n := copy(b, w.left)
		w.left = w.left[n:]
		return n, nil
	}))
}

// named gives each event an ID of its own.
func named(event func(int, string) []byte, id string) func(i int) []byte {
	return func(i int) []byte {
		return bytes.Replace(event(i, text(i, textSize, false)), []byte(id), fmt.Appendf(nil, "%s%08d", id[:len(id)-8], i), 1)
	}
}

func nthTool(i int, status, more string) []byte {
	return toolEvent(fmt.Sprintf("call-%d", i/2), fmt.Sprintf("m%d", i), status, more)
}

func calls(i int) []byte { return nthTool(i, []string{"executing", "success"}[i%2], "") }

func approvals(i int) []byte {
	if i%2 == 1 {
		return artifactV03(i, text(i, textSize, false))
	}
	return bytes.Replace(nthTool(i, "awaiting_approval", `,"confirmationDetails":{"type":"exec","title":"Run","command":"make","rootCommand":"make"}`),
		[]byte("tool-call-update"), []byte("tool-call-confirmation"), 1)
}

// BenchmarkGrowth is the cost of an event after a thousand, ten and a hundred thousand
// of them: it should be constant.
func BenchmarkGrowth(b *testing.B) {
	for _, kind := range []struct {
		name, version string
		event         func(int) []byte
	}{
		{"events", "1.0", func(i int) []byte { return artifactV1(i, text(i, textSize, false)) }},
		{"messages", "1.0", named(statusV1, messageID)},
		{"artifacts", "1.0", named(artifactV1, artifactID)},
		{"calls", "0.3", calls},
		{"approvals", "0.3", approvals},
	} {
		for _, n := range []int{1000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", kind.name, n), func(b *testing.B) {
				w := newFakeWire(kind.version, nil, 1)
				h := newHotPathBy(b, &growingWire{w, kind.event, 0}, acpSpelling())
				for range n {
					h.step(b)
				}
				b.ResetTimer()
				before, _ := activity(os.Getpid())
				for range b.N {
					h.step(b)
					_ = h.fold.Waits() // as a turn asks at each event
				}
				after, _ := activity(os.Getpid())
				b.ReportMetric(float64((after-before).Nanoseconds())/float64(b.N), "ns-CPU/op") // on a shared machine the clock tells little
			})
		}
	}
}

// BenchmarkSnapshot is the cost of a task's snapshot with one new text, after this many
// that it does not repeat.
func BenchmarkSnapshot(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("texts=%d", n), func(b *testing.B) {
			artifact := named(artifactV1, artifactID)
			event := func(i int) []byte {
				if i < n {
					return artifact(i)
				}
				return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"result":{"task":{"id":%q,"contextId":%q,"status":{"state":"TASK_STATE_WORKING"},"artifacts":[{"artifactId":"new%d","parts":[{"text":"new"}]}]}}}`, taskID, contextID, i)
			}
			h := newHotPathBy(b, &growingWire{newFakeWire("1.0", nil, 1), event, 0}, acpSpelling())
			for range n {
				h.step(b)
			}
			b.ResetTimer()
			before, _ := activity(os.Getpid())
			for range b.N {
				h.step(b)
			}
			after, _ := activity(os.Getpid())
			b.ReportMetric(float64((after-before).Nanoseconds())/float64(b.N), "ns-CPU/op")
		})
	}
}
