package frame

import (
	"strings"
	"testing"
)

func TestEscaper(t *testing.T) {
	var b strings.Builder
	const in = "{\"a\":\"\u009b2J\u202e\u007f ü\"}\n"
	if n, err := (escaper{&b}).Write([]byte(in)); n != len(in) || err != nil || b.String() != `{"a":"\u009b2J\u202e\u007f ü"}`+"\n" {
		t.Errorf("%d %v %q", n, err, b.String())
	}
}

func TestPage(t *testing.T) {
	var p Page
	p.Field("name", "a value \x1b[31mthat is long enough to be broken between its words, as a terminal has eighty columns\nand more")
	p.Text(2, "  kept blanks")
	want := "name          a value ␛[31mthat is long enough to be broken between its words,\n" +
		"              as a terminal has eighty columns\n              and more\n    kept blanks\n"
	if p.String() != want {
		t.Errorf("got\n%s\nwant\n%s", p.String(), want)
	}
}
