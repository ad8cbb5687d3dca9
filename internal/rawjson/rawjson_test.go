package rawjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// FuzzWalk: for valid JSON the walks find what encoding/json finds. For anything else
// they find something within it, and end.
func FuzzWalk(f *testing.F) {
	for _, s := range []string{
		``, ` `, `{`, `{"`, `{}`, `[`, `[]`, ` [ ] `, `"`, `"\`, `"a`, `:`, `,`, `{"a"`, `{"a":`, `{"a":}`, `{"a",}`, `{,}`, `{5:1}`, `[1 2]`, `[,1]`, `[}`, `{]`, `[1}`, `{"a":1]`, `[[`, "\"\xff\"", `nul`,
		`null`, `true`, ` -1.5e+3 `, `""`, `"a\"]}"`, `"\\"`, `"\\\""`, `"\u00e9\ud83d\ude00 \ud83d \ude00\ud83dA"`,
		`{"a":{"b":[1,"x",{"c":null}]},"a":2,"":3,"\u0061\n":4}`,
		" { \"a\" : [ 1 , 2 ] ,\n\t\"b\" : { } } ", `[[],[[]],"",{}]`, `[1,"a,]",{"b":[1,2]},[3],null]`,
		strings.Repeat(`{"a":[`, 50) + strings.Repeat(`]}`, 50),
	} {
		f.Add(s)
	}
	// Strings that end, and have escapes, around where they are looked at in
	// another way.
	for n := shortString - 3; n < shortString+3; n++ {
		a := strings.Repeat("a", n)
		f.Add(fmt.Sprintf(`{"%s":"%[1]s\\","%[1]s\"":["%[1]s\"","%[1]s\\\"]}"]}`, a))
		f.Add(`["` + a + `\`)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 5000 {
			return // each value is looked at by itself
		}
		checkAnything(t, s)
		if want := json.Valid([]byte(s)) && !TooDeep([]byte(s)); Valid([]byte(s)) != want {
			t.Fatalf("%q is valid: %v", s, !want)
		}
		if json.Valid([]byte(s)) && utf8.ValidString(s) {
			checkValue(t, strings.Trim(s, " \t\r\n"))
		}
	})
}

// checkValue compares a value, and what is in it, with what encoding/json reads.
func checkValue(t *testing.T, s string) {
	if end := SkipValue(s+`,"x"`, 0); end != len(s) {
		t.Fatalf("%s ends at %d", s, end)
	}
	var keys, want []string
	read := json.NewDecoder(strings.NewReader(s))
	read.UseNumber() // no number is too large to be walked over
	first := must.Get(read.Token())(t)
	object, array := first == json.Delim('{'), first == json.Delim('[')
	for (object || array) && read.More() {
		if object {
			key := must.Get(read.Token())(t)
			keys = append(keys, key.(string))
		}
		var raw json.RawMessage
		must.Do(t, read.Decode(&raw))
		want = append(want, string(raw))
	}
	text, isString := first.(string)
	if IsObject(s) != object || IsArray(s) != array || IsString(s) != isString || Text(s) != text {
		t.Fatalf("%s is an object: %v, an array: %v, a string: %v, %q", s, IsObject(s), IsArray(s), IsString(s), Text(s))
	}
	var gotKeys, members, walked, elements, taken []string
	EachMember(s, func(key, value string) bool {
		gotKeys, members = append(gotKeys, key), append(members, value)
		return true
	})
	end := Walk(s+`,"x"`, 0, func(key string, at int) int {
		end := SkipValue(s, at)
		walked = append(walked, s[at:end])
		return end
	})
	EachElement(s, func(value string) bool { elements = append(elements, value); return true })
	for rest := s; ; {
		at := NextElement(rest)
		if at < 0 {
			break
		}
		end := SkipValue(rest, at)
		taken, rest = append(taken, rest[at:end]), rest[end:]
	}
	if end != len(s) || !slices.Equal(gotKeys, keys) || !slices.Equal(members, walked) {
		t.Fatalf("%s: ends at %d, members %q, values %q and %q", s, end, gotKeys, members, walked)
	}
	if object && !slices.Equal(members, want) || array && (!slices.Equal(elements, want) || !slices.Equal(taken, want)) {
		t.Fatalf("%s: members %q, elements %q, one by one %q, want %q", s, members, elements, taken, want)
	}
	for i, key := range keys {
		if slices.Index(keys, key) == i && Member(s, key) != want[i] {
			t.Fatalf("%s: %q is %q", s, key, Member(s, key))
		}
	}
	for _, v := range want {
		checkValue(t, v)
	}
}

// checkAnything: no text causes a panic or an endless loop, and what is found lies in
// the text, in order.
func checkAnything(t *testing.T, s string) {
	for i := range len(s) + 1 {
		for name, end := range map[string]int{"space": SkipSpace(s, i), "string": SkipString(s, i), "value": SkipValue(s, i), "plain": SkipPlain(s, i), "object": Walk(s, i, func(_ string, at int) int { return SkipValue(s, at) })} {
			if end < i || end > len(s) {
				t.Fatalf("%q: %s at %d ends at %d", s, name, i, end)
			}
		}
		if i > 100 {
			break
		}
	}
	at := -1
	Walk(s, 0, func(_ string, next int) int {
		if next <= at || next >= len(s) {
			t.Fatalf("%q: a value at %d, after %d", s, next, at)
		}
		at = next
		return SkipValue(s, at)
	})
	n := 0
	EachMember(s, func(_, value string) bool { n += len(value) + 1; return true })
	EachElement(s, func(value string) bool { n += len(value) + 1; return true })
	for rest, next := s, 0; ; rest = rest[SkipValue(rest, next):] {
		if next = NextElement(rest); next < 0 {
			break
		}
		n++
	}
	if n > 2*len(s) {
		t.Fatalf("%q: more was found than is there", s)
	}
	Member(s, "a")
	Text(s)
}

// FuzzText: functions that read eight bytes at once give the same as byte by byte, and
// unescape like encoding/json.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "a", `\`, `\u`, `\u12`, `\n\t\b\f\r\/\"\\`, `\u0000\u00E9\ud83d\ude00`, `\ud83d`, `\ude00\ud83d\u0041`, `\ud83d\n`, `\ud83d\ud83d\ude00`, "é 世界 🌍", "\u2028", "\x7f", "\x1f", "\xff", "\xed\xa0\x80", `"`} {
		for _, n := range []int{0, 5, 7, 8, 31, 33, 60} {
			f.Add(strings.Repeat("a", n) + s)
			f.Add(s + strings.Repeat(" ", n) + s)
		}
	}
	f.Fuzz(checkText)
}

// TestEachPlace: whatever is special is seen wherever it stands.
func TestEachPlace(t *testing.T) {
	for length := range 45 {
		for at := range length {
			for _, special := range []string{"\x00", "\x1f", `"`, `\`, "é", "\x7f", "\x80", "\xff"} {
				checkText(t, strings.Repeat(" ", at)+special+strings.Repeat("a", length-at))
			}
		}
	}
}

