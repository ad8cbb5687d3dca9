package oauth

import (
	"context"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/internal/test/signin"
)

// What is no answer to this sign-in is ignored, and the sign-in goes on: another state or
// none, a browser that has not begun, a page that pretends to be this machine. The first
// page is good once.
func TestForgedAnswers(t *testing.T) {
	s := signin.Start(t, wide())
	p, c := discovered(t, s)
	get := func(address, host, cookie string) int {
		r := must.Get(http.NewRequest(http.MethodGet, address, nil))(t)
		if host != "" {
			r.Host = host
		}
		if cookie != "" {
			r.AddCookie(&http.Cookie{Name: "a2astdio-sign-in-" + r.URL.Port(), Value: cookie})
		}
		resp := must.Get(http.DefaultTransport.RoundTrip(r))(t)
		resp.Body.Close()
		return resp.StatusCode
	}
	visited := make(chan error, 1)
	b := &signin.Browser{TLS: s.TLS()}
	b.Change = func(callback *url.URL) { // the browser is about to come back
		base := *callback
		base.RawQuery = ""
		state := callback.Query().Get("state")
		for query, cookie := range map[string]string{
			"": "", "code=x": "", "code=x&state=other": "", "code=x&state=" + state: "", "error=access_denied&state=": "", "code=x&state=" + state + "&state=other": "guess", "code=y&state=" + state: "guess",
		} {
			base.RawQuery = query
			must.Equal(t, get(base.String(), "", cookie), http.StatusBadRequest, query)
		}
	}
	l := &Login{Client: c, Provider: p, Scopes: []string{"agent"}, Visit: func(_ context.Context, local string) error {
		must.Equal(t, get(local, "evil.example", ""), http.StatusForbidden)
		go func() { visited <- b.Open(local) }()
		return nil
	}}
	token, _, err := l.ByBrowser(t.Context())
	must.Do(t, <-visited)
	if err != nil || token.Access == "" || !strings.Contains(b.Text(), "Answered") || s.Calls("token") != 1 {
		t.Errorf("%v, %s, %d requests", err, b.Text(), s.Calls("token"))
	}
}

// An answer has both the cookie and the state, exactly and once; other pages lead nowhere.
func TestAnswerIsExact(t *testing.T) {
	l := must.Get(listen(""))(t)
	defer l.close()
	visit := func(path, cookie string) int {
		r := httptest.NewRequest(http.MethodGet, "http://"+l.host+path, nil)
		r.AddCookie(&http.Cookie{Name: l.name, Value: cookie})
		w := httptest.NewRecorder()
		l.ServeHTTP(w, r)
		return w.Code
	}
	must.Equal(t, visit("/callback?code=x&state=", ""), http.StatusBadRequest, "before it has begun")
	_, answers := l.serve("https://idp.example/?state=s", "s")
	for _, test := range []struct{ path, cookie string }{
		{"/callback?code=x", l.cookie}, {"/callback?code=x&state=t", l.cookie}, {"/callback?code=x&state=s&state=s", l.cookie},
		{"/callback?code=x&state=s", ""}, {"/callback?code=x&state=s", l.cookie + "x"},
	} {
		code := visit(test.path, test.cookie)
		must.True(t, code == http.StatusBadRequest && len(answers) == 0, test, code)
	}
	must.Equal(t, visit(l.start+"x", ""), http.StatusNotFound, "another page")
	cookie := l.cookie
	must.Equal(t, visit("/callback?code=x&state=s", cookie), http.StatusOK)
	must.Equal(t, len(answers), 1)
	must.Equal(t, visit("/callback?code=x&state=s", cookie), http.StatusBadRequest, "again")
}

// Two sign-ins at once are answered by one browser, whose cookies are of a host and not of a
// port.
func TestTwoSignIns(t *testing.T) {
	browser := &http.Client{Jar: must.Get(cookiejar.New(nil))(t), CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	visit := func(page string) int {
		resp := must.Get(browser.Get(page))(t)
		resp.Body.Close()
		return resp.StatusCode
	}
	var backs []string
	for _, state := range []string{"a", "b"} {
		l := must.Get(listen(""))(t)
		defer l.close()
		local, _ := l.serve("https://idp.example/", state)
		must.Equal(t, visit(local), http.StatusSeeOther)
		backs = append(backs, l.redirect+"?code=x&state="+state)
	}
	for _, back := range backs {
		must.Equal(t, visit(back), http.StatusOK, back)
	}
}

// The first page leads to the provider once: whoever comes later gets neither the state
// nor the cookie.
func TestFirstPageOnce(t *testing.T) {
	l := must.Get(listen(""))(t)
	defer l.close()
	local, _ := l.serve("https://idp.example/?state=s", "s")
	for i, want := range []int{http.StatusSeeOther, http.StatusNotFound} {
		r, _ := http.NewRequest(http.MethodGet, local, nil)
		resp := must.Get(http.DefaultTransport.RoundTrip(r))(t)
		resp.Body.Close()
		cookies := resp.Cookies()
		if resp.StatusCode != want || (len(cookies) == 1) != (i == 0) || i == 0 && (!cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteLaxMode) {
			t.Errorf("visit %d: %d, %v", i, resp.StatusCode, cookies)
		}
	}
}
