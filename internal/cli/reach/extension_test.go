package reach

import (
	"slices"
	"testing"
)

// TestExtensionURIs: --extension takes URIs, alone or with those that they require, and
// nothing else.
func TestExtensionURIs(t *testing.T) {
	for in, want := range map[string][]string{
		"https://x.example/a/v1":  {"https://x.example/a/v1"},
		"urn:x:a":                 {"urn:x:a"},
		"https://x.example/a?q=1": {"https://x.example/a?q=1"},
		"https://x.example/a=https://x.example/b,urn:x:c": {"https://x.example/a", "https://x.example/b", "urn:x:c"},
		"https://x.example/a?q=1=https://x.example/b":     {"https://x.example/a?q=1", "https://x.example/b"},
		"not": nil,
		"/v1": nil,
		"https://x.example/a=https://x.example/b,nonsense": nil,
		"https://": nil,
	} {
		got, err := extensionURIs([]string{in})
		if !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q is read as %q (%v), and not as %q", in, got, err, want)
		}
	}
}
