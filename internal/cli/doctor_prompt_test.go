package cli

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/trace/check"
)

// A step is one of doctor's, as JSON.
type step struct{ Step, Status, Says, Do string }

// examined is what doctor --prompt says of an agent, as JSON.
type examined struct {
	OK       bool
	Steps    []step
	Findings []check.Finding
}

func examine(t *testing.T, args ...string) (int, *examined) {
	t.Helper()
	status, stdout, stderr := runMain("", append(args, "doctor", "--prompt", "hello", "-o", "json")...)
	var e examined
	if err := json.Unmarshal([]byte(stdout), &e); err != nil {
		t.Fatalf("%v: %s%s", err, stdout, stderr)
	}
	return status, &e
}

// TestDoctorPromptRefused: an agent that wants credentials, and says so in words of its gateway,
// has no bug.
func TestDoctorPromptRefused(t *testing.T) {
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	defer server.Close()
	mux.HandleFunc("GET /.well-known/agent-card.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, strings.ReplaceAll(plantedCard["0.3"], "URL", server.URL))
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":"unauthorized"}`)
	})
	if status, e := examine(t, "--agent", server.URL); status != 4 || len(e.Findings) > 0 {
		t.Errorf("status %d, %v", status, e.Findings)
	}
}

// TestDoctorPromptDemo: nothing is wrong with the agent that is built in. What it asks to do
// is not allowed.
func TestDoctorPromptDemo(t *testing.T) {
	for _, version := range []string{"0.3", "1.0"} {
		if status, e := examine(t, "--agent", "demo", "--a2a-version", version); status != 0 || !e.OK || len(e.Findings) > 0 {
			t.Errorf("%s: status %d, %v", version, status, e.Findings)
		}
		status, stdout, stderr := runMain("", "--agent", "demo", "--workspace", t.TempDir(), "--a2a-version", version, "doctor", "--prompt", "edit x.txt")
		if status != 0 || !strings.Contains(stdout, "1 request refused") || stderr != "" {
			t.Errorf("%s: status %d, %s%s", version, status, stdout, stderr)
		}
	}
}
