package transport

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

var cardCount = flag.Int("cards", 300, "how many cards are made")

// A cardCase is a card, and the agent behind it.
type cardCase struct {
	r         *rand.Rand
	v03, rest bool   // the agent's version and binding
	at, user  string // where it is, and the path of the URL that the user gives
	streams   bool   // it does
	card      string // %s is the agent's host
	fault     string // what the error has to name; "": the agent is found
}

func (c *cardCase) pick(list ...string) string { return list[c.r.IntN(len(list))] }

func (c *cardCase) chance(percent int) bool { return c.r.IntN(100) < percent }

// make writes a card as somebody may write it for the agent: in the form of either
// version, with the words and numbers that were seen, and with at most one fault.
func (c *cardCase) make() {
	c.v03, c.rest, c.streams = c.chance(50), c.chance(40), c.chance(80)
	c.at = c.pick("/", "/rpc", "/a2a/v1", "/agents/x/")
	binding := c.pick("JSONRPC", "jsonrpc", "JSON-RPC", "json_rpc", "JsonRpc", "JSON RPC")
	if c.rest {
		binding = c.pick("HTTP+JSON", "http+json", "HTTP_JSON", "http-json", "HTTP/JSON")
	}
	url := c.pick("http://%s"+c.at, "http://%s"+c.at, c.at)
	if c.rest && c.chance(10) {
		url = strings.TrimRight(url, "/") + "/message:stream"
		if c.v03 {
			url = strings.Replace(url, "/message", "/v1/message", 1)
		}
	}
	formV03 := c.v03
	mismatch := c.chance(15)
	if mismatch {
		formV03 = !formV03
	}
	if mismatch && strings.HasSuffix(url, "message:stream") {
		url = "http://%s" + c.at
	}
	card := map[string]any{"name": c.pick("Agent", "Ünïcode", "")}
	capabilities := map[string]any{}
	if says := []any{nil, true, c.streams, c.pick("true", "yes")}[c.r.IntN(4)]; says != nil { // it may not stream, or have a wrong type
		capabilities["streaming"] = says
	}
	card["capabilities"] = capabilities
	if c.chance(10) {
		card["capabilities"] = c.pick("none", "")
	}
	switch {
	case mismatch:
	case c.at == "/" && c.chance(15):
		url = "/nowhere" // and the user's URL is right
	case c.chance(6):
		url, c.fault = c.fail(url)
	case !c.rest && c.chance(10): // the card names the host only, and the user may give more
		url = "http://%s"
		if c.user = strings.TrimRight(c.at, "/"); c.chance(50) {
			c.at, c.user = usualPath, ""
		}
	}
	if formV03 {
		card["url"] = url
		card["protocolVersion"] = c.pick("0.3.0", "0.3", "0.2.5", "v0.3.0", "0.1.0", "1.0", "1.0.0", "3.0.0", "latest", "2025-06-18")
		if c.rest || c.chance(50) {
			card["preferredTransport"] = binding
		}
		if c.fault == "GRPC" {
			card["preferredTransport"] = "GRPC"
		} else if c.fault == "" && c.chance(30) {
			card["additionalInterfaces"] = []any{map[string]any{"url": "grpc.example:443", "transport": "GRPC"}, map[string]any{"url": url, "transport": binding}}
		}
	} else {
		own := map[string]any{"url": url, "protocolBinding": binding, "protocolVersion": c.pick("1.0", "1.0.0", "1.1", "1.2", "2.0", "v1.0")}
		list := []any{own}
		if c.fault == "GRPC" {
			own["protocolBinding"] = "GRPC"
		} else if c.fault == "" && c.chance(30) {
			list = []any{map[string]any{"url": "grpc.example:443", "protocolBinding": "GRPC", "protocolVersion": "1.0"}, own}
		}
		card["supportedInterfaces"] = list
	}
	c.strange(card)
	text, _ := json.Marshal(card)
	if c.card = string(text); c.chance(20) {
		c.card = snakeNames(c.card)
	}
	c.card = c.pick("", "", "\uFEFF", "\n  ") + c.card + c.pick("", "\n")
}

