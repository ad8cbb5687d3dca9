package cardsign

import (
	"crypto"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

// inForm signs a card in a form that card sign does not write.
func inForm(t *testing.T, card string, k crypto.Signer, form, keyID string) string {
	t.Helper()
	s := must.Get(NewSigner(privatePEM(t, k), keyID, ""))(t)
	s.form, _ = formNamed(form)
	return string(must.Get(s.Sign([]byte(card)))(t).Card)
}

// signedRaw signs the sample under a header that is written as it is given.
func signedRaw(t *testing.T, k *jose.JSONWebKey, header string) string {
	t.Helper()
	object := must.Get(parseObject([]byte(sampleCard)))(t)
	input := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString(canonical(object))
	value := must.Get(k.Key.(crypto.Signer).Sign(nil, []byte(input), crypto.Hash(0)))(t)
	return withSignature(t, header, base64.RawURLEncoding.EncodeToString(value))
}

// Signing adds a signature and leaves the rest of the text as it is.
func TestSignKeepsText(t *testing.T) {
	for _, row := range must.Table[[2]string](t, "testdata/signed.txt") {
		before, after := row[0], row[1]
		got := signed(t, before, edKey(), "")
		begin, end, _ := strings.Cut(after, "*")
		if !strings.HasPrefix(got, begin+`{"protected":"`) || !strings.HasSuffix(got, `"}`+end) {
			t.Errorf("%s became %s, want %s", before, got, after)
		}
		r := verify(t, verifier(t, publicFile(t, edKey())), got)
		must.Equal(t, r.Verdicts[len(r.Verdicts)-1].Status, Valid, got)
	}
	for card, words := range map[string]string{`[]`: "no JSON object", `{"a":1,"a":2}`: "Duplicate key", `{"signatures":1}`: "no list"} {
		s := must.Get(NewSigner(privatePEM(t, edKey()), "", ""))(t)
		_, err := s.Sign([]byte(card))
		must.Fail(t, err, words, card)
	}
}

// The header has what A2A 1.0 §8.4.2 asks for: alg, typ and kid; jku if it is
// given. The key ID is the thumbprint if nobody says otherwise.
func TestSignedHeader(t *testing.T) {
	s := must.Get(NewSigner(privatePEM(t, rsaKey()), "", "https://agent.example/jwks.json"))(t)
	var c struct{ Signatures []struct{ Protected string } }
	must.Do(t, json.Unmarshal(must.Get(s.Sign([]byte(sampleCard)))(t).Card, &c))
	want := `{"alg":"RS256","jku":"https://agent.example/jwks.json","kid":"` + strings.TrimPrefix(s.Thumbprint(), pinPrefix) + `","typ":"JOSE"}`
	must.Equal(t, string(must.Get(base64.RawURLEncoding.DecodeString(c.Signatures[0].Protected))(t)), want)
}

// The example of A2A 1.0 §8.4.1 becomes what the specification prints.
func TestSpecificationExample(t *testing.T) {
	const card = `{"name":"Example Agent","description":"","capabilities":{"streaming":false,"pushNotifications":false,"extensions":[]},"skills":[]}`
	object := must.Get(parseObject([]byte(card)))(t)
	for name, want := range map[string]string{
		FormSpecification: `{"capabilities":{"pushNotifications":false,"streaming":false},"description":"","name":"Example Agent","skills":[]}`,
		// The SDKs' own tests have this, against the specification.
		FormSDK: `{"capabilities":{"pushNotifications":false,"streaming":false},"name":"Example Agent"}`,
	} {
		f, _ := formNamed(name)
		got, _, _ := f.bytes(object)
		must.Equal(t, string(got), want, name)
	}
}

// What is signed is the card less what is reported as left out, and the members
// that the specification's second reading adds: for every card and every form.
func FuzzForms(f *testing.F) {
	f.Add([]byte(sampleCard))
	f.Add([]byte(`{"name":null,"a/b~":{"":[]},"skills":[{},{"tags":[""],"securityRequirements":[{"schemes":{"x":{}}}]}],"provider":{},"signatures":[1]}`))
	f.Add([]byte(`{"capabilities":{"extensions":[{"required":false,"params":{"a":[null,{"b":""},0,false]}}]},"protocolVersion":"0.3.0","securitySchemes":{"a":{"type":"x","m":{"type":1}},"m":3}}`))
	f.Add([]byte(`{"skills":{"a":[]},"securitySchemes":[""],"capabilities":"","defaultInputModes":{"a":""}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		card, err := parseObject(b)
		if err != nil {
			return
		}
		delete(card, "signatures")
		before := string(canonical(card))
		for _, form := range Forms() {
			payload, signed, leftOut := form.bytes(card)
			must.Equal(t, string(canonical(card)), before, form.Name)
			again, err := parseObject(payload)
			if err != nil || string(canonical(again)) != string(canonical(signed)) {
				t.Fatalf("%s: %q is not what is said to be signed: %v", form.Name, payload, err)
			}
			var rest any = card
			for _, path := range slices.Backward(byPlace(leftOut)) {
				rest = without(t, rest, path)
			}
			must.Equal(t, string(canonical(signed)), string(canonical(rest)), form.Name, before, leftOut)
		}
	})
}

// byPlace splits pointers and sorts them so that of two elements of an array the
// first comes first.
func byPlace(pointers []string) (paths [][]string) {
	for _, p := range pointers {
		parts := strings.Split(p, "/")[1:]
		for i, part := range parts {
			parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		}
		paths = append(paths, parts)
	}
	slices.SortFunc(paths, func(a, b []string) int {
		return slices.CompareFunc(a, b, func(a, b string) int {
			m, errA := strconv.Atoi(a)
			n, errB := strconv.Atoi(b)
			if errA == nil && errB == nil {
				return m - n
			}
			return strings.Compare(a, b)
		})
	})
	return paths
}

// without returns a copy of a value that lacks what a path leads to.
func without(t *testing.T, v any, path []string) any {
	switch v := v.(type) {
	case map[string]any:
		out := maps.Clone(v)
		inner, ok := v[path[0]]
		if !ok {
			t.Fatalf("there is no %q", path)
		}
		if delete(out, path[0]); len(path) > 1 {
			out[path[0]] = without(t, inner, path[1:])
		}
		return out
	case []any:
		i, err := strconv.Atoi(path[0])
		if err != nil || i >= len(v) {
			t.Fatalf("there is no %q", path)
		}
		if len(path) == 1 {
			return slices.Delete(slices.Clone(v), i, i+1)
		}
		out := slices.Clone(v)
		out[i] = without(t, v[i], path[1:])
		return out
	}
	t.Fatalf("%v has nothing at %q", v, path)
	return nil
}

// Python's json.dumps writes ASCII, sorts by code points and has floats of its own
// kind: each of these was written by CPython 3.11.
func TestPython(t *testing.T) {
	const in = `{"\ufb33":1,"\ud83d\ude00":"\u007fé😀\b\"","f":[1.0,1e16,123456789012345680.0,1e-5,0.0001,-0.0,1.5e300,100,-7]}`
	v := must.Get(parseObject([]byte(in)))(t)
	const want = `{"f":[1.0,1e+16,1.2345678901234568e+17,1e-05,0.0001,-0.0,1.5e+300,100.0,-7.0],"\ufb33":1.0,"\ud83d\ude00":"\u007f\u00e9\ud83d\ude00\b\""}`
	must.Equal(t, string(pythonDumps(v)), want)
}

// JSON that readers interpret differently is refused.
func TestParseRefuses(t *testing.T) {
	for _, in := range []string{
		`[]`, ``, `{"a":1}x`, `{"a":01}`, `{"a":1,"a":1}`, `{"a":{"b":[{"c":1,"\u0063":2}]}}`, `{"a":1e400}`, `{"a":"\ud800"}`, `{"a":"\udc00\ud800"}`,
		`{"a":"\ud800\u0041"}`, `{"a":"\ud800x"}`, `{"\udfff":1}`, "{\"a\":\"\xff\"}", `{"a":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`,
	} {
		_, err := parseObject([]byte(in))
		must.Equal(t, err != nil, true, in)
	}
	must.Get(parseObject([]byte(`{"a":"\\ud800 \"\\","😀":"\ud83d\ude00\\"}`)))(t)
}
