package demo

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// Stored tasks are for trying things out: the oldest goes first.
const (
	maxKept     = 64
	maxKeptAge  = 7 * 24 * time.Hour
	maxKeptSize = 64 << 20
	maxKeptTask = 16 << 20 // of one task, with the files in its prompts

	keptSuffix = ".json"
	lockSuffix = ".lock"
	// tempPrefix begins the names of unfinished files. Those of killed processes are
	// removed when something new is stored.
	tempPrefix = "new-"

	// keptLook is how often a reader of a resting task checks whether another process has
	// changed it.
	keptLook = 250 * time.Millisecond
)

// A keeper stores tasks in a directory, a file each, for parallel and later processes.
// The process that tells a task's story holds the task's lock, which ends with the
// process. So a working task without a lock was killed. Files are replaced as a whole,
// so reading needs no lock.
//
// A nil keeper stores nothing.
type keeper struct {
	find func() (string, error)
	warn func(error)

	once sync.Once
	dir  string // empty: there is none
}

func newKeeper(o *Options) *keeper {
	if o.Keep == nil {
		return nil
	}
	k := &keeper{find: o.Keep, warn: o.Warn}
	if k.warn == nil {
		k.warn = func(error) {}
	}
	return k
}

// place returns the directory; "" if there is none.
func (k *keeper) place() string {
	if k == nil {
		return ""
	}
	k.once.Do(func() {
		dir, err := k.find()
		if err != nil {
			k.warn(fmt.Errorf("demo: its tasks end with this process: %w", err))
			return
		}
		k.dir = dir
	})
	return k.dir
}

// keepable reports whether an ID looks like ours. Others come from clients, and must
// not become file names.
func keepable(id string) bool {
	const made = "0123456789abcdefghijklmnopqrstuvwxyz-"
	return id != "" && len(id) <= 64 && id[0] != '-' && strings.Trim(id, made) == ""
}

func (k *keeper) file(id, suffix string) string { return filepath.Join(k.dir, id+suffix) }

// read returns a stored task, or nil.
func (k *keeper) read(id string) *keptTask {
	if k.place() == "" || !keepable(id) {
		return nil
	}
	f, err := os.Open(k.file(id, keptSuffix))
	if err != nil {
		return nil
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxKeptTask+1))
	var t keptTask
	if err != nil || len(raw) > maxKeptTask || json.Unmarshal(raw, &t) != nil || t.Layout != keptLayout || t.ID != id {
		return nil // of another version, or damaged
	}
	return &t
}

// ids returns the IDs of the stored tasks.
func (k *keeper) ids() (ids []string) {
	for _, f := range k.files() {
		ids = append(ids, f.id)
	}
	return ids
}

type keptFileInfo struct {
	id   string
	at   time.Time
	size int64
}

func (k *keeper) files() (all []keptFileInfo) {
	if k.place() == "" {
		return nil
	}
	entries, err := os.ReadDir(k.dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), keptSuffix)
		info, err := e.Info()
		if ok && keepable(id) && err == nil && info.Mode().IsRegular() {
			all = append(all, keptFileInfo{id, info.ModTime(), info.Size()})
		}
	}
	return all
}

// write stores a task, and replaces the earlier state.
func (k *keeper) write(t *keptTask) {
	if k.place() == "" || !keepable(t.ID) {
		return
	}
	raw, err := json.Marshal(t)
	if err == nil && len(raw) > maxKeptTask {
		err = fmt.Errorf("it has %d bytes, and the limit is %d", len(raw), maxKeptTask)
	}
	if err == nil {
		err = k.replace(k.file(t.ID, keptSuffix), raw)
	}
	if err != nil {
		k.warn(fmt.Errorf("demo: task %s is not kept for the next command: %w", t.ID, err))
	}
	if t.Rev == 1 {
		k.prune()
	}
}

func (k *keeper) replace(path string, data []byte) error {
	f, err := os.CreateTemp(k.dir, tempPrefix+"*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = cmp.Or(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// prune removes tasks above the limits of number, age and size, except locked ones, and
// the remains of killed processes.
func (k *keeper) prune() {
	all := k.files()
	sort.Slice(all, func(i, j int) bool { return all[i].at.After(all[j].at) })
	var size int64
	for i, f := range all {
		if size += f.size; i < maxKept && size <= maxKeptSize && time.Since(f.at) < maxKeptAge {
			continue
		}
		unlock, free := k.lock(f.id)
		if !free {
			continue
		}
		_ = os.Remove(k.file(f.id, keptSuffix))
		unlock()
		_ = os.Remove(k.file(f.id, lockSuffix))
	}
	entries, _ := os.ReadDir(k.dir)
	for _, e := range entries {
		id, isLock := strings.CutSuffix(e.Name(), lockSuffix)
		info, err := e.Info()
		if err != nil || time.Since(info.ModTime()) < time.Hour || !isLock && !strings.HasPrefix(e.Name(), tempPrefix) {
			continue
		}
		if _, err := os.Lstat(k.file(id, keptSuffix)); errors.Is(err, fs.ErrNotExist) {
			_ = os.Remove(filepath.Join(k.dir, e.Name()))
		}
	}
}

// lock locks a task for this process. free is false if another process holds it.
func (k *keeper) lock(id string) (unlock func(), free bool) {
	l := flock.New(k.file(id, lockSuffix), flock.SetPermissions(0o600))
	ok, err := l.TryLock()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		// A file system without locks: two concurrent commands may conflict.
		k.warn(fmt.Errorf("demo: task %s cannot be locked: %w", id, err))
		return func() {}, true
	}
	return func() { _ = l.Close() }, ok
}
