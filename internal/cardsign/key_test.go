package cardsign

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// Keys that prove nothing, or must not be shared, are refused when they are named.
func TestKeysRefused(t *testing.T) {
	p384 := must.Get(ecdsa.GenerateKey(elliptic.P384(), rand.Reader))(t)
	small := must.Get(rsa.GenerateKey(rand.Reader, 1024))(t)
	const ed = `"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"`
	for content, words := range map[string]string{
		string(privatePEM(t, edKey())): "private key",
		`{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"}`: "private key",
		`{"kty":"oct","k":"c2VjcmV0"}`:            "shared secret",
		`{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}`: "shared secret",
		`{"keys":[]}`:                                     "no key that can check",
		`{` + ed + `,"use":"enc"}`:                        "not to verify",
		`{` + ed + `,"key_ops":["sign"]}`:                 "key_ops",
		`{` + ed + `,"kty":"RSA"}`:                        `Duplicate key: "kty"`,
		`{"kty":"EC","crv":"P-256"}`:                      "no usable JWK",
		`{"a":1}`:                                         "kty is missing",
		`ssh-ed25519 AAAA`:                                "no key",
		``:                                                "no key",
		pemOf(t, "PUBLIC KEY", p384.Public()):             "P-384",
		pemOf(t, "PUBLIC KEY", small.Public()):            "1024 bits",
		pemOf(t, "CERTIFICATE REQUEST", nil):              "no public key",
		pemOf(t, "CERTIFICATE", nil):                      "openssl x509",
		`{"keys":[` + strings.Repeat(`{},`, 100) + `{}]}`: "101 keys",
		strings.Repeat(" ", maxKeyFile+1):                 "larger than 1 MiB",
	} {
		_, err := NewVerifier([]string{file(t, "key", content)}, nil)
		must.Fail(t, err, words, content)
	}
	for name, words := range map[string]string{
		"http://agent.example/jwks.json":       "anybody on the way",
		"http://127.evil.example/jwks":         "anybody on the way",
		"http://localhost.example/jwks":        "anybody on the way",
		"ftp://agent.example/jwks.json":        "no https URL",
		"https:///jwks.json":                   "no URL",
		"there-is-none.pem":                    "cannot be read",
		somePin:                                "stands behind a file",
		publicFile(t, edKey()) + "#" + somePin: "no key with the thumbprint",
	} {
		_, err := NewVerifier([]string{name}, nil)
		must.Fail(t, err, words, name)
	}
	for _, name := range []string{"http://me:secret@agent.example/jwks?key=secret", "https://me:secret@agent.example:port/", "https:///?key=secret"} {
		_, err := NewVerifier([]string{name}, nil)
		must.True(t, err != nil && !strings.Contains(err.Error(), "secret"), err)
	}
}

const somePin = "sha256:kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k" // of RFC 8037, Appendix A.3

