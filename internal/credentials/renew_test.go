package credentials

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/internal/test/signin"
	"github.com/a2astdio/a2astdio/transport"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A sign-in serves this process and later ones. A token is renewed silently: before its
// end, after a refusal, and when a stream is resumed.
func TestRenewal(t *testing.T) {
	a, store := signedIn(t)
	turned := &clock{}
	c, _ := a.client(t, &Options{Store: store, Now: turned.now})
	tokens := func() int { return a.idp.Calls("token") }
	prompts(t, c)
	must.Equal(t, tokens(), 1)
	// Its time is nearly over.
	turned.turn(59*time.Minute + 30*time.Second)
	prompts(t, c)
	must.Equal(t, tokens(), 2)
	must.Equal(t, a.count("401"), 0)
	// It has ended before its time: revoked, or our clock is wrong.
	a.idp.Provider.Expire()
	prompts(t, c)
	must.Equal(t, tokens(), 3)
	must.Equal(t, a.count("401"), 1)
	// In the middle of a stream, which is cut. Of what replaced a refused token within a
	// minute, no other is got.
	turned.turn(2 * freshTime)
	a.between = a.idp.Provider.Expire
	s := must.Get(c.Send(t.Context(), &a2a.Outgoing{ID: "m", Parts: []a2a.OutPart{{Text: "hello"}}}))(t)
	if err := drain(s); err == nil || errors.As(err, new(*a2a.Error)) {
		t.Fatalf("the stream ends with %v", err)
	}
	s = must.Get(c.Resubscribe(t.Context(), "t"))(t)
	if err := drain(s); err != nil || tokens() != 4 || a.count("tasks/resubscribe") != 1 || a.count("401 tasks/resubscribe") != 1 {
		t.Fatalf("%v, %d, %v", err, tokens(), a.calls)
	}
}

// Concurrent prompts of one bridge and of several renew once: otherwise a provider that
// replaces refresh tokens would end the sign-in. A lock on a file does not tell
// processes from clients of one process.
func TestRenewedOnce(t *testing.T) {
	a, store := signedIn(t)
	turned := &clock{}
	var clients []*transport.Client
	for range 3 {
		c, _ := a.client(t, &Options{Store: store, Now: turned.now})
		clients = append(clients, c)
	}
	for round := range 3 {
		a.idp.Provider.Expire()
		turned.turn(2 * freshTime)
		var wg sync.WaitGroup
		for _, c := range clients {
			for range 3 {
				wg.Go(func() { must.Fail(t, prompt(t.Context(), c), "") })
			}
		}
		wg.Wait()
		must.Equal(t, a.idp.Calls("token"), round+2)
	}
}

// An ended sign-in reports what to do, and the provider is asked once.
func TestSignInIsOver(t *testing.T) {
	a, store := signedIn(t)
	c, _ := a.client(t, &Options{Store: store, Cure: "a2astdio auth login"})
	other, _ := a.client(t, &Options{Store: store, Cure: "a2astdio auth login"})
	a.idp.Provider.Expire()
	a.idp.Fail("token", signin.Answer(400, `{"error":"invalid_grant","error_description":"the session was ended by an administrator"}`))
	for range 3 {
		refused(t, c, "ended by an administrator", "sign in with: a2astdio auth login")
		refused(t, other, "has ended")
	}
	must.Equal(t, a.idp.Calls("token"), 2)
	// Another sign-in, by another process, is found by both.
	a.idp.Fail("token", nil)
	third, s := a.client(t, &Options{Store: store})
	card, _ := third.Card(t.Context())
	must.Get(signIn(t, s, &SignIn{Card: card}, &tester{b: signin.Browser{TLS: a.idp.TLS()}}))(t)
	prompts(t, c)
	prompts(t, other)
}

