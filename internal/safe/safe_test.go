package safe

import (
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// This machine is what an address parser says, whatever a name looks like.
func TestThisMachine(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LOCALHOST:80": true, "127.0.0.1": true, "127.9.8.7:1": true, "::1": true, "[::1]": true, "[::1]:443": true, "::ffff:127.0.0.1": true,
		"127.evil.example": false, "127.0.0.1.evil.example": false, "localhost.evil.example": false, "0.0.0.0": false, "10.0.0.1": false, "127.1": false, "": false, "[::2]": false,
	} {
		must.Equal(t, ThisMachine(host), want, host)
	}
}

func TestSameOrigin(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"https://a.example/x", "HTTPS://A.example:443/y?z", true}, {"http://localhost:1", "http://127.0.0.1:1", true}, {"http://a.example", "http://a.example:80", true},
		{"https://a.example", "http://a.example", false}, {"https://a.example", "https://a.example:444", false}, {"https://a.example", "https://a.example.evil", false}, {"file:///x", "file:///x", false},
	} {
		a, _ := url.Parse(test.a)
		b, _ := url.Parse(test.b)
		must.Equal(t, SameOrigin(a, b), test.want, test.a, test.b)
	}
}

func TestDir(t *testing.T) {
	for _, test := range must.Table[struct{ Goos, Variable, Value, Home, State, Config string }](t, "testdata/dirs.txt") {
		getenv := func(name string) string {
			if name == test.Variable {
				return test.Value
			}
			return ""
		}
		s, _ := state.dir(test.Goos, getenv, test.Home)
		c, err := config.dir(test.Goos, getenv, test.Home)
		must.True(t, s == test.State && c == test.Config && (c == "") == (err != nil), test, s, c, err)
	}
}

// A file is replaced as a whole, is private, and is refused when others can read it.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "file")
	for _, content := range []string{"one", "two"} {
		must.Do(t, Replace(path, []byte(content)))
		must.Equal(t, string(must.Get(ReadPrivate(path, 10))(t)), content)
	}
	_, err := ReadPrivate(path, 2)
	must.True(t, err != nil, "a file beyond the limit was read")
	entries, _ := os.ReadDir(filepath.Dir(path))
	must.Equal(t, len(entries), 1, entries)
	if runtime.GOOS == "windows" {
		return
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620} {
		must.Do(t, os.Chmod(path, mode))
		_, err := ReadPrivate(path, 10)
		must.True(t, err != nil, mode, "was read")
	}
}

func TestText(t *testing.T) {
	must.Equal(t, Plain("a\tb\n\x1b[31mred\x1b]0;t\x07\r\x7f\u009b2J\u202eevil\u2066"), "a\tb\n␛[31mred␛]0;t␇␍␡�2J�evil�")
	must.Equal(t, Line(" a\n b\té", 6), "a b é")
	must.Equal(t, Line("aéé", 4), "aé…")
	for word, want := range map[string]string{"a-b": "a-b", "": "''", "it's": `'it'\''s'`, "$x": "'$x'"} {
		must.Equal(t, ShellWord(word), want)
	}
}

func TestFileName(t *testing.T) {
	for in, want := range map[string]string{
		"a.txt": "a.txt", "../../etc/passwd": "passwd", `..\..\x.exe`: "x.exe", "/": "", "..": "", ".": "", "a/..": "",
		".bashrc": "_bashrc", "-rf": "_rf", "a\x00b\x1b[2J.txt": "a_b_[2J.txt",
		"a:b": "a_b", "trailing. . ": "trailing", "\u202etxt.exe": "_txt.exe", "\xff": "_", "ü.md": "ü.md", "": "",
		strings.Repeat("é", 300) + ".tar": strings.Repeat("é", 98) + ".tar",
	} {
		must.Equal(t, FileName(in), want, in)
	}
}
