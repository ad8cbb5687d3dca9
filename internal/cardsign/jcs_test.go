package cardsign

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	independent "github.com/gowebpki/jcs"
)

// Numbers are written as ECMAScript writes them: RFC 8785, Appendix B, by the bits
// of the double.
func TestNumbers(t *testing.T) {
	for _, v := range []struct {
		bits uint64
		want string
	}{
		{0x0000000000000000, "0"},
		{0x8000000000000000, "0"},
		{0x0000000000000001, "5e-324"},
		{0x8000000000000001, "-5e-324"},
		{0x7fefffffffffffff, "1.7976931348623157e+308"},
		{0xffefffffffffffff, "-1.7976931348623157e+308"},
		{0x4340000000000000, "9007199254740992"},
		{0xc340000000000000, "-9007199254740992"},
		{0x4430000000000000, "295147905179352830000"},
		{0x44b52d02c7e14af5, "9.999999999999997e+22"},
		{0x44b52d02c7e14af6, "1e+23"},
		{0x44b52d02c7e14af7, "1.0000000000000001e+23"},
		{0x444b1ae4d6e2ef4e, "999999999999999700000"},
		{0x444b1ae4d6e2ef4f, "999999999999999900000"},
		{0x444b1ae4d6e2ef50, "1e+21"},
		{0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
		{0x3eb0c6f7a0b5ed8d, "0.000001"},
		{0x41b3de4355555553, "333333333.3333332"},
		{0x41b3de4355555554, "333333333.33333325"},
		{0x41b3de4355555555, "333333333.3333333"},
		{0x41b3de4355555556, "333333333.3333334"},
		{0x41b3de4355555557, "333333333.33333343"},
		{0xbecbf647612f3696, "-0.0000033333333333333333"},
		{0x43143ff3c1cb0959, "1424953923781206.2"},
	} {
		got := string(appendES6(nil, number{value: math.Float64frombits(v.bits)}))
		if got != v.want {
			t.Errorf("%016x: %s, want %s", v.bits, got, v.want)
		}
	}
}

// The texts and the order of members are those of RFC 8785: its examples of
// §3.2.2 and §3.2.3.
func TestCanonical(t *testing.T) {
	for in, want := range map[string]string{
		`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`:                                        `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
		`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`: "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":\"Latin Small Letter O With Diaeresis\",\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}",
		`{"a":-0,"b":9007199254740993,"c":1e-7,"d":10.0}`: `{"a":0,"b":9007199254740992,"c":1e-7,"d":10}`,
	} {
		v, err := parseObject([]byte(in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if got := string(jcs().append(nil, v)); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

// Python's json.dumps writes ASCII, sorts by code points and has floats of its own
// kind: each of these was written by CPython 3.11.
func TestPython(t *testing.T) {
	const in = `{"\ufb33":1,"\ud83d\ude00":"\u007fé😀\b","f":[1.0,1e16,123456789012345680.0,1e-5,0.0001,-0.0,1.5e300,100,-7]}`
	v, err := parseObject([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"f":[1.0,1e+16,1.2345678901234568e+17,1e-05,0.0001,-0.0,1.5e+300,100,-7],"\ufb33":1,"\ud83d\ude00":"\u007f\u00e9\ud83d\ude00\b"}`
	if got := string(pythonDumps(false).append(nil, v)); got != want {
		t.Errorf(" got %s\nwant %s", got, want)
	}
	floats := strings.NewReplacer("100,-7", "100.0,-7.0", `:1,`, `:1.0,`).Replace(want)
	if got := string(pythonDumps(true).append(nil, v)); got != floats {
		t.Errorf(" got %s\nwant %s", got, floats)
	}
}

// JSON that readers interpret differently is refused.
func TestParseRefuses(t *testing.T) {
	for in, want := range map[string]string{
		`[]`:                               "no JSON object",
		``:                                 "no JSON object",
		`{"a":1}x`:                         "no JSON object",
		`{"a":01}`:                         "no JSON object",
		`{"a":1,"a":1}`:                    "/a twice",
		`{"a":{"b":[{"c":1,"\u0063":2}]}}`: "/a/b/0/c twice",
		`{"a/b":{"~":1,"\u007e":2}}`:       "/a~1b/~0 twice",
		`{"a":1e400}`:                      "no double can hold",
		`{"a":"\ud800"}`:                   `\ud800`,
		`{"a":"\udc00\ud800"}`:             `\udc00`,
		`{"a":"\ud800\u0041"}`:             `\ud800`,
		`{"\udfff":1}`:                     `\udfff`,
		"{\"a\":\"\xff\"}":                 "no UTF-8",
		`{"a":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`: "deeper",
	} {
		v, err := parseObject([]byte(in))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, %v, want an error with %q", in, v, err, want)
		}
	}
	if _, err := parseObject([]byte(`{"a":"\\ud800 \"\\","😀":"\ud83d\ude00\\"}`)); err != nil {
		t.Error(err)
	}
}

// A canonical form equals another implementation's, and is stable.
func FuzzJCS(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":[1,2.50,-0,1e21,1e-7,null,true,"\u2028é😀\u0001\/"],"":{"b":{}}}`,
		`{"😀":1,"\ufb33":2,"ab":3,"a":4,"😁":5}`, `{"a":1,"a":2}`, `{"a":"\ud83d"}`, ` {"x" : 1E5 } `,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := parseObject(b)
		if err != nil {
			return
		}
		got := jcs().append(nil, v)
		again, err := parseObject(got)
		if err != nil || string(jcs().append(nil, again)) != string(got) {
			t.Fatalf("%q: %q is not canonical: %v", b, got, err)
		}
		want, err := independent.Transform(b)
		if err != nil {
			t.Fatalf("%q has no canonical form elsewhere: %v", b, err)
		}
		if string(got) != string(want) {
			t.Fatalf("%q\n got %q\nwant %q", b, got, want)
		}
	})
}

// Names are sorted as the sequences of their UTF-16 code units are.
func FuzzOrder(f *testing.F) {
	f.Add("a", "ab")
	f.Add("\ufb33", "😀")
	f.Add("😀x", "😁")
	f.Add("\U0001f600", "\U0010ffff")
	f.Fuzz(func(t *testing.T, a, b string) {
		a, b = strings.ToValidUTF8(a, ""), strings.ToValidUTF8(b, "")
		units := func(s string) string { // fixed width, so that bytes sort as units do
			var out strings.Builder
			for _, u := range utf16.Encode([]rune(s)) {
				out.WriteString(strconv.FormatInt(int64(u)+0x10000, 16))
			}
			return out.String()
		}
		if got, want := compareUTF16(a, b), strings.Compare(units(a), units(b)); got != want {
			t.Fatalf("%q %q: %d, want %d", a, b, got, want)
		}
	})
}
