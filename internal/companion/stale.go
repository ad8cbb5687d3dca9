package companion

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"
)

const (
	// maxDiscovery is how much of a discovery file is read.
	maxDiscovery = 256 << 10
	// probeWait is how long a port of this machine may take to answer. A port without a
	// listener refuses at once.
	probeWait = 200 * time.Millisecond
)

// A discoveryFile is a file of ours that was found.
type discoveryFile struct {
	path string
	discovery
}

// found returns the discovery files in a directory that our companions on this machine
// have written. Other machines may share the home directory; their processes cannot be
// checked here.
func found(dir string) []discoveryFile {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // none was ever written
	}
	here := hostname()
	var all []discoveryFile
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		if ext != geminiExt && ext != qwenExt || !e.Type().IsRegular() {
			continue
		}
		f := discoveryFile{path: filepath.Join(dir, e.Name())}
		b, err := readSome(f.path)
		if err == nil && json.Unmarshal(b, &f.discovery) == nil && f.Companion.Program == program && f.Companion.Host == here {
			all = append(all, f)
		}
	}
	return all
}

func readSome(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxDiscovery))
}

// alive reports whether somebody serves at a companion's port. A port without a listener
// is proof enough that it is gone.
func (f *discoveryFile) alive() bool {
	if f.Port <= 0 || f.Port > 65535 {
		return false
	}
	conn, err := net.DialTimeout("tcp4", fmt.Sprintf("127.0.0.1:%d", f.Port), probeWait)
	if err != nil {
		return isTimeout(err)
	}
	conn.Close()
	return true
}

// isTimeout: the machine is too busy to answer. The companion may be alive, so its file
// is kept.
func isTimeout(err error) bool {
	timeout, ok := err.(net.Error)
	return ok && timeout.Timeout()
}

// removeStale removes the files of our companions that were killed. While the editor
// runs, such a file would lead a CLI to a port without a listener.
func removeStale(log *slog.Logger) {
	dirs := []string{geminiDir()}
	if dir, err := qwenDir(); err == nil {
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		for _, f := range found(dir) {
			if f.alive() {
				continue
			}
			if err := os.Remove(f.path); err != nil {
				log.Info("a stale discovery file stays", "file", f.path, "err", err)
			}
		}
	}
}
