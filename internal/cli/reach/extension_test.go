package reach

import "testing"

// TestExtensionURIs: --extension takes URIs, and nothing else.
func TestExtensionURIs(t *testing.T) {
	for in, want := range map[string]bool{"https://x.example/a/v1": true, "urn:x:a": true, "https://x.example/a?q=1": true, "not": false, "/v1": false, "https://": false} {
		if _, err := extensionURIs([]string{in}); (err == nil) != want {
			t.Errorf("%q: %v", in, err)
		}
	}
}
