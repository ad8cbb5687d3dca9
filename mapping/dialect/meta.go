package dialect

import (
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A knownMeta is metadata that was read: in a run of text it is mostly the same as in
// the event before, and comparing costs less than reading.
type knownMeta struct {
	raw []byte
	// trace is where in raw an ignored value begins that differs in each event
	// (Gemini's traceId), 0 if there is none.
	trace int
	// meta is what raw says, if read. It was read from a copy, so it stays.
	meta Meta
	read bool
}

const traceMember = `"traceId":"`

// is reports whether metadata says what the known one said.
func (k *knownMeta) is(raw a2a.JSON) bool {
	if k.trace == 0 || k.meta.Usage != "" || k.meta.Err != "" { // which are kept as they are, whatever is in them
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

// hasURI reports whether an object may have such a key.
func hasURI(object string) bool {
	return strings.Contains(object, "://") || strings.Contains(object, `"urn:`)
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
