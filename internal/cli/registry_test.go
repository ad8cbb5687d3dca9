package cli

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

var registryDir = filepath.Join("..", "..", "packaging", "acp-registry")

// A registryEntry is what the ACP registry knows of an agent (its agent.schema.json).
type registryEntry struct {
	ID, Name, Version, Description string
	Repository                     string
	Authors                        []string
	LicenseURL                     string `json:"license_url"`
	License                        string
	Distribution                   struct {
		Binary map[string]struct{ Archive, Cmd string }
	}
}

// TestRegistryEntry: the entry has what the registry's schema and check ask for, and
// nothing that they do not know.
func TestRegistryEntry(t *testing.T) {
	text := must.Get(os.ReadFile(filepath.Join(registryDir, "agent.json")))(t)
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	var e registryEntry
	must.Do(t, d.Decode(&e))
	if !regexp.MustCompile(`^[a-z][a-z0-9-]*$`).MatchString(e.ID) || e.Name == "" || e.Description == "" {
		t.Errorf("id %q, name %q, description %q", e.ID, e.Name, e.Description)
	}
	// The folder that packaging/acp-registry/README.md names is its ID.
	if readme, err := os.ReadFile(filepath.Join(registryDir, "README.md")); err != nil || !strings.Contains(string(readme), "into the folder `"+e.ID+"` of") {
		t.Errorf("the ID %s is not the folder's name: %v", e.ID, err)
	}
	for _, at := range []string{e.Repository, e.LicenseURL} {
		if u, err := url.Parse(at); err != nil || u.Scheme != "https" || u.Host == "" {
			t.Errorf("%q is no https URL", at)
		}
	}
	if len(e.Authors) == 0 || e.License == "" {
		t.Errorf("authors %q, license %q", e.Authors, e.License)
	}
	if !regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+$`).MatchString(e.Version) {
		t.Errorf("version %q is not x.y.z", e.Version)
	}
	if _, err := os.Stat(filepath.Join("..", "..", "LICENSE")); err == nil && e.LicenseURL == "" {
		t.Error("license_url is missing, and there is a LICENSE")
	}
	platforms := []string{"darwin-aarch64", "darwin-x86_64", "linux-aarch64", "linux-x86_64", "windows-aarch64", "windows-x86_64"}
	if len(e.Distribution.Binary) != len(platforms) {
		t.Errorf("%d platforms, want %d", len(e.Distribution.Binary), len(platforms))
	}
	for platform, b := range e.Distribution.Binary {
		u, err := url.Parse(b.Archive)
		switch {
		case !slices.Contains(platforms, platform):
			t.Errorf("%s is no platform of the registry's", platform)
		case err != nil || u.Scheme != "https" || u.Host == "":
			t.Errorf("%s: %q is no https URL", platform, b.Archive)
		case strings.Count(b.Archive, e.Version) != 2 || strings.Contains(b.Archive, "latest"):
			t.Errorf("%s: %s does not name version %s as its tag and in the file", platform, b.Archive, e.Version)
		case !strings.HasSuffix(b.Archive, ".tar.gz") && !strings.HasSuffix(b.Archive, ".zip"):
			t.Errorf("%s: editors do not unpack %s", platform, b.Archive)
		case b.Cmd != "./a2astdio" && b.Cmd != "./a2astdio.exe" || strings.HasPrefix(platform, "windows") != strings.HasSuffix(b.Cmd, ".exe"):
			t.Errorf("%s: cmd %q", platform, b.Cmd)
		}
	}
}
