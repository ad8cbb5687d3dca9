package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/config"
	"github.com/a2astdio/a2astdio/internal/credentials"
	"github.com/a2astdio/a2astdio/internal/demo"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

// auth logout --all deletes all sign-ins, whatever client the files name, and lists
// them. It does not list an unreadable one as deleted.
func TestLogoutAll(t *testing.T) {
	home, state := ownPlaces(t)
	conf := filepath.Join(home, "a2astdio", config.FileName)
	must.Do(t, os.MkdirAll(filepath.Dir(conf), 0o700))
	must.Do(t, os.WriteFile(conf, []byte("agent = \"work\"\n[agents.work]\nurl = \"https://work.example\"\noauth-client-id = \"another\"\n"), 0o600))
	var urls []string
	for range 2 {
		agent := newBearerAgent(t, &demo.Options{Version: "both", Pace: -1, Auth: demo.AuthBearer, Secret: "from-login"})
		urls = append(urls, agent.URL)
		if status, _, stderr := runMain("from-login", "--agent", agent.URL, "auth", "login", "--with-token"); status != 0 {
			t.Fatal(stderr)
		}
	}
	status, stdout, stderr := runMain("", "auth", "logout", "--all")
	if status != 0 || !strings.Contains(stdout, credentials.Origin(urls[0])) || !strings.Contains(stdout, credentials.Origin(urls[1])) || stderr != "" {
		t.Errorf("%d %s%s", status, stdout, stderr)
	}
	if left := storedSecrets(t, state); len(left) > 0 {
		t.Errorf("%d secrets are still stored", len(left))
	}
	if status, stdout, _ = runMain("", "auth", "logout", "--all"); status != 0 || !strings.Contains(stdout, "There was no sign-in.") {
		t.Errorf("%d %s", status, stdout)
	}
	if status, _, stderr := runMain("from-login", "--agent", urls[0], "auth", "login", "--with-token"); status != 0 {
		t.Fatal(stderr)
	}
	broken, err := filepath.Glob(filepath.Join(state, "a2astdio", "credentials", "*.json"))
	if err != nil || len(broken) == 0 {
		t.Fatalf("%v %v", broken, err)
	}
	must.Do(t, os.WriteFile(broken[0], []byte("{"), 0o600))
	if status, stdout, stderr = runMain("", "auth", "logout", "--all"); status != 1 || strings.Contains(stdout, "no sign-in") || !strings.Contains(stderr, broken[0]) {
		t.Errorf("%d %s%s", status, stdout, stderr)
	}
}
