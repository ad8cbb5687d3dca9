package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// minKey is how many bytes a key has at least: as many as the hash, below which HMAC
// is no stronger than its key (RFC 2104, §3).
const minKey = 32

// A Key makes the tokens of a receiver that knows no bridge: a token is an HMAC of
// its path. The receiver has the master key; a person's bridge has the one that is
// derived for him ([Key.For]), which makes tokens for his own paths only.
type Key []byte

// ReadKey reads a key from a file: base64, hexadecimal or any other text of at least
// 32 bytes. Blanks around it do not count.
func ReadKey(file string) (Key, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("the key: %w", err)
	}
	text := strings.TrimSpace(string(b))
	if len(text) < minKey {
		return nil, fmt.Errorf("the key in %s has %d characters: it needs %d at least, as from: openssl rand -hex 32", file, len(text), minKey)
	}
	return Key(text), nil
}

// For derives the key of a person's bridge from the master key.
func (k Key) For(person string) Key {
	return Key(hex.EncodeToString(k.sum("a2astdio webhook key\n" + person)))
}

// token is that of one of a person's addresses; k is the person's key.
func (k Key) token(person, name string) string {
	return base64.RawURLEncoding.EncodeToString(k.sum("a2astdio webhook token\n" + person + "/" + name))
}

func (k Key) sum(text string) []byte {
	h := hmac.New(sha256.New, k)
	h.Write([]byte(text)) // it does not fail
	return h.Sum(nil)
}

// CheckPerson reports what is wrong with the name of a person: it is part of URLs, and
// of names of NATS.
func CheckPerson(person string) error {
	if !regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`).MatchString(person) {
		return fmt.Errorf("%q is no name of a mailbox: it is letters, digits, - and _", person)
	}
	return nil
}
