package tracetest

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"io"
	"io/fs"
	"os"
	"testing"
)

// Packed holds that a zip archive, which is embedded, has the files of a folder, which
// people read; with update it makes the archive.
func Packed(t *testing.T, folder, archive string, update bool) {
	t.Helper()
	files := os.DirFS(folder)
	names, err := fs.Glob(files, "*")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	if update {
		if err := os.WriteFile(archive, pack(t, files, names), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	packed, err := zip.OpenReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	if len(packed.File) != len(names) {
		t.Errorf("%s has %d files, and not %d: go generate makes it again", archive, len(packed.File), len(names))
	}
	for _, name := range names {
		want, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := fs.ReadFile(packed, name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not up to date in %s (%v): go generate makes it again", name, archive, err)
		}
	}
}

func pack(t *testing.T, files fs.FS, names []string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestCompression) })
	for _, name := range names { // without times: the same files make the same archive
		data, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
