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

// removeStale removes the files of our companions that were killed. While the editor
// runs, such a file would lead a CLI to a port without a listener.
func removeStale(log *slog.Logger) {
	dirs := []string{geminiDir()}
	if dir, err := qwenDir(); err == nil {
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		entries, _ := os.ReadDir(dir) // without it none was ever written
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			if d := readOurs(path); d == nil || d.alive() {
				continue
			}
			if err := os.Remove(path); err != nil {
				log.Info("a stale discovery file stays", "file", path, "err", err)
			}
		}
	}
}

// readOurs reads a discovery file that a companion of ours on this machine has written; nil
// for any other. Other machines may share the home directory; their processes cannot be
// checked here.
func readOurs(path string) *discovery {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	d := new(discovery)
	if json.NewDecoder(io.LimitReader(file, maxDiscovery)).Decode(d) != nil || d.Companion.Program != program || d.Companion.Host != hostname() {
		return nil
	}
	return d
}

// alive reports whether somebody serves at a companion's port. A port without a listener is
// proof enough that it is gone; one that is slow may be of a machine that is too busy.
func (d *discovery) alive() bool {
	conn, err := net.DialTimeout("tcp4", fmt.Sprintf("127.0.0.1:%d", d.Port), probeWait)
	if err != nil {
		return os.IsTimeout(err)
	}
	conn.Close()
	return true
}
