package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// A linkedModule is a module with linked packages, which are its directories here.
type linkedModule struct {
	Path, Version, Dir string
	packages           []string
}

// linkedModules are those of all platforms that we build for.
func linkedModules(t *testing.T) []linkedModule {
	t.Helper()
	found := map[string]linkedModule{}
	for _, platform := range []string{"linux", "darwin", "windows"} {
		list := exec.Command("go", "list", "-deps", "-f", `{{with .Module}}{{if not .Main}}{"Path":{{printf "%q" .Path}},"Version":{{printf "%q" .Version}},"Dir":{{printf "%q" .Dir}},"Package":{{printf "%q" $.Dir}}}{{end}}{{end}}`, "../..")
		list.Env = append(os.Environ(), "GOOS="+platform, "CGO_ENABLED=0")
		list.Stderr = os.Stderr
		out := must.Get(list.Output())(t)
		for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
			var p struct {
				linkedModule
				Package string
			}
			must.Do(t, decoder.Decode(&p))
			m, ok := found[p.Path]
			if !ok {
				m = p.linkedModule
			}
			for dir := p.Package; len(dir) >= len(p.Dir); dir = filepath.Dir(dir) {
				m.packages = append(m.packages, dir)
			}
			found[p.Path] = m
		}
	}
	var all []linkedModule
	for _, m := range found {
		slices.Sort(m.packages)
		m.packages = slices.Compact(m.packages)
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b linkedModule) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// licenceFile is what a file with a licence, or a notice, is called.
var licenceFile = regexp.MustCompile(`(?i)^(LICEN[CS]E|COPYING|NOTICE|PATENTS)([-.].*)?$`)

// licenceTexts are those of a module, and of its packages that have their own.
func licenceTexts(t *testing.T, m linkedModule) string {
	t.Helper()
	var b strings.Builder
	for _, dir := range m.packages {
		entries := must.Get(os.ReadDir(dir))(t)
		for _, e := range entries {
			if !licenceFile.MatchString(e.Name()) || !e.Type().IsRegular() {
				continue
			}
			text := must.Get(os.ReadFile(filepath.Join(dir, e.Name())))(t)
			if within, _ := filepath.Rel(m.Dir, dir); within != "." {
				fmt.Fprintf(&b, "\nPackage %s:\n", filepath.ToSlash(within))
			}
			fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(strings.ReplaceAll(string(text), "\r", "")))
		}
	}
	return b.String()
}

const noticesHead = `a2astdio is licensed under the Apache License, Version 2.0:
https://www.apache.org/licenses/LICENSE-2.0

These modules, and the Go standard library, are linked into it. None is changed.
The source of each is what the Go module mirror and the named repository have of
that version; go mod download fetches it.
`

const rule = "\n================================================================================\n"

// TestGeneratedNotices: licenses and THIRD_PARTY_NOTICES have the licence of every
// linked module.
func TestGeneratedNotices(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(noticesHead)
	for _, m := range linkedModules(t) {
		texts := licenceTexts(t, m)
		must.True(t, texts != "", m.Path, "has no licence at its top: may it be shipped?")
		fmt.Fprintf(&b, "%s%s %s\n", rule, m.Path, m.Version)
		if strings.Contains(texts, "Mozilla Public License") {
			// MPL-2.0, section 3.2: whoever gets the program is told where the source is.
			fmt.Fprintf(&b, "\nMozilla Public License 2.0. Its source, unchanged, is %s@%s, at https://%s\n", m.Path, m.Version, m.Path)
		}
		b.WriteString(texts)
	}
	fmt.Fprintf(&b, "%sThe Go standard library, https://go.dev\n\nIts licence is that of golang.org/x/sys, above.\n", rule)
	must.Golden(t, *update, "notices.txt", b.String())
	if *update {
		var packed bytes.Buffer
		w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		_, _ = w.Write([]byte(b.String()))
		must.Do(t, w.Close())
		// Another version of Go may pack it differently, so the unpacked text is compared.
		if _, now, _ := runMain("", "version", "--licenses"); now != b.String() {
			must.Do(t, os.WriteFile("notices.txt.gz", packed.Bytes(), 0o666))
		}
		return // the text that is embedded is the one before
	}
	status, got, stderr := runMain("", "version", "--licenses")
	must.True(t, status == 0 && got == b.String(), status, stderr)
}
