package cli

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/internal/test/signin"
)

// Ways to sign in, for TestSecretsStayIn.

var deviceURL = regexp.MustCompile(`http://\S*user_code=\S+`)

// device signs in by a code.
func (s *secretRun) device(args ...string) {
	s.t.Helper()
	cmd := exec.Command("a2astdio", args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	var out bytes.Buffer
	cmd.Stdout = &out
	errs := must.Get(cmd.StderrPipe())(s.t)
	must.Do(s.t, cmd.Start())
	all := ""
	for lines := bufio.NewScanner(errs); lines.Scan(); {
		all += lines.Text() + "\n"
		if complete := deviceURL.FindString(lines.Text()); complete != "" {
			if err := new(signin.Browser).Enter(complete); err != nil {
				s.t.Error(err)
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		s.t.Errorf("signing in by a code: %v: %s%s", err, out.String(), all)
	}
	s.texts["the sign-in by a code"] = out.String() + all
}

// asItself signs in as a client with its own secret, by a variable and by a file, and
// with a wrong one.
func (s *secretRun) asItself(agent *leakyAgent, traced func(string) []string) {
	s.t.Helper()
	resp, err := http.Post(agent.URL+"/idp/register", "application/json", strings.NewReader(`{"token_endpoint_auth_method":"client_secret_basic"}`))
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	b := must.Get(io.ReadAll(resp.Body))(s.t)
	id, secret := gjson.GetBytes(b, "client_id").Str, gjson.GetBytes(b, "client_secret").Str
	env := append(without(s.env, "A2ASTDIO_OAUTH_CLIENT_SECRET", "A2ASTDIO_OAUTH_CLIENT_ID"), "A2ASTDIO_OAUTH_CLIENT_ID="+id)
	how := []string{"--oauth-issuer", agent.URL + "/idp", "--oauth-scope", "agent", "send", "hello"}
	s.env = append(env, "A2ASTDIO_OAUTH_CLIENT_SECRET="+secret)
	s.run("as a client", "", append(traced("p"), how...)...)
	agent.failNext("401", 9)
	s.run("error 401: as a client", "", append(traced("q"), how...)...)
	agent.failNext("401", 0)
	s.env = append(env, "A2ASTDIO_OAUTH_CLIENT_SECRET=hunter2-wrong-secret")
	s.run("error: as a client with another secret", "", append(traced("r"), how...)...)
	if got := s.texts["error: as a client with another secret"]; !strings.Contains(got, "invalid_client") {
		s.t.Errorf("with another secret: %s", got)
	}
}
