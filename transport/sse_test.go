package transport

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// sseAll reads all frames by batches, and clones each. It returns their data and the error. like is a template, or nil.
func sseAll(r io.Reader, poison bool, like *template) (frames []string, cut bool, err error) {
	f := newFrameReader(r, poison)
	f.template = like
	var batch []frame
	for {
		batch, err = f.next(batch[:0])
		if err != nil {
			return frames, f.unfinished(), err
		}
		for _, b := range batch {
			frames = append(frames, fmt.Sprintf("%v %s", b.failure, b.data))
		}
	}
}

func TestFrames(t *testing.T) {
	for _, test := range must.Table[struct {
		Name, In, Want string
		Cut            bool
	}](t, "testdata/frames.txt") {
		t.Run(test.Name, func(t *testing.T) {
			for _, poison := range []bool{false, true} {
				for name, r := range map[string]io.Reader{
					"whole":     strings.NewReader(test.In),
					"bytes":     iotest.OneByteReader(strings.NewReader(test.In)),
					"halves":    iotest.HalfReader(strings.NewReader(test.In)),
					"data, EOF": iotest.DataErrReader(strings.NewReader(test.In)),
				} {
					got, cut, err := sseAll(r, poison, nil)
					if fmt.Sprintf("%q", got) != test.Want || cut != test.Cut || err != io.EOF {
						t.Errorf("%s, poison %v: %q cut %v %v; want %s cut %v", name, poison, got, cut, err, test.Want, test.Cut)
					}
				}
			}
		})
	}
}

func TestFramesBuffer(t *testing.T) {
	large := strings.Repeat("x", 3<<20)
	in := []io.Reader{strings.NewReader("data: " + large + "\n\n")}
	for range keepReads + 2 {
		in = append(in, strings.NewReader("data: y\n\n"))
	}
	f := newFrameReader(io.MultiReader(in...), false)
	frames, err := f.next(nil)
	if err != nil || string(frames[0].data) != large {
		t.Fatalf("%d frames, %v", len(frames), err)
	}
	for n := 0; err == nil; n++ {
		frames, err = f.next(frames[:0])
	}
	must.Equal(t, len(f.buf), mostRead, "bytes of buffer after a large event")
	// One byte more than maxEvent is too much, with or without an end.
	f = newFrameReader(io.MultiReader(strings.NewReader("data: a\n\ndata: "), bytes.NewReader(make([]byte, maxEvent))), false)
	for err = nil; err == nil; {
		frames, err = f.next(frames[:0])
	}
	must.Equal(t, err, errEventSize)
}

// Lines that end with CR are read in a time that grows as their length.
func TestFramesCR(t *testing.T) {
	took := map[string]time.Duration{}
	for _, end := range []string{"\n", "\r"} {
		start := time.Now()
		got, _, err := sseAll(strings.NewReader(strings.Repeat("data: x"+end, 1<<18)+end), false, nil)
		if took[end] = time.Since(start); err != io.EOF || len(got) != 1 {
			t.Errorf("%q: %d frames, %v", end, len(got), err)
		}
	}
	if took["\r"] > 20*took["\n"]+300*time.Millisecond {
		t.Errorf("lines that end with CR took %v, and with LF %v", took["\r"], took["\n"])
	}
}

// sseNaive does the same with all of the input at hand.
func sseNaive(in string) (frames []string) {
	in = strings.TrimPrefix(in, "\uFEFF")
	in = strings.ReplaceAll(in, "\r\n", "\n")
	in = strings.ReplaceAll(in, "\r", "\n")
	lines := strings.Split(in, "\n")
	var data []string
	event := ""
	for _, line := range lines[:len(lines)-1] {
		if line == "" {
			if data != nil {
				frames = append(frames, fmt.Sprintf("%v %s", event == "error", strings.Join(data, "\n")))
			}
			data, event = nil, ""
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "data":
			data = append(data, value)
		case "event":
			event = value
		}
	}
	return frames
}

// sseChunks cuts reads to the lengths in sizes, over and over.
type sseChunks struct {
	r     io.Reader
	sizes []byte
	n     int
}

func (c *sseChunks) Read(p []byte) (int, error) {
	if len(c.sizes) > 0 {
		p = p[:min(len(p), 1+int(c.sizes[c.n%len(c.sizes)]))]
		c.n++
	}
	return c.r.Read(p)
}

// FuzzFrames: chunking does not matter, a longer input begins with the frames of a
// shorter one, and no data are lost.
func FuzzFrames(f *testing.F) {
	f.Add("data: a\r\n\r\nid: 3\ndata: b\ndata:c\n\n: x\n\ndata: d", []byte{0, 3, 1}, 12)
	f.Add("\uFEFFdata\n\nevent:error\rdata: {}\r\r", []byte{0}, 3)
	f.Add("data: {\"a\":1}\ndata: {\"b\":2}\n\n", []byte{200, 1}, 20)
	for _, between := range []string{"\n\n", "\r\n\r\n", "\r\r", "\nid: 4\n\n", "\n: x\n\nevent: error\n", "\ndata: x\n\n", "\n\r\n", "", "\n\n\nid: 8\n"} {
		for _, space := range []string{"", " ", "\n", "\ndata: "} {
			event := `data: {"result":{"artifactUpdate":{"taskId":"t",%s"artifact":{"artifactId":"a","parts":[{"text":"%d"}]},"append":true}}}` + between
			f.Add(fmt.Sprintf(event+event+event, space, 1, space, 22, space, 3), []byte{255, 255}, 50)
			f.Add(fmt.Sprintf(event+event+event+event, "\ndata: ", 4, space, 5, space, 6, space, 7), []byte{255, 255, 255, 255}, 150)
		}
	}
	f.Fuzz(func(t *testing.T, in string, sizes []byte, at int) {
		want := sseNaive(in)
		got, _, err := sseAll(&sseChunks{r: strings.NewReader(in), sizes: sizes}, len(sizes)%2 == 0, nil)
		if err != io.EOF || fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Fatalf("%q in %v: %q, %v; want %q", in, sizes, got, err, want)
		}
		for _, frame := range want {
			if like := templateOf([]byte(frame[len("false "):])); like != nil {
				fast, _, _ := sseAll(&sseChunks{r: strings.NewReader(in), sizes: sizes}, len(sizes)%2 == 0, like)
				if fmt.Sprintf("%q", fast) != fmt.Sprintf("%q", want) {
					t.Fatalf("%q in %v: with a template %q; want %q", in, sizes, fast, want)
				}
				break
			}
		}
		if at < 0 || at > len(in) {
			return
		}
		early, _, _ := sseAll(strings.NewReader(in[:at]), false, nil)
		if len(early) > len(got) || fmt.Sprintf("%q", early) != fmt.Sprintf("%q", got[:len(early)]) {
			t.Fatalf("%q, cut at %d: %q, and whole %q", in, at, early, got)
		}
	})
}

// nothing is a reader that brings nothing, and no error.
type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, nil }

func TestNoProgress(t *testing.T) {
	_, err := newFrameReader(nothing{}, false).next(nil)
	must.Equal(t, err, io.ErrNoProgress)
}
