package safe

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
)

// Replace replaces a file as a whole: whoever reads it has the old content or the new
// one, also after a crash. Only the user may read it. It makes the directory, if need be.
func Replace(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // of mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone if all went well
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// ReadPrivate reads a file that others must not be able to read, of at most limit bytes.
// It does not check another user's file, such as a secret in a container: its owner
// decides.
func ReadPrivate(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if others := othersMay(info); others != "" {
		return nil, fmt.Errorf("%s can be %s by others than you, so what is in it is not used: chmod 600 %[1]s, and take another secret if somebody may have seen it", path, others)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s has more than %d kB: it is no secret", path, limit>>10)
	}
	return data, err
}

// Within reports whether a directory is another one, or below it, by their real paths.
func Within(dir, root string) bool {
	rel, err := filepath.Rel(realPath(root), realPath(dir))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

func realPath(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	return filepath.Clean(path)
}

// A kind of directory in which programs keep what is a user's, in each system.
type place struct{ xdg, windows, linux, windowsHome string }

var (
	state  = place{"XDG_STATE_HOME", "LocalAppData", ".local/state", "AppData/Local"}
	config = place{"XDG_CONFIG_HOME", "AppData", ".config", "AppData/Roaming"}
)

// StateDir is where the user's programs keep their state.
func StateDir() (string, error) { return state.dir(runtime.GOOS, os.Getenv, Home()) }

// ConfigDir is where the user's programs are configured.
func ConfigDir() (string, error) { return config.dir(runtime.GOOS, os.Getenv, Home()) }

// dir takes no relative path: XDG says so, and an agent's workspace may be the current
// directory. Without a home there is no directory, rather than one that others can write.
func (p place) dir(goos string, getenv func(string) string, home string) (string, error) {
	variable, below := p.xdg, p.linux
	switch goos {
	case "windows":
		variable, below = p.windows, p.windowsHome
	case "darwin":
		below = "Library/Application Support"
	}
	if dir := getenv(variable); filepath.IsAbs(dir) {
		return dir, nil
	}
	if home == "" {
		return "", fmt.Errorf("you have no home directory, and %s is not set", variable)
	}
	return filepath.Join(home, filepath.FromSlash(below)), nil
}

// Home is the user's home directory, "" if unknown. Some editors start agents with no
// variable but PATH.
func Home() string {
	if dir, err := os.UserHomeDir(); err == nil && filepath.IsAbs(dir) {
		return dir
	}
	if u, err := user.Current(); err == nil && filepath.IsAbs(u.HomeDir) {
		return u.HomeDir
	}
	return ""
}
