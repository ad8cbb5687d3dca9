package mapping

import (
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A knownMeta is metadata that was read: in a run of text it is mostly the same as
// that of the event before, which is seen sooner than it is read.
type knownMeta struct {
	raw []byte
	// trace is where in raw a value begins that nobody reads, 0 if there is none:
	// Gemini's server gives each event another traceId.
	trace int
	// meta is what raw says, if read. It was read from a copy, so it stays.
	meta meta
	read bool
}

const traceMember = `"traceId":"`

// is reports whether metadata says what the known one said.
func (k *knownMeta) is(raw a2a.JSON) bool {
	if k.trace == 0 || k.meta.usage != "" || k.meta.err != "" { // which are kept as they are, whatever is in them
		return string(k.raw) == string(raw)
	}
	if len(raw) < k.trace || string(raw[:k.trace]) != string(k.raw[:k.trace]) {
		return false
	}
	one, other := string(raw[k.trace:]), k.raw[k.trace:]
	// No quote that is escaped ends a value, but what follows it is compared.
	i, j := strings.IndexByte(one, '"'), strings.IndexByte(string(other), '"')
	return i >= 0 && j >= 0 && one[i:] == string(other[j:])
}

// maxKnownMeta is the longest metadata that is kept: longer is hardly ever the same.
const maxKnownMeta = 4 << 10

func (k *knownMeta) set(raw a2a.JSON) {
	if len(raw) > maxKnownMeta {
		*k = knownMeta{}
		return
	}
	*k = knownMeta{raw: append(k.raw[:0], raw...)}
	if i := strings.Index(string(raw), traceMember); i >= 0 {
		k.trace = i + len(traceMember)
	}
}

// readMeta reads an event's metadata.
func (f *Fold) readMeta(raw a2a.JSON) {
	f.meta = meta{}
	if raw == "" {
		return
	}
	same := f.known.is(raw)
	switch {
	case same && f.known.read:
		f.meta = f.known.meta
		return
	case same:
		raw = cloneJSON(raw)
	default:
		f.known.set(raw)
	}
	for _, d := range dialects() {
		if !strings.Contains(string(raw), d.sign()) {
			continue
		}
		if d.meta(raw, &f.meta) {
			f.meta.said = true
			break
		}
		f.meta = meta{}
	}
	if same {
		f.known.meta, f.known.read = f.meta, true
	}
}
