package transport

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/memnet"
	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A played is a case of testdata/exchange: an agent, what a client is called for, and what comes of it.
//
//	== NAME              begins a case
//	agent PATH           the URL that the user gives: a path of agent.example's, or a whole URL
//	card JSON, file PATH the card, or "card none"; the user gives it as a file, "a card.json" in $DIR
//	version, binding, header, trust, extensions, timeout, max-message, modes, insecure: the client's options
//	user-agent, show NAMES  the program's name; of all requests, also those for cards, these headers are told, and
//	                     these members of the body, which have a dot
//	check WORDS          the card is checked, as it came, and refused with these words, if there are some
//	credentials ONE TWO  a source that has the token ONE, and behind a refusal TWO; "!" tells a cure in place of it, and
//	                     JSON is the whole of what is sent
//	fails OP 2           the next two requests with a body fail at that: "dial", or "read"; "fails first": the first request
//	WHAT: STATUS TYPE    answers a method of JSON-RPC, what is asked of a path or URL, or with "*" whatever is left
//	                     but cards. Then come headers of the answer, as Name=value, and behind tabs its lines; one in
//	                     quotes is a Go string, and no line; $MIB is as much. Of several for one WHAT each is given
//	                     once, and the last one from then on
//	cut, stall, late 1h  the connection breaks behind the answer; it is not the end; it comes an hour later
//	send, once, get, …   what the client does, as [played.do] has it; "within 1h" behind it is the caller's limit, and
//	                     with "until closed" the caller closes the stream a minute later, or its client
//	= …                  what came of it, which -update writes
type played struct {
	at, card   string
	file       string
	opts       ClientOptions
	extensions []string
	show       []string
	answers    []*playedAnswer

	network   memnet.Network
	failsAt   string
	failsLeft int

	mu    sync.Mutex
	asked []string
	log   strings.Builder
}

// TestExchanges: what comes of an agent's answers, and what it is asked.
func TestExchanges(t *testing.T) {
	for _, file := range must.Get(filepath.Glob("testdata/exchange/*.txt"))(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			cases := strings.Split(string(must.Get(os.ReadFile(file))(t)), "\n== ")
			for i, text := range cases[1:] {
				name, _, _ := strings.Cut(text, "\n")
				t.Run(name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { cases[i+1] = playOut(t, text) })
				})
			}
			must.Golden(t, *update, file, strings.Join(cases, "\n== "))
		})
	}
}

// playOut plays a case, and returns it with what came of it.
func playOut(t *testing.T, text string) string {
	x := &played{card: `{"name":"Test","url":"/rpc","protocolVersion":"0.3.0","capabilities":{"streaming":true}}`}
	x.opts.Log = slog.New(slog.NewTextHandler(&x.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	x.network.Handler = x
	defer x.network.Sever()
	x.opts.RoundTripper = x
	var out []string
	var c *Client
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "= ") {
			continue
		}
		if out = append(out, line); i == 0 || x.tells(t, line) {
			continue
		}
		if c == nil {
			var err error
			if c, err = NewClient(x.url(t), &x.opts); err != nil {
				c, out = nil, append(out, "= "+err.Error())
				continue
			}
			defer c.Close()
			c.poison = true
			c.Activate(x.extensions)
		}
		for _, r := range x.do(t, c, line) {
			out = append(out, "= "+r)
		}
	}
	return strings.Join(out, "\n")
}

// url is what the user gives for the agent.
func (x *played) url(t *testing.T) string {
	switch {
	case x.file != "":
	case x.at == "" || x.at[0] == '/':
		return "http://agent.example" + x.at
	default:
		return x.at
	}
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "a card.json"), []byte(x.card), 0o600))
	return strings.ReplaceAll(x.file, "$DIR", filepath.ToSlash(dir))
}

