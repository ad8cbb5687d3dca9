package peers

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A verdict is what card verify says of a signature.
type verdict struct{ Status, Form, Thumbprint string }

// a2astdio runs the program under test, and returns what it wrote to stdout.
func a2astdio(t *testing.T, status int, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(binary, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != status {
		t.Fatalf("a2astdio %s: status %d, want %d\n%s%s", strings.Join(args, " "), got, status, stdout.String(), stderr.String())
	}
	return stdout.String()
}

var signatureSays = regexp.MustCompile(`(?m)^Signature 1 of \d+: (.*)$`)
var formSays = regexp.MustCompile(`(?m)^  form +([\w-]+):`)
var thumbprintSays = regexp.MustCompile(`sha256:[\w-]{43}`)

// verifyCard returns what is said of the first signature.
func verifyCard(t *testing.T, status int, args ...string) verdict {
	t.Helper()
	out := a2astdio(t, status, append([]string{"card", "verify"}, args...)...)
	first := func(r *regexp.Regexp) string {
		if m := r.FindStringSubmatch(out); m != nil {
			return m[len(m)-1]
		}
		return ""
	}
	v := verdict{first(signatureSays), first(formSays), first(thumbprintSays)}
	if v.Status == "" {
		t.Fatalf("it says nothing of a signature: %s", out)
	}
	return v
}

// The SDK servers' cards are verified, with the key as JWKS and by its thumbprint; with
// --require-signature the agent can be used.
func TestSignedServers(t *testing.T) {
	goURL := serve(t, buildIn(t, "a2ago", "v1"), "-sign")
	checkSigned(t, goURL, goURL, "known")
	checkSigned(t, goURL, goURL+"/pure", "as-served") // 1.0 alone
	url := serve(t, "node", filepath.Join("a2ajs", "server.mjs"), installJS(t), "a2a-js-1", "sign")
	checkSigned(t, url, url, "non-empty")
	thumb := verifyCard(t, 0, "--signature-key", url+"/jwks.json", "--agent", url).Thumbprint
	verifyCard(t, 0, "--signature-key", url+"/jwks.json#"+thumb, "--agent", url)
}

func checkSigned(t *testing.T, url, card, form string) {
	t.Helper()
	key := url + "/jwks.json"
	v := verifyCard(t, 0, "--signature-key", key, "--agent", card)
	if v.Status != "valid" || v.Form != form {
		t.Errorf("%+v, want it to be valid in the form %s", v, form)
	}
	for _, version := range []string{"auto", "1.0"} {
		out := a2astdio(t, 0, "--agent", card, "--require-signature", "--signature-key", key, "--a2a-version", version, "send", "message")
		contains(t, "the answer", out, "direct reply")
	}
	other := filepath.Join(t.TempDir(), "other.json")
	write(t, other, `{"kty":"OKP","crv":"Ed25519","kid":"other","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`)
	a2astdio(t, 1, "--agent", card, "--require-signature", "--signature-key", other, "send", "message")
}

// Each card that a2a-js signs is verified: the canonical JSON is the same. Changes are
// detected.
func TestCardsOfJS(t *testing.T) {
	dir, out := installJS(t), t.TempDir()
	const cards = 200
	node(t, 0, "sign.mjs", dir, out, fmt.Sprint(cards))
	forms := map[string]int{}
	for i := range cards {
		file := filepath.Join(out, fmt.Sprint(i, ".json"))
		v := verifyCard(t, 0, "--signature-key", filepath.Join(out, "jwks.json"), file)
		forms[v.Form]++
	}
	if forms["sdk"] < cards/10 || len(forms) < 2 {
		t.Errorf("the cards are too much alike: %v", forms)
	}
	file := filepath.Join(out, "0.json")
	card := mustGet(os.ReadFile(file))(t)
	write(t, file, strings.Replace(string(card), `"version":"1"`, `"version":"2"`, 1))
	if v := verifyCard(t, 1, "--signature-key", filepath.Join(out, "jwks.json"), file); v.Status != "not valid" {
		t.Errorf("changed, and %+v", v)
	}
}

// a2a-js accepts signatures of card sign, but for cards with empty members, of which it does
// not follow the specification (a2a-js #627).
func TestJSVerifies(t *testing.T) {
	dir, out := installJS(t), t.TempDir()
	private, jwks := filepath.Join(out, "private.json"), filepath.Join(out, "jwks.json")
	// The key of RFC 8037, Appendix A, and its thumbprint.
	write(t, jwks, `{"keys":[{"kty":"OKP","crv":"Ed25519","alg":"EdDSA","kid":"kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`)
	write(t, private, `{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`)
	const full = `{"name":"Ω 😀","description":"d","version":"1","capabilities":{"streaming":false},
		"supportedInterfaces":[{"url":"http://127.0.0.1:1/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
		"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{"id":"s","name":"S","description":"d","tags":["t"]}]}`
	for _, v := range []struct {
		card   string
		status int
	}{{full, 0}, {strings.Replace(full, `"d",`, `"",`, 1), 1}} {
		card, signed := filepath.Join(out, "card.json"), filepath.Join(out, "signed.json")
		write(t, card, v.card)
		write(t, signed, a2astdio(t, 0, "card", "sign", "--key", private, card))
		node(t, v.status, "sign.mjs", dir, "verify", jwks, signed)
	}
}

// node runs a script of a2ajs.
func node(t *testing.T, status int, script string, args ...string) {
	t.Helper()
	cmd := exec.Command("node", append([]string{filepath.Join("a2ajs", script)}, args...)...)
	out, _ := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != status {
		t.Fatalf("%s: status %d, want %d\n%s", script, got, status, out)
	}
}