// A provider that is down gives one clear error, and is not asked for a while. The
// sign-in is kept, and a valid token is used.
func TestProviderIsDown(t *testing.T) {
	a, store := signedIn(t)
	turned := &clock{}
	c, _ := a.client(t, &Options{Store: store, Now: turned.now})
	a.idp.Fail("token", signin.Answer(503, "<html>down"))
	turned.turn(59*time.Minute + 30*time.Second)
	for range 3 {
		prompts(t, c)
	}
	must.Equal(t, a.idp.Calls("token"), 2)
	turned.turn(time.Hour)
	for range 5 {
		err := prompt(t.Context(), c)
		if errors.As(err, new(*a2a.Error)) || !errors.Is(err, transport.ErrCredentials) {
			t.Fatal(err)
		}
		must.Has(t, err.Error(), "HTTP 503", "try again in a moment")
	}
	must.Equal(t, []int{a.idp.Calls("token"), a.count("message")}, []int{3, 3}, a.calls)
	a.idp.Fail("token", nil)
	turned.turn(time.Minute)
	prompts(t, c)
}

// Tokens that the agent refuses, such as for another audience: one new token is tried,
// and no more for a while.
func TestWrongAudience(t *testing.T) {
	a, store := signedIn(t)
	a.takes = func(*http.Request) bool { return false }
	a.challenge = `Bearer error="invalid_token", error_description="wrong audience"`
	c, _ := a.client(t, &Options{Store: store, Cure: "a2astdio auth login"})
	for range 5 {
		refused(t, c, "wrong audience", "a2astdio auth login")
	}
	must.Equal(t, a.idp.Calls("token"), 2)
}

// A cancelled prompt does not end its renewal, whose answer has the only valid refresh
// token.
func TestRenewalOutlivesPrompt(t *testing.T) {
	a, store := signedIn(t)
	c, _ := a.client(t, &Options{Store: store})
	must.Get(c.Card(t.Context()))(t)
	a.idp.Provider.Expire()
	reached, goOn := make(chan bool, 1), make(chan bool)
	a.idp.Fail("token", func(w http.ResponseWriter, r *http.Request) {
		reached <- true
		<-goOn
		a.idp.Provider.ServeHTTP(w, r)
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- prompt(ctx, c) }()
	<-reached
	cancel()
	must.Equal(t, errors.Is(<-ended, ctx.Err()), true)
	a.idp.Fail("token", nil)
	close(goOn)
	prompts(t, c)
	must.Equal(t, a.idp.Calls("token"), 2)
}

// What was renewed and cannot be stored is used by this process all the same: the file has a refresh
// token that the provider takes no more.
func TestRenewedAndNotStored(t *testing.T) {
	a, store := signedIn(t)
	a.takes = func(*http.Request) bool { return true }
	turned := &clock{}
	c, _ := a.client(t, &Options{Store: store, Now: turned.now})
	for life, refresh := 59*time.Minute+30*time.Second, 0; refresh < 3; life, refresh = time.Hour, refresh+1 {
		turned.turn(life)
		a.idp.Fail("token", signin.Answer(200, fmt.Sprintf(`{"token_type":"Bearer","expires_in":3600,"access_token":"%s","refresh_token":"r%d"}`, strings.Repeat("x", maxSecret), refresh)))
		prompts(t, c)
		prompts(t, c)
		forms := a.idp.Forms()
		if last := forms[len(forms)-1].Get("refresh_token"); len(forms) != refresh+2 || refresh > 0 && last != fmt.Sprintf("r%d", refresh-1) {
			t.Fatalf("%d requests for tokens, the last with %s", len(forms), last)
		}
	}
}

// A sign-in with a key may take the place of one that is being renewed.
func TestKeyInPlaceOfRenewed(t *testing.T) {
	store := testStore(t)
	_, s := newAgent(t, nil).client(t, &Options{Store: store})
	s.setLogin(must.Get(s.StoreToken(t.Context(), &SignIn{}, "hunter2-token"))(t))
	must.Equal(t, must.Get(s.renewLogin(t.Context(), ""))(t), nil)
}
