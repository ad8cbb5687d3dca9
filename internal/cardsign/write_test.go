package cardsign

import (
	"strings"
	"testing"
)

// The texts, the order of members and the numbers are those of RFC 8785: its examples of
// §3.2.2 and §3.2.3.
func TestCanonical(t *testing.T) {
	for in, want := range map[string]string{
		`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/<","literals":[null,true,false]}`: `{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/<"}`,
		`{"\u20ac":"Euro Sign","\ufb33":"Dalet","1":"One","\ud83d\ude00":"Emoji"}`:                                                                                             "{\"1\":\"One\",\"€\":\"Euro Sign\",\"😀\":\"Emoji\",\"\ufb33\":\"Dalet\"}",
		`{"a":-0,"b":9007199254740993,"c":1e-7,"d":10.0}`:                                                                                                                      `{"a":0,"b":9007199254740992,"c":1e-7,"d":10}`,
	} {
		v, err := parseObject([]byte(in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if got := string(canonical(v)); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

// Python's json.dumps writes ASCII, sorts by code points and has floats of its own
// kind: each of these was written by CPython 3.11.
func TestPython(t *testing.T) {
	const in = `{"\ufb33":1,"\ud83d\ude00":"\u007fé😀\b\"","f":[1.0,1e16,123456789012345680.0,1e-5,0.0001,-0.0,1.5e300,100,-7]}`
	v, err := parseObject([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"f":[1.0,1e+16,1.2345678901234568e+17,1e-05,0.0001,-0.0,1.5e+300,100.0,-7.0],"\ufb33":1.0,"\ud83d\ude00":"\u007f\u00e9\ud83d\ude00\b\""}`
	if got := string(pythonDumps(v)); got != want {
		t.Errorf(" got %s\nwant %s", got, want)
	}
}

// JSON that readers interpret differently is refused.
func TestParseRefuses(t *testing.T) {
	for _, in := range []string{
		`[]`, ``, `{"a":1}x`, `{"a":01}`, `{"a":1,"a":1}`, `{"a":{"b":[{"c":1,"\u0063":2}]}}`, `{"a":1e400}`, `{"a":"\ud800"}`, `{"a":"\udc00\ud800"}`,
		`{"a":"\ud800\u0041"}`, `{"a":"\ud800x"}`, `{"\udfff":1}`, "{\"a\":\"\xff\"}", `{"a":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`,
	} {
		if v, err := parseObject([]byte(in)); err == nil {
			t.Errorf("%.60s: %v", in, v)
		}
	}
	if _, err := parseObject([]byte(`{"a":"\\ud800 \"\\","😀":"\ud83d\ude00\\"}`)); err != nil {
		t.Error(err)
	}
}
