package cli

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
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
	text, err := os.ReadFile(filepath.Join(registryDir, "agent.json"))
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	var e registryEntry
	if err := d.Decode(&e); err != nil {
		t.Fatal(err)
	}
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

// TestRegistryIcon: the icon is a square of 16, and takes the theme's colour in all that
// it draws.
func TestRegistryIcon(t *testing.T) {
	f, err := os.Open(filepath.Join(registryDir, "icon.svg"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	themed, first := false, true
	for d := xml.NewDecoder(f); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := token.(xml.Comment); ok {
			t.Error("the registry refuses comments")
		}
		element, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		has := map[string]string{}
		for _, a := range element.Attr {
			has[a.Name.Local] = a.Value
		}
		if first && (element.Name.Local != "svg" || has["width"] != "16" || has["height"] != "16" || has["viewBox"] != "0 0 16 16") {
			t.Errorf("it begins with %s %v", element.Name.Local, has)
		}
		first = false
		for _, name := range []string{"fill", "stroke"} {
			if v := has[name]; v != "" && v != "currentColor" && v != "none" && v != "inherit" {
				t.Errorf("%s is %q", name, v)
			}
			themed = themed || has[name] == "currentColor"
		}
		if element.Name.Local == "style" || has["style"] != "" {
			t.Error("it has styles of its own")
		}
	}
	if !themed {
		t.Error("nothing has the theme's colour")
	}
}
