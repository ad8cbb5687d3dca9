package trace

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// Logs mask what becomes known while the program runs, also in a URL's form.
func TestSecretsThatComeLater(t *testing.T) {
	var out strings.Builder
	secrets := new(Secrets)
	log := Masked(&out, &Options{Later: secrets})
	fmt.Fprintln(log, "before: hunter2/odd one")
	secrets.Add("hunter2/odd one", "x")
	fmt.Fprintln(log, "after: hunter2/odd one, /?k=hunter2%2Fodd+one, x")
	if got := out.String(); got != "before: hunter2/odd one\nafter: ***, /?k=***, x\n" {
		t.Errorf("%q", got)
	}
}

// A trace masks it from the next line on: in texts, in JSON within JSON, and in pieces.
func TestSecretsThatComeLaterInATrace(t *testing.T) {
	var out bytes.Buffer
	secrets := new(Secrets)
	r := New(&out, &Options{Later: secrets})
	const secret = `hunter2/"odd" one`
	secrets.Add(secret)
	r.Tap(true, []byte(`{"jsonrpc":"2.0","method":"x","params":{"text":"is hunter2/\"odd\" one?","nested":"{\"a\":\"hunter2/\\\"odd\\\" one\"}"}}`))
	secrets.Add("another-planted-one")
	for _, piece := range []string{"so another-pla", "nted-one it is"} {
		r.Tap(true, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}}}`, piece))
	}
	r.Stderr([]byte("it was another-planted-one"))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for _, leaked := range []string{"hunter2", "odd", "another-pla", "nted-one"} {
		if strings.Contains(out.String(), leaked) {
			t.Errorf("%q is in the trace:\n%s", leaked, &out)
		}
	}
	if !strings.Contains(out.String(), "it is") {
		t.Errorf("too much is masked:\n%s", &out)
	}
}

// They may come from several goroutines. The newest are kept.
func TestManySecretsThatComeLater(t *testing.T) {
	secrets := new(Secrets)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for j := range maxSecrets {
				secrets.Add(fmt.Sprint("token-", i, "-", j))
				_ = secrets.all()
			}
		})
	}
	wg.Wait()
	secrets.Add("the-last-one")
	if list := *secrets.all(); len(list) != maxSecrets || list[maxSecrets-1] != "the-last-one" {
		t.Errorf("%q", list)
	}
	m := newMasker(nil, []string{"the-first-one"}, secrets)
	if got := m.text("the-first-one, the-last-one, neither"); got != "***, ***, neither" {
		t.Error(got)
	}
}
