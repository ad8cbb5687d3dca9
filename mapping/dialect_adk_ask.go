package mapping

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// This file is for what ADK asks its client, and how it is answered.

// The calls by which ADK asks its client.
const (
	adkConfirm    = "adk_request_confirmation"
	adkCredential = "adk_request_credential"
	adkInput      = "adk_request_input"
)

// event names a question that cannot be answered any more: ADK for Java completes its
// task where it asks.
func (adk) event(at *carrier, to *pieces) {
	if at.state == a2a.StateCompleted && at.mem.unasked != "" {
		to.list = append(to.list, piece{kind: pieceNotice, text: "\n[The agent wanted an answer about " + at.mem.unasked + ", but its server has ended the task, so that none can be given.]\n"})
		at.mem.unasked = ""
	}
}

// adkAsksAbout names what a question is about.
func adkAsksAbout(v gjson.Result) string {
	return ask.OneLine(first(v, "args.originalFunctionCall.name", "args.message", "name").String())
}

func (d adk) question(id, name string, args gjson.Result, to *pieces) {
	switch name {
	case adkConfirm:
		d.confirmation(id, args, to)
	case adkCredential:
		d.credential(id, args, to)
	default:
		d.input(id, args, to)
	}
}

// confirmation asks about the call that the agent wants to make. Its payload are values
// that the tool goes by, as the agent proposes them.
func (adk) confirmation(id string, args gjson.Result, to *pieces) {
	original := args.Get("originalFunctionCall")
	hint := args.Get("toolConfirmation.hint").String()
	if strings.Contains(hint, "FunctionResponse") {
		hint = "" // ADK's own words, to a programmer
	}
	c := ToolCall{ID: original.Get("id").String(), QuestionID: id, Name: original.Get("name").String(), Input: a2a.JSON(original.Get("args").Raw),
		Status: ToolPending, Asks: true, Confirmation: &Confirmation{Generic: &GenericDetails{Description: hint}}}
	if payload := args.Get("toolConfirmation.payload"); payload.Exists() && payload.Type != gjson.Null {
		c.Confirmation.Unread = a2a.JSON(`{"payload":` + payload.Raw + `}`)
	}
	c.ID = cmp.Or(c.ID, id)
	to.call(c)
}

func adkPayload(c *ToolCall) gjson.Result { return gjson.Get(string(c.Confirmation.Unread), "payload") }

// The choices of a confirmation, which ADK does not name.
const (
	adkAllow  = "allow_once"
	adkReject = "reject_once"
	adkValues = "other_values"
)

func (adk) options(c *ToolCall) []Option {
	allow, reject := ask.NewOption(ConfirmationOption{ID: adkAllow, Name: "Allow"}), ask.NewOption(ConfirmationOption{ID: adkReject, Name: "Reject"})
	if !adkPayload(c).Exists() {
		return []Option{allow, reject}
	}
	values := ask.NewOption(ConfirmationOption{ID: adkValues, Name: "Allow with other values"})
	values.Words = true
	allow.Name = "Allow with this payload"
	return []Option{values, allow, reject}
}

func (adk) words(c *ToolCall) input {
	return input{id: c.QuestionID, name: adkConfirm, text: "Other values of the payload " + string(adkPayload(c).Raw) + ":", fields: valueFields(adkPayload(c))}
}

// credential asks for what the agent needs to act as the user. The answer is the
// agent's own object with that filled in: the OAuth state in it must come back.
func (adk) credential(id string, args gjson.Result, to *pieces) {
	config := first(args, "authConfig", "auth_config")
	credential := first(config, "exchangedAuthCredential", "exchanged_auth_credential", "rawAuthCredential", "raw_auth_credential")
	scheme := first(config, "authScheme", "auth_scheme")
	in := input{id: id, name: adkCredential, own: true, loose: true, data: a2a.JSON(config.Raw)}
	text := cmp.Or(args.Get("message").String(), "The agent wants credentials of yours.")
	const stays = " It stays in this conversation, in your editor and on disk."
	address := first(credential, "oauth2.authUri", "oauth2.auth_uri").String()
	switch kind := first(credential, "authType", "auth_type").String(); {
	case address != "":
		text += " Sign in at " + address + " and send the whole address that you are led to, even if the page does not load, as your next message."
		in.fields = []field{{id: adkAnswer(config, "oauth2", "authResponseUri", "auth_response_uri"), kind: "uri"}}
	case strings.EqualFold(kind, "apiKey") || strings.EqualFold(kind, "api_key") || scheme.Get("type").Str == "apiKey":
		text += " Your next message is taken for the API key " + scheme.Get("name").String() + "." + stays
		in.fields = []field{{id: adkAnswer(config, "", "apiKey", "api_key"), kind: "secret"}}
	case kind == "http" && !strings.EqualFold(first(scheme, "scheme").String(), "basic"):
		text += " Your next message is taken for the bearer token." + stays
		in.fields = []field{{id: "http.credentials.token", kind: "secret"}}
	default:
		to.list = append(to.list, piece{kind: pieceNotice, text: "\n[" + text + " They are of a kind that a2astdio cannot hand to it: " + kind + ".]\n"})
		return
	}
	in.text = strings.TrimSpace(text)
	to.ask(in)
}

