package frame

import "testing"

// TestPlainWord: what a shell would not read as a word is not offered.
func TestPlainWord(t *testing.T) {
	for _, word := range []string{"", "a b", "$(x)", "`x`", "a;b", "a\n", "'", "\"", "~", "*", "é", "a\\"} {
		if PlainWord(word) {
			t.Errorf("%q would be offered", word)
		}
	}
}
