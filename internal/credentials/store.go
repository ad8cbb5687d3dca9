package credentials

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

const (
	// lockTry is how often a lock is tried for that another bridge holds.
	lockTry = 50 * time.Millisecond
	// lockTime is how long one is waited for: as long as whoever has it may take to
	// renew.
	lockTime = 30 * time.Second
	// maxLogins bounds what is read of a directory.
	maxLogins = 1000
	suffix    = ".json"
)

// A Store keeps sign-ins: one file each, of mode 0600, written as a whole, in a
// directory of mode 0700. It is safe for concurrent use, also by several bridges.
//
// A file holds the tokens in clear. The system's keyring was tried: the package for
// all three systems makes the program 0.4 MB larger, which its limit does not allow.
type Store struct{ dir string }

// OpenStore returns the store in a directory; "" is the user's own. The disk is
// not touched.
func OpenStore(dir string) (*Store, error) {
	if dir == "" {
		state, err := stateDir(runtime.GOOS, os.Getenv, os.UserHomeDir)
		if err != nil {
			return nil, err
		}
		dir = filepath.Join(state, "a2astdio", "credentials")
	}
	return &Store{dir: dir}, nil
}

// stateDir is where a user's programs keep their state: not where configuration
// is, which people share and put under version control; and never a directory that
// others can write to.
func stateDir(goos string, getenv func(string) string, home func() (string, error)) (string, error) {
	variable := "XDG_STATE_HOME"
	if goos == "windows" {
		variable = "LocalAppData"
	}
	if dir := getenv(variable); filepath.IsAbs(dir) {
		return dir, nil
	}
	dir, err := home()
	if err != nil || !filepath.IsAbs(dir) {
		return "", fmt.Errorf("there is no place for credentials: you have no home directory, and %s is not set", variable)
	}
	switch goos {
	case "windows":
		return filepath.Join(dir, "AppData", "Local"), nil
	case "darwin":
		return filepath.Join(dir, "Library", "Application Support"), nil
	}
	return filepath.Join(dir, ".local", "state"), nil
}

// file is where the login of an origin and a client is.
func (s *Store) file(origin, client string) string {
	sum := sha256.Sum256([]byte(origin + "\n" + client))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:16])+suffix)
}

// A stored is the JSON of a file.
type stored struct {
	Version int `json:"version"`
	Login
	Secrets *Secrets `json:"secrets,omitempty"`
}

// List returns all logins, the newest first, without their secrets. Files that
// cannot be read are left out, and are what the error is about.
func (s *Store) List() ([]*Login, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("what auth login has stored cannot be read: %w: make that directory readable, or set XDG_STATE_HOME to another one", err)
	}
	var list []*Login
	var bad error
	for _, e := range entries[:min(len(entries), maxLogins)] {
		if !strings.HasSuffix(e.Name(), suffix) {
			continue
		}
		f, err := s.read(filepath.Join(s.dir, e.Name()))
		if err != nil {
			bad = errors.Join(bad, err)
			continue
		}
		list = append(list, &f.Login)
	}
	slices.SortStableFunc(list, func(a, b *Login) int { return b.Created.Compare(a.Created) })
	return list, bad
}

// Find returns the login to use for an agent, nil if there is none: of the
// configured client, if one is; of several at one origin that of the same URL; and
// of these the newest.
func (s *Store) Find(ctx context.Context, agent, client string) (*Login, error) {
	origin, at := Origin(agent), withoutQueryOf(agent)
	var list []*Login
	var bad error
	for range 2 { // a directory may lack a file that is replaced while it is read
		list, bad = s.List()
		list = slices.DeleteFunc(list, func(l *Login) bool {
			return l.Origin != origin || client != "" && l.ClientID != "" && l.ClientID != client
		})
		if len(list) > 0 {
			break
		}
	}
	if len(list) == 0 {
		return nil, bad
	}
	i := max(0, slices.IndexFunc(list, func(l *Login) bool { return l.Agent == at }))
	return s.Get(ctx, list[i].Origin, list[i].ClientID)
}

// Get returns a login with its secrets, nil if there is none.
func (s *Store) Get(ctx context.Context, origin, client string) (*Login, error) {
	file := s.file(origin, client)
	f, err := s.read(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case f.Origin != origin || f.ClientID != client:
		return nil, fmt.Errorf("%s is not what it is named for: remove it and sign in again", file)
	}
	l := &f.Login
	if f.Secrets != nil {
		l.Secrets = *f.Secrets
	}
	return l, nil
}

func (s *Store) read(file string) (*stored, error) {
	b, err := readPrivate(file)
	if err != nil {
		return nil, err
	}
	f := new(stored)
	if err := json.Unmarshal(b, f); err != nil || f.Version != 1 || f.Origin == "" {
		return nil, fmt.Errorf("%s is damaged, or of a newer a2astdio: remove it and sign in again", file)
	}
	return f, nil
}

// Put stores a login in place of the one before. It is on the disk when Put
// returns: a refresh token that is lost cannot be had again.
func (s *Store) Put(ctx context.Context, l *Login) error {
	f := stored{Version: 1, Login: *l}
	f.Secrets = &l.Secrets
	b, err := json.MarshalIndent(&f, "", " ")
	if err != nil {
		return err
	}
	if len(b) > maxSecret {
		return fmt.Errorf("the sign-in is not stored: its tokens have more than %d kB", maxSecret>>10)
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("the sign-in is not stored: %w", err)
	}
	if err := writeWhole(s.file(l.Origin, l.ClientID), append(b, '\n')); err != nil {
		return fmt.Errorf("the sign-in is not stored: %w", err)
	}
	return nil
}

// writeWhole replaces a file, so that there is always one of both.
func writeWhole(file string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".new-*") // of mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // it is of no use to anybody
	}
	return err
}

// Delete removes a login.
func (s *Store) Delete(l *Login) error {
	err := os.Remove(s.file(l.Origin, l.ClientID))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Lock keeps other bridges from changing a login until unlock is called, or this
// process ends. The file of the lock stays: who removed it would let two in.
func (s *Store) Lock(ctx context.Context, l *Login) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	lock := flock.New(strings.TrimSuffix(s.file(l.Origin, l.ClientID), suffix)+".lock", flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockTry); err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("another a2astdio has been renewing the sign-in for %s for more than %v: try again", l.Origin, lockTime)
		}
		return nil, err
	}
	return func() { _ = lock.Close() }, nil // the system would do it, too
}

// stamp tells whether the file of a login has changed, or others have come: then
// the directory has.
func (s *Store) stamp(l *Login) string {
	info, err := os.Stat(s.file(l.Origin, l.ClientID))
	dir, dirErr := os.Stat(s.dir)
	if err != nil || dirErr != nil {
		return ""
	}
	return fmt.Sprint(info.ModTime().UnixNano(), info.Size(), dir.ModTime().UnixNano())
}

func originURL(u *url.URL) *url.URL {
	scheme, host, port := strings.ToLower(u.Scheme), strings.ToLower(u.Hostname()), u.Port()
	switch host {
	case "127.0.0.1", "::1", "0.0.0.0", "::": // as transport has it: one machine
		host = "localhost"
	}
	port = cmp.Or(port, map[string]string{"http": "80", "https": "443"}[scheme])
	return &url.URL{Scheme: scheme, Host: net.JoinHostPort(host, port)}
}

func withoutQueryOf(agent string) string {
	u, err := url.Parse(agent)
	if err != nil {
		return agent
	}
	return withoutQuery(u)
}
