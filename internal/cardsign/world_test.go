package cardsign

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// sampleCard is signed alike by every rule that is followed here: nothing of it is
// empty or unknown, and its requirement has a scope.
const sampleCard = `{
  "name": "Sample", "description": "Signs.", "version": "1",
  "supportedInterfaces": [{"url": "https://agent.example/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
  "capabilities": {"streaming": true},
  "securitySchemes": {"oidc": {"openIdConnectSecurityScheme": {"openIdConnectUrl": "https://id.example/"}}},
  "securityRequirements": [{"schemes": {"oidc": {"list": ["openid"]}}}],
  "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
  "skills": [{"id": "s", "name": "S", "description": "d", "tags": ["t"]}]
}`

// The private keys of the tests, made once.
var (
	edKey  = sync.OnceValue(func() crypto.Signer { _, k, _ := ed25519.GenerateKey(rand.Reader); return k })
	edKey2 = sync.OnceValue(func() crypto.Signer { _, k, _ := ed25519.GenerateKey(rand.Reader); return k })
	ecKey  = sync.OnceValue(func() crypto.Signer { k, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader); return k })
	rsaKey = sync.OnceValue(func() crypto.Signer { k, _ := rsa.GenerateKey(rand.Reader, 2048); return k })
)

func privatePEM(t *testing.T, k crypto.Signer) []byte {
	t.Helper()
	der := must.Get(x509.MarshalPKCS8PrivateKey(k))(t)
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// publicFile writes the public keys of some private ones, and returns the file.
func publicFile(t *testing.T, keys ...crypto.Signer) string {
	t.Helper()
	var all []byte
	for _, k := range keys {
		der := must.Get(x509.MarshalPKIXPublicKey(k.Public()))(t)
		all = append(all, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})...)
	}
	return file(t, "public.pem", string(all))
}

func file(t *testing.T, name, content string) string {
	t.Helper()
	return must.File(t, content, t.TempDir(), name)
}

func signed(t *testing.T, card string, k crypto.Signer, keyID string) string {
	t.Helper()
	s := must.Get(NewSigner(privatePEM(t, k), keyID, ""))(t)
	out := must.Get(s.Sign([]byte(card)))(t)
	return string(out.Card)
}

func verifier(t *testing.T, keys ...string) *Verifier {
	t.Helper()
	return must.Get(NewVerifier(keys, nil))(t)
}

func verify(t *testing.T, v *Verifier, card string) *Report {
	t.Helper()
	return must.Get(v.Verify(t.Context(), []byte(card)))(t)
}

// edited changes the members of a card, by its JSON: nil removes.
func edited(t *testing.T, card string, members map[string]any) string {
	t.Helper()
	object := map[string]any{}
	must.Do(t, json.Unmarshal([]byte(card), &object))
	maps.Copy(object, members)
	maps.DeleteFunc(object, func(_ string, v any) bool { return v == nil })
	return string(must.Get(json.Marshal(object))(t))
}

// withSignature is sampleCard with one signature, of a header and a value.
func withSignature(t *testing.T, header, value string) string {
	t.Helper()
	return edited(t, sampleCard, map[string]any{"signatures": []any{map[string]string{
		"protected": base64.RawURLEncoding.EncodeToString([]byte(header)), "signature": value,
	}}})
}

// wantVerdict demands a status, and words of what it says, of the first signature.
func wantVerdict(t *testing.T, r *Report, want Status, words string) {
	t.Helper()
	if len(r.Verdicts) == 0 {
		t.Fatalf("no verdict, want %s", want)
	}
	if v := r.Verdicts[0]; v.Status != want || !strings.Contains(v.Says, words) {
		t.Errorf("%s: %s (form %s, left out %v), want %s with %q", v.Status, v.Says, v.Form.Name, v.LeftOut, want, words)
	}
	if (r.Err() == nil) != (want == Valid) || (r.Card() == nil) != (want != Valid) {
		t.Errorf("%s, but the report's error is %v and its card %q", want, r.Err(), r.Card())
	}
}

// Thumbprint names the signer's key.
func (s *Signer) Thumbprint() string {
	thumb, _ := Thumbprint(&s.public) // NewSigner has made it, or one like it
	return thumb
}
