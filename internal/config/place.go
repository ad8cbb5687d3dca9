package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/a2astdio/a2astdio/internal/safe"
)

// FileName is the name of both files.
const FileName = "a2astdio.toml"

const (
	// maxUserFile exceeds a thousand agents; maxWorkspaceFile exceeds two keys and a page
	// of comments.
	maxUserFile      = 1 << 20
	maxWorkspaceFile = 64 << 10
)

// UserFile returns the default path of the user's file; "" without a home directory.
func UserFile() string {
	dir, err := safe.ConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "a2astdio", FileName)
}

// readUser reads the user's file. A missing one is no error, unless it was named.
func readUser(path string, named bool) ([]byte, fs.FileInfo, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named:
		return nil, nil, nil
	case err != nil:
		return nil, nil, &Problem{File: path, Text: "it cannot be read: " + reason(err)}
	case info.Mode().IsRegular() && writableByAll(info):
		return nil, nil, &Problem{File: path, Text: "everybody may write it, and it can name commands to run: chmod o-w makes it yours alone"}
	}
	data, err := read(path, maxUserFile)
	return data, info, err
}

// writableByAll reports whether any user of the machine may write a file. Its group may:
// many systems give each user one. On Windows the mode does not tell it.
func writableByAll(info fs.FileInfo) bool {
	return runtime.GOOS != "windows" && info.Mode().Perm()&0o002 != 0
}

// readWorkspace reads a workspace's file, which may hold anything. user is the user's
// own file, which does not also count as a workspace's.
func readWorkspace(path string, user fs.FileInfo) ([]byte, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil: // mostly that there is none; a wrong directory is reported elsewhere
		return nil, nil
	case user != nil && os.SameFile(info, user):
		return nil, nil
	case !info.Mode().IsRegular():
		// A link may lead to another file of the user's, whose lines errors would quote.
		return nil, &Problem{File: path, Text: "it is no regular file, so it is not read: remove it, or put a file in its place"}
	}
	return read(path, maxWorkspaceFile)
}

func read(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &Problem{File: path, Text: "it cannot be read: " + reason(err)}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch {
	case err != nil:
		return nil, &Problem{File: path, Text: "it cannot be read: " + reason(err)}
	case int64(len(data)) > limit:
		return nil, &Problem{File: path, Text: fmt.Sprintf("it is larger than %d kB, which no configuration is", limit>>10)}
	}
	return data, nil
}

// reason drops the path from an error: the sentence has it already.
func reason(err error) string {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err.Error()
	}
	return err.Error()
}

// resolve makes a path in a file absolute: ~/ is the home directory, other paths are
// relative to the file. A URL stays.
func resolve(path, file string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if dir := safe.Home(); dir != "" {
			return filepath.Join(dir, rest)
		}
	}
	if path == "-" || filepath.IsAbs(path) || strings.Contains(path, "://") {
		return path
	}
	return filepath.Join(filepath.Dir(file), path)
}

// A Problem is a fault in a file. The errors of this package are Problems: the first one, by
// its line, of a file.
type Problem struct {
	File string
	Line int // 0 if it is about the whole file
	Text string
}

func (p *Problem) Error() string {
	if p.Line == 0 {
		return p.File + ": " + p.Text
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
}