// tells reads a line about the agent or the client; false if it is something to do.
func (x *played) tells(t *testing.T, line string) bool {
	word, rest, _ := strings.Cut(line, " ")
	if body, ok := strings.CutPrefix(line, "\t"); ok {
		if strings.HasPrefix(body, `"`) {
			body = must.Get(strconv.Unquote(body))(t)
		} else {
			body += "\n"
		}
		x.answers[len(x.answers)-1].body += strings.ReplaceAll(body, "$MIB", strings.Repeat("x", 1<<20))
		return true
	}
	switch word {
	case "", "#":
	case "agent":
		x.at = rest
	case "card":
		if strings.HasPrefix(rest, `"`) {
			rest = must.Get(strconv.Unquote(rest))(t)
		}
		x.card = cmp.Or(rest, x.card)
		return rest != ""
	case "version":
		x.opts.Version = rest
	case "binding":
		x.opts.Binding = rest
	case "header":
		name, value, _ := strings.Cut(rest, ": ")
		x.opts.Header = http.Header{name: {value}}
	case "trust":
		x.opts.TrustOrigins = strings.Fields(rest)
	case "extensions":
		x.extensions = strings.Fields(rest)
	case "user-agent":
		x.opts.UserAgent = rest
	case "show":
		x.show = strings.Fields(rest)
	case "check":
		x.opts.BareCard = true
		x.opts.CheckCard = func(_ context.Context, card []byte) ([]byte, error) {
			must.Equal(t, string(card), x.card, "is checked")
			if rest != "" {
				return nil, errors.New(rest)
			}
			return card, nil
		}
	case "file":
		x.file = rest
	case "max-message":
		x.opts.MaxMessage = must.Get(strconv.Atoi(rest))(t)
	case "modes":
		x.opts.AcceptedOutputModes = strings.Fields(rest)
	case "insecure":
		x.opts.TLS = &tls.Config{InsecureSkipVerify: true}
	case "credentials":
		one, two, _ := strings.Cut(rest, " ")
		x.opts.Credentials = func(_ context.Context, at *Challenge) (*Credential, error) { return x.credential(at, one, two) }
	case "fails":
		x.failsAt, x.failsLeft = "dial", 1
		_, _ = fmt.Sscan(rest, &x.failsAt, &x.failsLeft)
	case "timeout":
		x.opts.Timeout = must.Get(time.ParseDuration(rest))(t)
	case "late":
		x.answers[len(x.answers)-1].late = must.Get(time.ParseDuration(rest))(t)
	case "cut":
		x.answers[len(x.answers)-1].cut = true
	case "stall":
		x.answers[len(x.answers)-1].stalls = true
	default:
		what, isAnswer := strings.CutSuffix(word, ":")
		if !isAnswer {
			return false
		}
		status, rest, _ := strings.Cut(rest, " ")
		kind, rest, _ := strings.Cut(rest, " ")
		a := &playedAnswer{what: what, status: must.Get(strconv.Atoi(status))(t), header: http.Header{}}
		short := map[string]string{"json": "application/json", "sse": "text/event-stream; charset=utf-8",
			"text": "text/plain; charset=utf-8", "html": "text/html"}
		a.header.Set("Content-Type", cmp.Or(short[kind], kind))
		for rest != "" {
			var h string
			h, rest, _ = strings.Cut(rest, "; ")
			name, value, _ := strings.Cut(h, "=")
			a.header.Add(name, value)
		}
		x.answers = append(x.answers, a)
	}
	return true
}