// adkAnswer is where an answer goes, in the spelling that the agent has.
func adkAnswer(config gjson.Result, in, camel, snake string) string {
	name := camel
	if config.Get("auth_scheme").Exists() || config.Get("exchanged_auth_credential").Exists() {
		name = snake
	}
	if in != "" {
		return in + "." + name
	}
	return name
}

// adkCredentials fills a credential in.
func adkCredentials(config a2a.JSON, place string, value a2a.JSON) (any, error) {
	var all map[string]any
	d := json.NewDecoder(bytes.NewReader([]byte(config)))
	d.UseNumber()
	if err := d.Decode(&all); err != nil {
		return nil, err
	}
	from, to, kind := "rawAuthCredential", "exchangedAuthCredential", "authType"
	if all["auth_scheme"] != nil || all["exchanged_auth_credential"] != nil {
		from, to, kind = "raw_auth_credential", "exchanged_auth_credential", "auth_type"
	}
	o, ok := all[to].(map[string]any)
	if !ok {
		o = map[string]any{}
		if raw, ok := all[from].(map[string]any); ok && raw[kind] != nil {
			o[kind] = raw[kind]
		}
		all[to] = o
	}
	path := strings.Split(place, ".")
	for _, name := range path[:len(path)-1] {
		inner, ok := o[name].(map[string]any)
		if !ok {
			inner = map[string]any{}
			o[name] = inner
		}
		o = inner
	}
	o[path[len(path)-1]] = json.RawMessage(value)
	if http, ok := all[to].(map[string]any)["http"].(map[string]any); ok && http["scheme"] == nil {
		http["scheme"] = "bearer"
	}
	if all[to].(map[string]any)[kind] == nil && path[0] != "oauth2" {
		all[to].(map[string]any)[kind] = path[0]
	}
	return all, nil
}

// isCallback reports whether words are the URL to which a login has redirected.
func isCallback(word string) bool {
	u, err := url.Parse(word)
	return err == nil && u.Scheme != "" && (u.RawQuery != "" || u.Fragment != "") && !strings.ContainsAny(word, " \t\n")
}

// input asks for something in words, or in the fields of a schema.
func (adk) input(id string, args gjson.Result, to *pieces) {
	text := first(args, "message", "prompt", "question", "hint").String()
	in := input{id: id, name: adkInput, fields: anyWords()}
	if schema := first(args, "response_schema", "responseSchema"); schema.IsObject() {
		in.fields = schemaFields(schema)
		in.data = a2a.JSON(schema.Raw)
	}
	if payload := args.Get("payload"); payload.Exists() && payload.Type != gjson.Null {
		text += "\n" + payload.Raw
	}
	text = cmp.Or(text, "The agent asks for something: "+args.Raw)
	in.text = text + fieldsText(in.fields)
	to.ask(in)
}

// adkResponse is a function response, which is how ADK is answered.
func adkResponse(id, name string, response any, m *a2a.Outgoing) error {
	return addData(m, struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		Response any    `json:"response"`
	}{id, name, response}, `{"adk_type":"function_response"}`)
}

// adkConfirmed is the answer to a confirmation. There is no payload without one in the
// question.
type adkConfirmed struct {
	Confirmed bool            `json:"confirmed"`
	Payload   json.RawMessage `json:"payload,omitempty"`
}

func (adk) answer(a Answer, m *a2a.Outgoing) error {
	r := adkConfirmed{Confirmed: a.OptionID == adkAllow}
	if payload := adkPayload(a.Call); r.Confirmed && payload.Exists() {
		r.Payload = json.RawMessage(payload.Raw)
	}
	return adkResponse(a.Call.QuestionID, adkConfirm, r, m)
}

func (adk) reply(in input, values []a2a.JSON, text string, m *a2a.Outgoing) (SideRequest, error) {
	if in.name == "" {
		return SideRequest{}, kagentReply(in, values, text, m)
	}
	var response any
	var err error
	switch value := filled(in.fields, values); {
	case in.name == adkConfirm:
		response = adkConfirmed{true, json.RawMessage(value)}
	case in.name == adkCredential:
		response, err = adkCredentials(in.data, in.fields[0].id, values[0])
	case in.name != adkInput && strings.HasPrefix(text, "{") && gjson.Valid(text):
		response = json.RawMessage(text) // what a tool returns is an object
	default:
		response = map[string]json.RawMessage{"result": json.RawMessage(value)}
	}
	if err != nil {
		return SideRequest{}, err
	}
	return SideRequest{}, adkResponse(in.id, in.name, response, m)
}