// fail makes a fault, and returns what an error must name.
func (c *cardCase) fail(url string) (faulty, named string) {
	fault := [][2]string{{url, "GRPC"}, {"", "names no URL"}, {"https://elsewhere.example/", "elsewhere.example"},
		{"http://%%", "names a URL that is none"}}[c.r.IntN(4)]
	return fault[0], fault[1]
}

// strange adds members that agents invent, and types that are not the specification's.
func (c *cardCase) strange(card map[string]any) {
	odd := []struct {
		name  string
		value any
	}{{"skills", "none"}, {"defaultInputModes", "text"}, {"version", 2}, {"x-a", map[string]any{"url": "http://other.example"}},
		{"securitySchemes", []any{}}, {"provider", c.pick("somebody", "")}, {"description", nil}, {"security", map[string]any{}}}
	for range c.r.IntN(4) {
		member := odd[c.r.IntN(len(odd))]
		card[member.name] = member.value
	}
}

// snakeNames spells the members that matter as some generators do.
func snakeNames(card string) string {
	for camel, snake := range map[string]string{"protocolVersion": "protocol_version", "preferredTransport": "preferred_transport",
		"additionalInterfaces": "additional_interfaces", "supportedInterfaces": "supported_interfaces", "protocolBinding": "protocol_binding"} {
		card = strings.ReplaceAll(card, `"`+camel+`"`, `"`+snake+`"`)
	}
	return card
}

// serve is the agent: strict in its version, at its place, and nowhere else.
func (c *cardCase) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		if r.URL.Path == cardPath {
			_, _ = io.WriteString(w, strings.ReplaceAll(c.card, "%s", r.URL.Host))
			return
		}
		http.NotFound(w, r)
		return
	}
	var call struct{ Method string }
	_ = json.NewDecoder(r.Body).Decode(&call)
	task, status, stream := `{"id":"t","status":{"state":"TASK_STATE_COMPLETED"}}`, 200, false
	at := strings.TrimRight(c.at, "/")
	switch {
	case c.rest:
		if c.v03 {
			at += "/v1"
		}
		task = `{"task":` + task + `}`
		switch stream = r.URL.Path == at+"/message:stream"; {
		case stream && !c.streams:
			stream, status, task = false, 400, `{"error":{"code":400,"message":"no","details":[{"domain":"a2a-protocol.org","reason":"UNSUPPORTED_OPERATION"}]}}`
		case !stream && r.URL.Path != at+"/message:send":
			http.NotFound(w, r)
			return
		}
	case strings.TrimRight(r.URL.Path, "/") != at:
		http.NotFound(w, r)
		return
	default:
		result := `"result":` + task
		if c.v03 {
			result = `"result":{"kind":"task","id":"t","status":{"state":"completed"}}`
		}
		switch stream = strings.Contains(strings.ToLower(call.Method), "stream"); {
		case strings.Contains(call.Method, "/") != c.v03:
			stream, result = false, `"error":{"code":-32601,"message":"Method not found"}`
		case stream && !c.streams:
			stream, result = false, `"error":{"code":-32004,"message":"no"}`
		}
		task = `{"jsonrpc":"2.0","id":1,` + result + `}`
	}
	if stream {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: %s\n\n", task)
		return
	}
	wireAnswer(status, "application/json", task)(w, r)
}

// However a card is written, the agent behind it is found, or the error names what is
// wrong in the card.
func TestAnyCard(t *testing.T) {
	placeless := 0
	for seed := range uint64(*cardCount) {
		c := &cardCase{r: rand.New(rand.NewPCG(seed, 38))}
		c.make()
		client, err := NewClient("http://agent.example"+c.user, &ClientOptions{RoundTripper: served(c.serve)})
		must.Do(t, err)
		err = send(client, t.Context())
		if c.fault == "names no URL" && err == io.EOF {
			c.fault = "" // it was found where the user says
			placeless++
		}
		switch {
		case c.fault == "" && err != io.EOF, c.fault != "" && (err == nil || err == io.EOF || !strings.Contains(err.Error(), c.fault)):
			t.Errorf("card %d, an agent of 0.3 %v, over HTTP+JSON %v, at %s, at %q for the user, streams %v, fault %q: %v\n%s", seed, c.v03, c.rest, c.at, c.user, c.streams, c.fault, err, c.card)
		}
		client.Close()
	}
	if placeless == 0 && *cardCount >= 300 {
		t.Error("no agent was found whose card names no URL")
	}
}