// do does something, and returns what came of it.
func (x *played) do(t *testing.T, c *Client, what string) (came []string) {
	var got []string
	ev := new(a2a.Event)
	var err error
	ctx, began := t.Context(), time.Now()
	what, closes, _ := strings.Cut(what, " until ")
	what, limit, _ := strings.Cut(what, " within ")
	if limit != "" {
		within, cancel := context.WithTimeout(ctx, must.Get(time.ParseDuration(limit))(t))
		defer cancel()
		ctx = within
	}
	switch what {
	case "send", "reply":
		var s *Stream
		m := hello()
		if what == "reply" {
			m.TaskID = "t"
		}
		if s, err = c.Send(ctx, m); err == nil {
			if end := map[string]func() error{"closed": s.Close, "its client is closed": c.Close}[closes]; end != nil {
				time.AfterFunc(time.Minute, func() { must.Do(t, end()) })
			}
			got, err = wireReadAll(s)
			if s.Unstreamed() {
				got = append(got, "at once")
			}
			s.Close()
			if _, again := s.Read(); again != err {
				t.Errorf("Read after the end: %v, and before %v", again, err)
			}
		}
	case "once", "ask", "picture":
		m := hello()
		if what == "picture" {
			m.AcceptedOutputModes = []string{"image/png"}
		}
		ev, err = c.SendOnce(ctx, m, what == "once")
	case "get":
		ev, err = c.Get(ctx, "t", -1)
	case "cancel":
		ev, err = c.Cancel(ctx, "t")
	case "list":
		var page *a2a.TaskPage
		if page, err = c.List(ctx, a2a.TaskQuery{}); err == nil {
			for i := range page.Tasks {
				got = append(got, wireBrief(&page.Tasks[i]))
			}
			got = append(got, fmt.Sprintf("next %q of %d", page.NextPageToken, page.TotalSize))
		}
	case "card":
		var card *a2a.Card
		if card, err = c.Card(ctx); err == nil {
			public, how := must.Get(c.PublicCard(ctx))(t), "nowhere"
			if chosen, err := c.Chosen(ctx); err == nil {
				how = fmt.Sprintf("%s in %s over %s", chosen.At.URL, chosen.Version, chosen.Binding)
			}
			got = append(got, fmt.Sprintf("%s, extended %v, public %s, called at %s", card.Name, card.Extended, public.Name, how))
		}
	case "forget":
		c.ForgetCard()
	case "subscribe":
		_, err = c.Resubscribe(ctx, "t")
	case "lacks":
		got = append(got, fmt.Sprintf("%+v", c.Unsupported()))
	case "echoed":
		uris, known := c.Echoed()
		got = append(got, fmt.Sprintf("%q, known: %v", uris, known))
	default:
		t.Fatalf("nobody can %q", what)
	}
	if err == nil && ev.TaskID != "" {
		got = append(got, wireBrief(ev))
	}
	if len(got) > 0 {
		came = append(came, strings.Join(got, ", "))
	}
	if err != nil && err != io.EOF {
		came = append(came, err.Error(), "  "+playedError(err))
	}
	if strings.Contains(fmt.Sprint(err, x.log.String()), "s3cret") {
		t.Errorf("it tells a secret: %v, %s", err, x.log.String())
	}
	slow := slices.ContainsFunc(x.answers, func(a *playedAnswer) bool { return a.late > 0 || a.stalls })
	if took := time.Since(began); slow && took > 0 { // else a pause between two attempts, of any length
		came = append(came, fmt.Sprint("after ", took))
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.asked) > 0 {
		came = append(came, "asked "+strings.Join(x.asked, ", "))
	}
	for line := range strings.Lines(x.log.String()) {
		if _, said, ok := strings.Cut(strings.TrimSpace(line), "level=WARN msg="); ok {
			came = append(came, "log: "+said)
		}
	}
	x.asked = nil
	x.log.Reset()
	return came
}

// playedError tells what a caller may ask of an error.
func playedError(err error) string {
	var is []string
	for _, e := range []error{ErrInterrupted, ErrUnreachable, ErrPossiblyDelivered, ErrMalformed, ErrOrigin, ErrTooLarge, ErrEnded,
		context.DeadlineExceeded} {
		if errors.Is(err, e) {
			is = append(is, strings.TrimPrefix(e.Error(), "agent: "))
		}
	}
	var agent *a2a.Error
	if errors.As(err, &agent) {
		is = append(is, fmt.Sprintf("code %d, HTTP %d", agent.Code, agent.HTTPStatus))
	}
	return cmp.Or(strings.Join(is, ", "), "ours")
}
