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

// minKey is a key's least length in bytes: the hash's, below which HMAC is no stronger
// than its key (RFC 2104, §3).
const minKey = 32

// A Key makes tokens for a receiver that knows no bridge: a token is an HMAC of its
// path. The receiver has the master key. A person's bridge has a key derived from it
// ([Key.For]), which makes tokens for that person's paths only.
type Key []byte

// ReadKey reads a key from a file: base64, hexadecimal or any other text of at least 32
// bytes. It ignores surrounding blanks.
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

// token is the token of a person's address; k is the person's key.
func (k Key) token(person, name string) string {
	return base64.RawURLEncoding.EncodeToString(k.sum("a2astdio webhook token\n" + person + "/" + name))
}

func (k Key) sum(text string) []byte {
	h := hmac.New(sha256.New, k)
	h.Write([]byte(text)) // it does not fail
	return h.Sum(nil)
}

// CheckPerson checks the name of a person, which is part of URLs and NATS names.
func CheckPerson(person string) error {
	if !regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`).MatchString(person) {
		return fmt.Errorf("%q is no name of a mailbox: it is letters, digits, - and _", person)
	}
	return nil
}
