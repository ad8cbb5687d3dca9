package cardsign

import (
	"crypto"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// A card that is signed with each algorithm is valid as a whole; a key's own alg decides.
func TestAlgorithms(t *testing.T) {
	for alg, k := range map[string]crypto.Signer{"ES256": ecKey(), "RS256": rsaKey(), "PS256": rsaKey(), "EdDSA": edKey()} {
		private := must.Get((&jose.JSONWebKey{Key: k, Algorithm: alg}).MarshalJSON())(t)
		s := must.Get(NewSigner(private, "one", "https://keys.example/"))(t)
		out, err := s.Sign([]byte(sampleCard))
		if err != nil || out.LeftOut != nil {
			t.Fatalf("%s: %v, %+v", alg, err, out)
		}
		keys := publicFile(t, k)
		r := verify(t, verifier(t, keys), string(out.Card))
		wantVerdict(t, r, Valid, keys)
		v := r.Verdicts[0]
		if v.Form.Name != FormAsServed || v.LeftOut != nil || v.Algorithm != alg || v.KeyID != "one" || v.Thumbprint != s.Thumbprint() || v.JKU != "https://keys.example/" {
			t.Errorf("%s: %+v", alg, v)
		}
		must.Equal(t, string(r.Card()), string(out.Card), alg)
	}
}

// What proves nothing is not valid, and the verdict tells why.
func TestNoProof(t *testing.T) {
	trusted := verifier(t, publicFile(t, edKey(), rsaKey(), ecKey()))
	der := must.Get(x509.MarshalPKIXPublicKey(rsaKey().Public()))(t)
	object := must.Get(parseObject([]byte(sampleCard)))(t)
	payload := canonical(object)
	// The oldest trick: the RSA key, which everybody knows, as the secret.
	confused := func(secret []byte) string {
		header := `{"alg":"HS256","kid":"k"}`
		mac := hmac.New(sha256.New, secret)
		fmt.Fprintf(mac, "%s.%s", base64.RawURLEncoding.EncodeToString([]byte(header)), base64.RawURLEncoding.EncodeToString(payload))
		return withSignature(t, header, base64.RawURLEncoding.EncodeToString(mac.Sum(nil)))
	}
	good := signed(t, sampleCard, edKey(), "")
	value := strings.Split(strings.Split(good, `"signature":"`)[1], `"`)[0]
	for name, v := range map[string]struct {
		card   string
		status Status
		words  string
	}{
		"alg none":               {withSignature(t, `{"alg":"none"}`, ""), Refused, "alg none"},
		"alg None with a value":  {withSignature(t, `{"alg":"nOnE"}`, "AAAA"), Refused, "alg none"},
		"no value":               {withSignature(t, `{"alg":"ES256"}`, ""), Refused, "no signature"},
		"HS256 with PEM":         {confused(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), Refused, "shared secret"},
		"HS256 with DER":         {confused(der), Refused, "shared secret"},
		"an algorithm less":      {withSignature(t, `{"alg":"RS1"}`, "AAAA"), Refused, `"RS1" is none of`},
		"no algorithm":           {withSignature(t, `{"kid":"x"}`, "AAAA"), Refused, "is none of"},
		"an algorithm twice":     {withSignature(t, `{"alg":"none","alg":"EdDSA"}`, value), Refused, "readers do not agree"},
		"a header that is none":  {withSignature(t, `"alg"`, "AAAA"), Refused, "no JSON object"},
		"something critical":     {withSignature(t, `{"alg":"EdDSA","crit":["exp"],"exp":1}`, value), Refused, "has crit"},
		"a b64 that is not told": {withSignature(t, `{"alg":"EdDSA","b64":false}`, value), Refused, "has b64"},
		"another key type":       {withSignature(t, `{"alg":"ES256"}`, value), Invalid, "does not fit"},
		"a key in its own words": {edited(t, sampleCard, map[string]any{"signatures": []any{map[string]any{"header": map[string]string{"alg": "EdDSA"}, "signature": value}}}), Refused, "no JSON Web Signature"},
		"no object":              {edited(t, sampleCard, map[string]any{"signatures": []any{"x"}}), Refused, "no JSON Web Signature"},
		"another's header":       {withSignature(t, `{"alg":"EdDSA","kid":"k"}`, value), Invalid, "changed after it was signed"},
		"tampered":               {edited(t, good, map[string]any{"name": "Sample 2"}), Invalid, "changed after it was signed"},
		"a member more":          {edited(t, good, map[string]any{"url": "https://evil.example/"}), Valid, ""}, // which is not used: below
		"a member less":          {edited(t, good, map[string]any{"capabilities": nil}), Invalid, ""},
		"a wrong key":            {signed(t, sampleCard, edKey2(), "k"), Invalid, "another key signed it"},
	} {
		t.Run(name, func(t *testing.T) { wantVerdict(t, verify(t, trusted, v.card), v.status, v.words) })
	}
}

// A card with a further member can be valid only because users of the card do not get
// that member: the form that fits leaves it out.
func TestUnsignedIsNotUsed(t *testing.T) {
	card := edited(t, signed(t, sampleCard, edKey(), ""), map[string]any{"url": "https://evil.example/", "preferredTransport": "JSONRPC"})
	r := verify(t, verifier(t, publicFile(t, edKey())), card)
	wantVerdict(t, r, Valid, "")
	if v := r.Signed(); v.Form.Name != "known" || !slices.Equal(v.LeftOut, []string{"/preferredTransport", "/url"}) {
		t.Errorf("form %s leaves out %v", v.Form.Name, v.LeftOut)
	}
	var used map[string]any
	if err := json.Unmarshal(r.Card(), &used); err != nil || used["url"] != nil || used["preferredTransport"] != nil || used["name"] != "Sample" || used["signatures"] == nil {
		t.Errorf("%v: the card that is used is %s", err, r.Card())
	}
}

// After a change of any byte, a signed card is invalid, or means the same.
func TestEveryByte(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, which the race detector makes slow")
	}
	trusted := verifier(t, publicFile(t, edKey()))
	card := signed(t, sampleCard, edKey(), "")
	before := verify(t, trusted, card).Card()
	content := func(card []byte) string {
		object := must.Get(parseObject(card))(t)
		delete(object, "signatures")
		return string(canonical(object))
	}
	changed := 0
	for i := range card {
		b := []byte(card)
		if b[i] ^= 1; b[i] == card[i] {
			continue
		}
		r, err := trusted.Verify(t.Context(), b)
		if err != nil || r.Err() != nil {
			changed++
			continue
		}
		must.Equal(t, content(r.Card()), content(before), i)
	}
	must.Equal(t, changed < len(card)/2, false, "found out: ", changed)
}