func pemOf(t *testing.T, kind string, public any) string {
	t.Helper()
	var der []byte
	if public != nil {
		der = must.Get(x509.MarshalPKIXPublicKey(public))(t)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// All usual forms of keys work. Another key ID does not matter, since the user named
// the key.
func TestKeysTaken(t *testing.T) {
	s := must.Get(NewSigner(privatePEM(t, edKey()), "k", ""))(t)
	card := signed(t, sampleCard, edKey(), "another")
	jwks := must.Get(jwksOf(s))(t)
	var set struct{ Keys []json.RawMessage }
	must.Do(t, json.Unmarshal(jwks, &set))
	pkcs1 := string(pem.EncodeToMemory(&pem.Block{Type: "RSA PUBLIC KEY", Bytes: x509.MarshalPKCS1PublicKey(rsaKey().Public().(*rsa.PublicKey))}))
	for _, name := range []string{
		publicFile(t, edKey2(), edKey()),
		publicFile(t, edKey2(), edKey()) + "#" + s.Thumbprint(),
		file(t, "pkcs1.pem", pkcs1+pemOf(t, "PUBLIC KEY", edKey().Public())),
		file(t, "k.json", string(set.Keys[0])),
		file(t, "k.json", "\uFEFF\n"+string(jwks)),
		file(t, "k.json", `{"keys":[{"kty":"new"},{"kty":"oct","k":"c2VjcmV0"},`+string(set.Keys[0])+`]}`),
	} {
		wantVerdict(t, verify(t, verifier(t, name), card), Valid, "")
	}
	other := strings.Replace(string(set.Keys[0]), `"EdDSA"`, `"ES256"`, 1)
	wantVerdict(t, verify(t, verifier(t, file(t, "k.json", other)), card), UnknownKey, "none of yours")
}

// A JWKS is fetched when a card is checked: without redirects, and its failures are
// told.
func TestFetchedKeys(t *testing.T) {
	s := must.Get(NewSigner(privatePEM(t, edKey()), "k", ""))(t)
	card := signed(t, sampleCard, edKey(), "k")
	jwks := must.Get(jwksOf(s))(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/jwks":
			_, _ = w.Write(jwks)
		case "/moved":
			http.Redirect(w, r, "/jwks", http.StatusFound)
		case "/page":
			fmt.Fprint(w, "<html>")
		case "/large":
			_, _ = w.Write(make([]byte, maxKeyFile+1))
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	wantVerdict(t, verify(t, verifier(t, server.URL+"/jwks"), card), Valid, server.URL)
	wantVerdict(t, verify(t, verifier(t, server.URL+"/jwks#"+s.Thumbprint()), card), Valid, server.URL)
	wantVerdict(t, verify(t, verifier(t, server.URL+"/jwks#"+somePin), card), UnknownKey, "")
	for path, words := range map[string]string{"/moved": "redirect", "/page": "no key", "/large": "larger", "/none?key=secret": "404"} {
		r := verify(t, verifier(t, server.URL+path), card)
		wantVerdict(t, r, UnknownKey, "")
		err := fmt.Sprint(r.Err())
		must.True(t, strings.Contains(err, words) && !strings.Contains(err, "secret"), path, err)
	}
	// One source that is down does not matter if another has the key.
	r := verify(t, verifier(t, server.URL+"/none", publicFile(t, edKey())), card)
	must.True(t, r.Err() == nil && len(r.Problems) == 1, r.Err(), r.Problems)
}

// Every way to give a private key works, and what is none says so.
func TestPrivateKeys(t *testing.T) {
	sec1 := must.Get(x509.MarshalECPrivateKey(ecKey().(*ecdsa.PrivateKey)))(t)
	const private = `"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`
	block := func(kind string, der []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}) }
	for _, b := range [][]byte{
		// openssl ecparam -genkey; openssl genrsa before OpenSSL 3; a certificate with its key
		append(block("EC PARAMETERS", []byte{6, 8}), block("EC PRIVATE KEY", sec1)...),
		block("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rsaKey().(*rsa.PrivateKey))),
		append(block("CERTIFICATE", nil), privatePEM(t, edKey())...),
		privatePEM(t, ecKey()), privatePEM(t, rsaKey()), privatePEM(t, edKey()),
		[]byte(`{"kid":"mine",` + private),
	} {
		must.Get(must.Get(NewSigner(b, "", ""))(t).Sign([]byte(sampleCard)))(t)
	}
	public := must.Get(os.ReadFile(publicFile(t, edKey())))(t)
	for content, words := range map[string]string{
		string(public):              "no private key",
		`{"alg":"RS256",` + private: "EdDSA", `{"use":"enc",` + private: "not to sign", `{"key_ops":["verify"],` + private: "not to sign",
		`{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`: "no private key",
		`{"kty":"oct","k":"c2VjcmV0"}`: "shared secret",
		``:                             "no private key",
		string(block("ENCRYPTED PRIVATE KEY", nil)): "encrypted",
		string(block("PUBLIC KEY", nil)):            "no private key",
		string(block("PRIVATE KEY", nil)):           "cannot be read",
	} {
		_, err := NewSigner([]byte(content), "", "")
		must.Fail(t, err, words, content)
	}
}

// jwksOf is the public key of a signer, as it is served.
func jwksOf(s *Signer) ([]byte, error) {
	return json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{s.public}})
}
