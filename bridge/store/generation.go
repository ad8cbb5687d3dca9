package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	journalSuffix = ".jsonl"
	// torn ends a line that was written in part only: ASCII's CAN, "disregard what
	// precedes". JSON text contains it only escaped.
	torn = '\x18'
)

// look finds the newest generation, and begins the next one if it is full.
func (j *Journal) look(n int) (err error) {
	for range storeTries {
		err = j.settle(n)
		// Removed by another bridge, or begun by one: look again.
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return err
}

func (j *Journal) settle(n int) error {
	if j.store.guard() != nil {
		return errNotOurs
	}
	all, err := generations(j.dir)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		// The number after 0 if the journal is new. If the session was removed, the
		// number after the last one: it tells the reader that the beginning is missing.
		return j.begin(j.generation + 1)
	}
	newest := all[len(all)-1]
	if err := j.use(newest); err != nil || !j.full(n) {
		return err
	}
	if err := j.begin(newest + 1); err != nil {
		return err
	}
	for _, old := range all[:len(all)-1] {
		_ = os.Remove(j.path(old)) // the next generation tries again
	}
	if newest == 1 {
		// A later one may be of any size.
		j.store.pruneBeside(filepath.Base(j.dir))
	}
	return nil
}

func (j *Journal) path(generation int) string {
	return filepath.Join(j.dir, strconv.Itoa(generation)+journalSuffix)
}

// begin makes a generation; fs.ErrExist: another bridge has.
func (j *Journal) begin(generation int) error {
	isNew, err := j.store.makeDir(j.dir)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(j.path(generation), os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	j.drop()
	j.hold(f)
	j.generation, j.size = generation, 0
	if isNew {
		j.store.pruneSometimes(filepath.Base(j.dir))
	}
	return nil
}

// use opens a generation to append to it, and ends a torn line in it.
func (j *Journal) use(generation int) error {
	there, err := os.Stat(j.path(generation))
	if err != nil {
		return err
	}
	if j.file != nil {
		// Files are compared, not numbers: a session that was removed and made again
		// begins at 1 again.
		if info, err := j.file.Stat(); err != nil || !os.SameFile(info, there) {
			j.drop()
		}
	}
	if j.file == nil {
		f, err := os.OpenFile(j.path(generation), os.O_RDWR|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		j.hold(f)
	}
	info, err := j.file.Stat()
	if err != nil {
		return err
	}
	j.generation, j.size = generation, info.Size()
	if j.size == 0 {
		return nil
	}
	var last [1]byte
	if _, err := j.file.ReadAt(last[:], j.size-1); err != nil {
		return err
	}
	if last[0] != '\n' {
		// If another bridge is just writing the line, the mark comes after it, as a
		// line of its own, which is ignored.
		n, err := j.file.Write([]byte{torn, '\n'})
		j.size += int64(n)
		return err
	}
	return nil
}

// generations lists those that a session's journal has, oldest first.
func generations(dir string) ([]int, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []int
	for _, e := range entries {
		number, ok := strings.CutSuffix(e.Name(), journalSuffix)
		if n, err := strconv.Atoi(number); ok && err == nil && e.Type().IsRegular() && n > 0 && strconv.Itoa(n) == number {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all, nil
}
