package rawjson

import (
	"hash/maphash"
	"slices"
	"strings"
)

// Digest is the hash of a value. Neither spaces, the order of members nor escapes count: stores
// write anew what a stream has said (a2a-go's sorts members).
func Digest(seed maphash.Seed, v string) uint64 {
	h, _ := digest(seed, v, 0)
	return h
}

// digest is that of the value at i, and where it ends.
func digest(seed maphash.Seed, v string, i int) (h uint64, end int) {
	i = SkipSpace(v, i)
	switch {
	case IsObject(v[i:]):
		keys := make([]uint64, 0, 16)
		end = Walk(v, i, func(key string, at int) int {
			one, end := digest(seed, v, at)
			name := maphash.String(seed, key)
			h += maphash.Comparable(seed, [2]uint64{name, one})
			keys = append(keys, name)
			return end
		})
		if slices.Sort(keys); len(slices.Compact(keys)) < len(keys) { // which of two counts is their order's
			h += maphash.String(seed, v[i:end])
		}
		return ^h, end
	case IsArray(v[i:]):
		for i++; ; i = end {
			if i = SkipSpace(v, i); i < len(v) && v[i] == ',' {
				i = SkipSpace(v, i+1)
			}
			one, after := digest(seed, v, i)
			if end = after; end == i {
				return h, min(i+1, len(v)) // behind its bracket
			}
			h = maphash.Comparable(seed, [2]uint64{h, one})
		}
	}
	end = SkipValue(v, i)
	one := v[i:end]
	if IsString(one) && strings.IndexByte(one, '\\') >= 0 {
		one = `"` + Text(one) + `"`
	}
	return maphash.String(seed, one), end
}
