package credentials

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/a2astdio/a2astdio/internal/safe"
)

const (
	// lockTry is the interval of attempts at a lock that another bridge holds.
	lockTry = 50 * time.Millisecond
	// lockTime bounds the wait for a lock: its holder may be renewing.
	lockTime = 30 * time.Second
	suffix   = ".json"
)

// A Store stores sign-ins in a directory of mode 0700. Each has a file of mode 0600,
// which is replaced as a whole. It is safe for concurrent use, also by several bridges.
//
// A file holds the tokens in clear. (Rejected: the system's keyring. The package for
// all three systems adds 0.4 MB to the program, beyond its limit.)
type Store struct{ dir string }

// OpenStore returns the store in a directory; "" is the user's own. It does not touch
// the disk.
func OpenStore(dir string) (*Store, error) {
	if dir == "" {
		state, err := safe.StateDir()
		if err != nil {
			return nil, fmt.Errorf("there is no place for credentials: %w", err)
		}
		dir = filepath.Join(state, "a2astdio", "credentials")
	}
	return &Store{dir: dir}, nil
}

// file returns the path of the file for an origin and a client.
func (s *Store) file(origin, client string) string {
	sum := sha256.Sum256([]byte(origin + "\n" + client))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:16])+suffix)
}

// A stored is a file's JSON.
type stored struct {
	Version int `json:"version"`
	Login
	Secrets *Secrets `json:"secrets,omitempty"`
}

// List returns all logins, the newest first, without their secrets; nil without a directory for
// them. It skips unreadable files, and the error is about these.
func (s *Store) List() ([]*Login, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("what auth login has stored cannot be read: %w: make that directory readable, or set XDG_STATE_HOME to another one", err)
	}
	list := []*Login{}
	var bad error
	for _, e := range entries {
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

// Find returns the login for an agent, nil if there is none. A login of the agent's own URL
// comes before others of its origin, and a newer one before an older one. Without a login an
// unreadable file is an error: nobody knows whose it is.
func (s *Store) Find(agent, client string) (*Login, error) {
	origin, at := Origin(agent), safe.Bare(agent)
	var list []*Login
	var bad error
	for range 2 { // a listing may miss a file that is replaced meanwhile
		if list, bad = s.List(); list == nil { // each request asks
			return nil, bad
		}
		list = slices.DeleteFunc(list, func(l *Login) bool { return !l.isFor(origin, client) })
		if len(list) > 0 {
			break
		}
	}
	if len(list) == 0 {
		return nil, bad
	}
	i := max(0, slices.IndexFunc(list, func(l *Login) bool { return l.Agent == at }))
	return s.Get(list[i].Origin, list[i].ClientID)
}

// Get returns a login with its secrets, nil if there is none.
func (s *Store) Get(origin, client string) (*Login, error) {
	file := s.file(origin, client)
	f, err := s.read(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case f.Origin != origin || f.ClientID != client:
		return nil, fmt.Errorf("%s holds another agent's sign-in: remove it and sign in again", file)
	}
	l := &f.Login
	if f.Secrets != nil {
		l.Secrets = *f.Secrets
	}
	return l, nil
}

func (s *Store) read(file string) (*stored, error) {
	b, err := safe.ReadPrivate(file, maxSecret)
	if err != nil {
		return nil, err
	}
	f := new(stored)
	if err := json.Unmarshal(b, f); err != nil || f.Version != 1 || f.Origin == "" {
		return nil, fmt.Errorf("%s is damaged, or of a newer a2astdio: remove it and sign in again", file)
	}
	return f, nil
}

// Put stores a login, and replaces the earlier one. It is on the disk when Put returns:
// a lost refresh token cannot be had again.
func (s *Store) Put(l *Login) error {
	b, err := json.MarshalIndent(&stored{Version: 1, Login: *l, Secrets: &l.Secrets}, "", " ")
	if err != nil {
		return err
	}
	if len(b) > maxSecret {
		return fmt.Errorf("the sign-in is not stored: its tokens have more than %d kB", maxSecret>>10)
	}
	if err := safe.Replace(s.file(l.Origin, l.ClientID), append(b, '\n')); err != nil {
		return fmt.Errorf("the sign-in is not stored: %w", err)
	}
	return nil
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
// process ends. The lock's file stays: removing it could let two in.
func (s *Store) Lock(ctx context.Context, l *Login) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	lock := flock.New(strings.TrimSuffix(s.file(l.Origin, l.ClientID), suffix)+".lock", flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockTry); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("another a2astdio has been renewing the sign-in for %s for more than %v: try again", l.Origin, lockTime)
		}
		return nil, err
	}
	return func() { _ = lock.Close() }, nil // the system would do it, too
}
