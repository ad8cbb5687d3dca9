// Package must ends a test at an error of something that the test needs and does not test, and
// says where what a test has got is not what was right.
package must

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// Do ends the test if there is an error.
func Do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Get returns the value of a call that may fail: must.Get(os.ReadFile(name))(t).
func Get[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		Do(t, err)
		return value
	}
}

// Equal compares a value with what is right. about says which of several it is, or what else was seen.
func Equal[T any](t testing.TB, got, want T, about ...any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %#v\nwant %#v %v", got, want, about)
	}
}

// True wants something to be so. about is what was seen.
func True(t testing.TB, so bool, about ...any) {
	t.Helper()
	if !so {
		t.Errorf("it is not so: %+v", about)
	}
}

// Fail wants an error that says some words, or no error if they are "".
func Fail(t testing.TB, err error, words string, about ...any) {
	t.Helper()
	if (err == nil) != (words == "") || err != nil && !strings.Contains(err.Error(), words) {
		t.Errorf("got the error %v, want one with %q %v", err, words, about)
	}
}

// Has wants each of some words in a text.
func Has(t testing.TB, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("there is no %q in\n%s", w, text)
		}
	}
}

// File writes a file that nobody else reads, and makes its directory. It returns its path, of which the parts are given.
func File(t testing.TB, text string, path ...string) string {
	t.Helper()
	file := filepath.Join(path...)
	Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
	Do(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// ShortDir returns a directory for what shows paths, which must fit into its lines: the test's own, or
// one in /tmp where that is too long.
func ShortDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if len(dir) <= 50 {
		return dir
	}
	short, err := os.MkdirTemp("/tmp", "")
	if err != nil {
		return dir
	}
	t.Cleanup(func() { _ = os.RemoveAll(short) })
	return short
}

// Golden compares with a file, or writes it: somebody reads what has changed.
func Golden(t testing.TB, update bool, file, got string) {
	t.Helper()
	if update {
		Do(t, os.WriteFile(file, []byte(got), 0o644))
	}
	is, want := strings.Split(got, "\n"), strings.Split(string(Get(os.ReadFile(file))(t)), "\n")
	for i := range max(len(is), len(want)) {
		if i >= min(len(is), len(want)) || is[i] != want[i] {
			t.Errorf("%s is stale from line %d on: -update writes it anew, to be read\n got %q\nwant %q", file, i+1, is[min(i, len(is)):min(i+5, len(is))], want[min(i, len(want)):min(i+5, len(want))])
			return
		}
	}
}

// Table reads a file into values of a struct with exported fields, or of an array: a line each, and a field between tabs.
// What is in quotes is a Go string, what is missing at the end is nothing, and lines that begin with # are comments.
func Table[T any](t testing.TB, file string) (rows []T) {
	t.Helper()
	for line := range strings.Lines(string(Get(os.ReadFile(file))(t))) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		var row T
		v := reflect.ValueOf(&row).Elem()
		for i, text := range strings.FieldsFunc(line, func(r rune) bool { return r == '\t' }) {
			if strings.HasPrefix(text, `"`) || strings.HasPrefix(text, "`") {
				text = Get(strconv.Unquote(text))(t)
			}
			var field reflect.Value
			if v.Kind() == reflect.Struct {
				field = v.Field(i)
			} else {
				field = v.Index(i)
			}
			switch field.Kind() {
			case reflect.Bool:
				field.SetBool(Get(strconv.ParseBool(text))(t))
			case reflect.Int:
				field.SetInt(Get(strconv.ParseInt(text, 10, 64))(t))
			default:
				field.SetString(text)
			}
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		t.Errorf("%s has no rows", file)
	}
	return rows
}

// OnAll calls f for 0 to n-1, on all processors.
func OnAll(t *testing.T, n int, f func(t *testing.T, i int)) {
	var next atomic.Int64
	t.Run("on", func(t *testing.T) {
		for processor := range runtime.GOMAXPROCS(0) {
			t.Run(strconv.Itoa(processor), func(t *testing.T) {
				t.Parallel()
				for i := int(next.Add(1)); i <= n; i = int(next.Add(1)) {
					f(t, i-1)
				}
			})
		}
	})
}
