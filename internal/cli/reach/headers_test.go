package reach

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

func TestWebhookErrorsHidePasswords(t *testing.T) {
	for _, bad := range []string{"ftp://me:hunter2@hooks.example", "https://me:hunter2@hooks.example:x/", "https://me:hunter2@hooks.example", "http://hooks.example/?hunter2"} {
		if _, err := publicURL(bad); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestHeaderErrorsHideValues(t *testing.T) {
	for _, bad := range []string{"hunter2", "Bad Name: hunter2", "X: hunter2\x01", ": hunter2"} {
		if _, err := Headers([]string{bad}); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	file := filepath.Join(t.TempDir(), "h")
	must.Do(t, os.WriteFile(file, []byte("# comment\nX-A: 1\n\nX-B: 2\n"), 0o600))
	h, err := Headers([]string{"@" + file})
	if want := (http.Header{"X-A": {"1"}, "X-B": {"2"}}); err != nil || len(h) != 2 || h.Get("X-B") != want.Get("X-B") {
		t.Errorf("%v %v", h, err)
	}
}
