// Package packed reads the files that the program carries: as they are they would make
// it 100 kB larger. (Rejected: archive/zip, whose reader is 60 kB of program.)
package packed

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
)

// Read returns a file of an archive: a JSON object, compressed, with a member for each
// file. The error is [fs.ErrNotExist] if the archive has no such file, or another one if
// it is damaged, which a test rules out for those of the program.
func Read(archive, name string) ([]byte, error) {
	r, err := gzip.NewReader(strings.NewReader(archive))
	if err != nil {
		return nil, err
	}
	var files map[string]string
	if err := errors.Join(json.NewDecoder(r).Decode(&files), r.Close()); err != nil {
		return nil, err
	}
	text, ok := files[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return []byte(text), nil
}