func checkText(t *testing.T, s string) {
	var want string
	if got := Unescape(s); json.Unmarshal([]byte(`"`+s+`"`), &want) == nil && utf8.ValidString(s) && got != want {
		t.Errorf("%q says %q, want %q", s, got, want)
	}
	must.Equal(t, string(AppendUnescaped([]byte("x"), s)), "x"+Unescape(s), s)
	ascii, control := true, false
	for i := range len(s) {
		ascii = ascii && s[i] < utf8.RuneSelf
		control = control || s[i] < ' '
	}
	isASCII, ok := ScanRun(s)
	if want := !control && utf8.ValidString(s); ok != want || isASCII != (ok && ascii) {
		t.Errorf("%q is text: %v, ASCII: %v", s, ok, isASCII)
	}
	for from := 0; from <= len(s) && from < 100; from++ {
		want := from
		for want < len(s) && s[want] >= ' ' && s[want] < utf8.RuneSelf && s[want] != '"' && s[want] != '\\' {
			want++
		}
		if got := SkipPlain(s, from); got != want { // a hundred thousand times
			t.Errorf("%q, from %d: plain to %d, want %d", s, from, got, want)
		}
	}
	must.True(t, EscapedUnit(s) == 0 || !(len(s) < 6 || s[:2] != `\u`), s, "is an escape")
}

// FuzzAppendString: whatever the text, the JSON string is one line of valid
// JSON and valid UTF-8, and reads back as the text, but for bytes that are not
// UTF-8.
func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "a", "\"\\\n\r\t\x00\x1f", "é 世界 🌍", "\xff\xc3", "\u2028\u2029", "a\xed\xa0\x80b", "\x7f", "\ufffd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := AppendString(nil, s)
		var back string
		must.Do(t, json.Unmarshal(got, &back))
		var want strings.Builder
		for _, r := range s { // a range decodes each bad byte as U+FFFD
			want.WriteRune(r)
		}
		if back != want.String() {
			t.Fatalf("%q became %q", s, back)
		}
		if !utf8.Valid(got) || bytes.ContainsAny(got, "\n\r") || strings.ContainsAny(string(got), "\u2028\u2029") {
			t.Fatalf("%q is not a line of UTF-8", got)
		}
	})
}

// FuzzAppendValue: a value from outside becomes one line of valid JSON.
func FuzzAppendValue(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.50,"x"]}`, "[\n1\n]", `{"s":"\ud800"}`, "\"\xff\"", "1e999", `{"a":1}{`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !json.Valid([]byte(s)) {
			return // transport lets nothing else in
		}
		got := AppendValue(nil, s)
		if !json.Valid(got) || !utf8.Valid(got) || bytes.ContainsAny(got, "\n\r") {
			t.Fatalf("%q became %q", s, got)
		}
	})
}

// TestDigest: a value is the same with other spaces and another order of members or other escapes, and another one
// with another value anywhere.
func TestDigest(t *testing.T) {
	seed := maphash.MakeSeed()
	of := func(v string) uint64 {
		h, end := digest(seed, v, 0)
		must.Equal(t, end, len(v), v)
		return h
	}
	for _, same := range [][2]string{
		{`{"a":1,"b":[1,{"c":2,"d":"x"}]}`, `{ "b" : [ 1, {"d":"x", "c":2} ], "a":1}`},
		{`"<a>"`, `"\u003ca\u003e"`},
		{`[]`, `[ ]`},
		{`{}`, `{ }`},
	} {
		must.Equal(t, of(same[0]), of(same[1]), same)
	}
	seen := map[uint64]string{}
	for _, v := range []string{`1`, `"1"`, `12`, `[1]`, `[1,2]`, `[2,1]`, `[12]`, `[[1],2]`, `[1,[2]]`, `{}`, `[]`, `{"a":1}`, `{"a":2}`, `{"b":1}`, `{"a":{"b":1}}`, `{"a":[1]}`, `{"a":1,"b":2}`, `{"a":2,"b":1}`, `{"a":1,"a":2}`, `{"a":2,"a":1}`} {
		was, known := seen[of(v)]
		must.True(t, !known, v, "is as", was)
		seen[of(v)] = v
	}
}
