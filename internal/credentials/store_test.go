package credentials

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/internal/credentials/oauth"
	"github.com/a2astdio/a2astdio/internal/safe"
	"github.com/a2astdio/a2astdio/internal/test/must"
)

func aLogin(agent, client string) *Login {
	return &Login{Origin: Origin(agent), Agent: agent, ClientID: client, Created: time.Now(), Account: "me", Provider: &oauth.Provider{Issuer: "https://idp.example", Token: "https://idp.example/token"},
		Secrets: Secrets{Access: "hunter2-access", Refresh: "hunter2-refresh", ClientSecret: "hunter2-client", Keys: []Key{{"query", "k", "hunter2-key"}}}}
}

// A stored login is private, replaced as a whole, and read back unchanged.
func TestStore(t *testing.T) {
	s := testStore(t)
	must.Equal(t, len(must.Get(s.List())(t)), 0)
	a, b := aLogin("https://agent.example/a", "app"), aLogin("https://agent.example/b", "other")
	b.Created = a.Created.Add(time.Second)
	for _, l := range []*Login{a, b} {
		must.Do(t, s.Put(l))
	}
	must.Do(t, filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		info, _ := d.Info()
		perm := info.Mode().Perm()
		must.True(t, os.PathSeparator != '/' || perm&0o077 == 0, path, "has mode", perm)
		return err
	}))
	for _, test := range must.Table[struct{ Agent, Client, Want string }](t, "testdata/found.txt") {
		l, err := s.Find(test.Agent, test.Client)
		got := ""
		if l != nil {
			got = l.ClientID
			if l.Secrets.Refresh != "hunter2-refresh" || l.Secrets.Keys[0].Value != "hunter2-key" || l.Provider.Token != "https://idp.example/token" {
				t.Errorf("%+v", l)
			}
		}
		must.True(t, err == nil && got == test.Want, test.Agent, test.Client, got, test.Want, err)
	}
	must.Do(t, errors.Join(s.Delete(a), s.Delete(a)))
	list, err := s.List()
	must.True(t, len(list) == 1 && err == nil && list[0].Secrets.Access == "", list, err)
}

// A file that others can read, or that is damaged, is not used, and the error tells
// what to do.
func TestStoreRefuses(t *testing.T) {
	s := testStore(t)
	l := aLogin("https://agent.example/a", "app")
	must.Do(t, s.Put(l))
	file := s.file(l.Origin, l.ClientID)
	good, _ := os.ReadFile(file)
	for want, change := range map[string]func(){
		"can be read by others": func() { os.Chmod(file, 0o644) },
		"is damaged":            func() { os.WriteFile(file, good[:len(good)/2], 0o600) },
		"newer a2astdio": func() {
			os.WriteFile(file, bytes.Replace(good, []byte(`"version": 1`), []byte(`"version": 2`), 1), 0o600)
		},
	} {
		if os.PathSeparator == '\\' && strings.Contains(want, "others") {
			continue
		}
		change()
		_, err := s.Find(l.Agent, "")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", want, err)
		}
		os.WriteFile(file, good, 0o600)
		os.Chmod(file, 0o600)
	}
	// A file that was copied to another's name.
	other := aLogin("https://evil.example/a", "app")
	os.WriteFile(s.file(other.Origin, other.ClientID), good, 0o600)
	got, err := s.Get(other.Origin, "app")
	must.True(t, err != nil && got == nil, got, err)
}

// An agent that wants no credentials is asked all the same if another's sign-in cannot be
// read; one that wants some gets the error.
func TestUnreadableOfAnother(t *testing.T) {
	store := testStore(t)
	must.Do(t, safe.Replace(store.file("https://other.example", "app"), []byte("{")))
	for card, want := range map[string]string{
		`"x":1`: "",
		`"securitySchemes":{"b":{"type":"http","scheme":"bearer"}},"security":[{"b":[]}]`: "is damaged",
	} {
		a := newAgent(t, nil)
		a.card, a.takes = card, func(*http.Request) bool { return true }
		c, _ := a.client(t, &Options{Store: store})
		must.Get(c.Card(t.Context()))(t)
		must.Fail(t, prompt(t.Context(), c), want, card)
	}
}

// One process has the lock, and a waiting one gets an error; a lock ends with its
// process, or when released.
func TestLock(t *testing.T) {
	s := testStore(t)
	l := aLogin("https://agent.example/a", "app")
	unlock := must.Get(s.Lock(t.Context(), l))(t)
	ctx, cancel := context.WithTimeout(t.Context(), 120*time.Millisecond)
	defer cancel()
	_, err := s.Lock(ctx, l)
	must.Fail(t, err, "another a2astdio")
	cancel()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Lock(gone, l); !errors.Is(err, context.Canceled) { // who gives up is told nothing of others
		t.Error(err)
	}
	unlock()
	unlock = must.Get(s.Lock(t.Context(), l))(t)
	unlock()
}
