package rawjson

import (
	"hash/maphash"
	"testing"
)

// TestDigest: a value is the same with other spaces and another order of members or other escapes, and another one
// with another value anywhere.
func TestDigest(t *testing.T) {
	seed := maphash.MakeSeed()
	of := func(v string) uint64 {
		h, end := digest(seed, v, 0)
		if end != len(v) {
			t.Errorf("%s ends at %d", v, end)
		}
		return h
	}
	for _, same := range [][2]string{
		{`{"a":1,"b":[1,{"c":2,"d":"x"}]}`, `{ "b" : [ 1, {"d":"x", "c":2} ], "a":1}`},
		{`"<a>"`, `"\u003ca\u003e"`},
		{`[]`, `[ ]`},
		{`{}`, `{ }`},
	} {
		if of(same[0]) != of(same[1]) {
			t.Errorf("%s and %s differ", same[0], same[1])
		}
	}
	seen := map[uint64]string{}
	for _, v := range []string{`1`, `"1"`, `12`, `[1]`, `[1,2]`, `[2,1]`, `[12]`, `[[1],2]`, `[1,[2]]`, `{}`, `[]`, `{"a":1}`, `{"a":2}`, `{"b":1}`, `{"a":{"b":1}}`, `{"a":[1]}`, `{"a":1,"b":2}`, `{"a":2,"b":1}`, `{"a":1,"a":2}`, `{"a":2,"a":1}`} {
		if was, known := seen[of(v)]; known {
			t.Errorf("%s is as %s", v, was)
		}
		seen[of(v)] = v
	}
}