// Cards that others have signed: see testdata/README.md.
func TestOthers(t *testing.T) {
	js, py := filepath.Join("testdata", "a2a-js-1.3.0"), filepath.Join("testdata", "python")
	for _, v := range []struct {
		dir, card, keys string
		status          Status
		form            string
		leftOut         string // one that is
	}{
		{js, "plain.json", "jwks.json", Valid, FormSDK, "/description"},
		{js, "leaked.json", "jwks.json", Valid, FormSDK, "/securitySchemes"},
		{py, "v1.json", "public.pem", Valid, "sdk-python", "/capabilities/extensions/0/params/none"},
		{py, "hybrid.json", "public.pem", Valid, "sdk-python", "/preferredTransport"},
		{py, "bearer.json", "public.pem", Valid, "sdk-python", "/securityRequirements"},
	} {
		t.Run(v.card, func(t *testing.T) {
			b := must.Get(os.ReadFile(filepath.Join(v.dir, v.card)))(t)
			r := verify(t, verifier(t, filepath.Join(v.dir, v.keys)), string(b))
			wantVerdict(t, r, v.status, "")
			got := r.Verdicts[0]
			if got.Form.Name != v.form || !slices.Contains(got.LeftOut, v.leftOut) {
				t.Errorf("form %s leaves out %v, want %s without %s", got.Form.Name, got.LeftOut, v.form, v.leftOut)
			}
			changed := strings.Replace(string(b), `"version": "1.0.0"`, `"version": "1.0.1"`, 1)
			changed = strings.Replace(changed, `"version":"1.0.0"`, `"version":"1.0.1"`, 1)
			wantVerdict(t, verify(t, verifier(t, filepath.Join(v.dir, v.keys)), changed), Invalid, "")
		})
	}
}

