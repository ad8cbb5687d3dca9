package signin

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
)

const (
	cardPath = "/.well-known/agent-card.json"
	jwksPath = "/.well-known/jwks.json"
)

// A Signed is an agent whose card is signed by a key of its own, by A2A 1.0 §8.4. It
// shares no code with what checks that.
type Signed struct {
	agent http.Handler
	key   ed25519.PrivateKey
	// Key is the RFC 7638 thumbprint of the key, which is served as a JWKS.
	Key string
}

// Sign returns an agent whose card is signed.
func Sign(agent http.Handler) *Signed {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err) // crypto/rand never fails
	}
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + encode(public) + `"}`))
	return &Signed{agent: agent, key: private, Key: encode(sum[:])}
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// ServeHTTP implements http.Handler.
func (s *Signed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case cardPath:
		card := cardOf(s.agent, r)
		s.sign(card, "http://"+r.Host+jwksPath)
		writeCard(w, card)
	case jwksPath:
		w.Header().Set("Content-Type", "application/jwk-set+json")
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": []any{map[string]string{
			"kty": "OKP", "crv": "Ed25519", "x": encode(s.key.Public().(ed25519.PublicKey)), "kid": s.Key, "alg": "EdDSA", "use": "sig",
		}}})
	default:
		s.agent.ServeHTTP(w, r)
	}
}

// sign adds a signature over all members of the card.
func (s *Signed) sign(card map[string]any, jwks string) {
	protected := encode(canonical(map[string]any{"alg": "EdDSA", "kid": s.Key, "typ": "JOSE", "jku": jwks}))
	signature := ed25519.Sign(s.key, []byte(protected+"."+encode(canonical(card))))
	card["signatures"] = []any{map[string]string{"protected": protected, "signature": encode(signature)}}
}

// canonical writes an object in RFC 8785's form. encoding/json suffices here: names are
// ASCII, there are no numbers, and none of the characters that it escapes without need.
func canonical(object map[string]any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(object) // strings, lists and objects
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// cardOf asks an agent for its card.
func cardOf(agent http.Handler, r *http.Request) (card map[string]any) {
	ask := httptest.NewRequestWithContext(r.Context(), http.MethodGet, "http://"+r.Host+cardPath, nil)
	answer := httptest.NewRecorder()
	agent.ServeHTTP(answer, ask)
	if err := json.Unmarshal(answer.Body.Bytes(), &card); err != nil {
		panic(err) // the agent is a test's
	}
	return card
}

func writeCard(w http.ResponseWriter, card map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(card)
}
