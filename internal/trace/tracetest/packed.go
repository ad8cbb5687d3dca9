package tracetest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/a2astdio/a2astdio/internal/trace/packed"
)

// Packed compares an archive of package packed with its source folder, or writes it
// anew.
func Packed(t *testing.T, folder, archive string, update bool) {
	t.Helper()
	files := os.DirFS(folder)
	names, err := fs.Glob(files, "*")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	texts := map[string]string{}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	if update {
		if err := os.WriteFile(archive, pack(t, texts), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range texts {
		if text, err := packed.Read(string(got), name); err != nil || string(text) != want {
			t.Errorf("%s is not up to date in %s (%v): go generate makes it again", name, archive, err)
		}
	}
	if _, err := packed.Read(string(got), "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that %s does not have: %v", archive, err)
	}
}

// pack makes an archive without a time: the same files make the same archive.
func pack(t *testing.T, texts map[string]string) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(json.NewEncoder(w).Encode(texts), w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