// One good signature is enough, whatever stands beside it, and the one that leaves
// out least counts.
func TestSeveral(t *testing.T) {
	card := signed(t, sampleCard, edKey2(), "old")
	card = inForm(t, card, rsaKey(), FormSDK, "")
	card = signed(t, card, edKey(), "new")
	card = edited(t, card, map[string]any{"x": ""})
	r := verify(t, verifier(t, publicFile(t, edKey(), rsaKey())), card)
	got := statuses(r)
	must.True(t, slices.Equal(got, []Status{Invalid, Valid, Valid}) && r.Err() == nil && r.Signed().KeyID != "new", got, r.Err(), r.Signed())
	r = verify(t, verifier(t), card)
	got = statuses(r)
	must.True(t, slices.Equal(got, []Status{UnknownKey, UnknownKey, UnknownKey}) && strings.Contains(fmt.Sprint(r.Err()), "--signature-key"), got, r.Err())
	must.Fail(t, verify(t, verifier(t), sampleCard).Err(), "the card is not signed")
}

func statuses(r *Report) (all []Status) {
	for _, v := range r.Verdicts {
		all = append(all, v.Status)
	}
	return all
}

// Cards that cannot be checked are refused, also those that would need much work.
func TestUncheckable(t *testing.T) {
	trusted := verifier(t, publicFile(t, edKey()))
	good := signed(t, sampleCard, edKey(), "")
	for card, words := range map[string]string{
		strings.Replace(good, `"name"`, `"name":"x","name"`, 1):                  "readers do not agree",
		strings.Replace(good, `"name"`, `"n\u0061me":"x","name"`, 1):             "readers do not agree",
		strings.Replace(good, `"signatures"`, `"signatures":[],"signatures"`, 1): "readers do not agree",
		edited(t, sampleCard, map[string]any{"signatures": map[string]any{}}):    "no list",
		edited(t, sampleCard, map[string]any{"signatures": make([]any, 17)}):     "17 signatures",
		`[]`: "no JSON object",
	} {
		_, err := trusted.Verify(t.Context(), []byte(card))
		must.Fail(t, err, words, card)
	}
}

// A signature that does not fit costs a bounded number of attempts, and takes none from
// others.
func TestAttempts(t *testing.T) {
	var set []string
	for i := range maxKeys {
		public, _, _ := ed25519.GenerateKey(rand.Reader)
		if i == maxKeys-1 {
			public = edKey().Public().(ed25519.PublicKey)
		}
		set = append(set, fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","kid":"%d","x":%q}`, i, base64.RawURLEncoding.EncodeToString(public)))
	}
	card := edited(t, sampleCard, map[string]any{"description": "", "capabilities": map[string]any{"extensions": []any{}}, "vendor": 1})
	for i := range maxSignatures - 1 {
		card = signed(t, card, edKey2(), fmt.Sprint(i))
	}
	card = inForm(t, card, edKey(), FormSDK, fmt.Sprint(maxKeys-1))
	r := verify(t, verifier(t, file(t, "jwks.json", `{"keys":[`+strings.Join(set, ",")+`]}`)), card)
	first := r.Verdicts[0]
	must.True(t, first.Status == UnknownKey && strings.Contains(first.Says, "given up"), first)
	must.Equal(t, r.Verdicts[maxSignatures-1].Status, Valid)
}

// A key that a card itself points to is not trusted, and not even fetched.
func TestOwnKeys(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer server.Close()
	s := must.Get(NewSigner(privatePEM(t, edKey()), "k", server.URL+"/jwks.json"))(t)
	out := must.Get(s.Sign([]byte(sampleCard)))(t)
	r := verify(t, verifier(t, file(t, "k.json", `{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"other","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`)), string(out.Card))
	wantVerdict(t, r, UnknownKey, "if you trust that place")
	// The example of RFC 8037, Appendix A.4, has a key that everybody can sign with.
	const own = `{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`
	private := must.Get(parsePrivate([]byte(own)))(t)
	embedded := signedRaw(t, private, `{"alg":"EdDSA","jwk":{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}}`)
	wantVerdict(t, verify(t, verifier(t), embedded), UnknownKey, "")
	must.Equal(t, asked.Load(), 0, "the key was asked for where the card says that it is")
}
