package dialect

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping/ask"
	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// adk is what agents of Google's Agent Development Kit say over A2A. Its servers have the
// same parts, and differ in how they stream:
//
//   - a data part whose metadata has adk_type is a function call, its response, or
//     code; a text part with adk_thought is a thought;
//   - adk_partial, on a part, an artifact or an event, marks pieces of a text that is
//     said again as a whole. Go (per run) puts the pieces under one artifact's ID
//     without append, and the whole under another; JavaScript replaces them by it. Go
//     (per event) marks nothing, and says the whole under the pieces' ID.
//   - ADK for Python says all in status messages and marks nothing, unless its extension is asked for. An artifact
//     repeats the last one, with its thoughts, and a model's error is first said while the task works.
//   - questions are function calls of known names, or of tools that run long. They are
//     answered by function responses, all of them in one message; text is refused.
//
// Seen with ADK for Go 2.2, JavaScript 2.0 and Python 2.5. kagent's agents are of it, and ask otherwise: adk_kagent.go.
type adk struct{ base }

// adkExtension is ADK's own.
const adkExtension = "https://google.github.io/adk-docs/a2a/a2a-extension/"

// about: a response names its call, and leaves out what the call said.
func (adk) about() about {
	return about{name: "adk", sign: "adk_", traits: Traits{Approvals: true, Differences: true, AsksAgain: true, FinalEnds: true}}
}

func (adk) extensions() []string { return []string{adkExtension, kagentExtension} }

func (adk) matchesCard(card *a2a.Card) bool {
	return declares(card, adkExtension) || declares(card, kagentExtension)
}

// recognizes: a key of its own may be in the metadata of the event, or of anything in it. In data such
// keys are somebody else's: the input of a call, for one.
func (adk) recognizes(ev *a2a.Event) bool {
	if hasADKKey(ev.Metadata) || adkMarks(ev.Message.Metadata, ev.Message.Parts) || adkMarks(ev.Artifact.Metadata, ev.Artifact.Parts) {
		return true
	}
	return ev.Kind == a2a.EventTask && mayHaveADKKey(ev.Raw) && // to walk its lists allocates
		(a2a.Any(ev.Artifacts, func(a a2a.Artifact) bool { return adkMarks(a.Metadata, a.Parts) }) ||
			a2a.Any(ev.History, func(m a2a.Message) bool { return adkMarks(m.Metadata, m.Parts) }))
}

// adkMarks reports whether metadata, or that of one of the parts, has a key of ADK's.
func adkMarks(metadata a2a.JSON, parts a2a.Parts) bool {
	if only := parts.FastPath().Only; only != nil { // as mostly: its text is not searched
		return hasADKKey(metadata) || hasADKKey(only.Metadata)
	}
	may := len(parts.FastPath().List) > 0 || mayHaveADKKey(parts.Raw) // to walk them allocates
	return hasADKKey(metadata) || may && adkMarksPart(parts)
}

func adkMarksPart(parts a2a.Parts) bool {
	return a2a.Any(parts.All(), func(p *a2a.Part) bool { return hasADKKey(p.Metadata) })
}

func mayHaveADKKey(json a2a.JSON) bool {
	return strings.Contains(string(json), `"adk_`) || strings.Contains(string(json), `"kagent_`) // kagent's runtime for Python
}

func hasADKKey(metadata a2a.JSON) (found bool) {
	if !mayHaveADKKey(metadata) {
		return false
	}
	gjson.Parse(string(metadata)).ForEach(func(key, _ gjson.Result) bool {
		found = strings.HasPrefix(key.Str, "adk_") || strings.HasPrefix(key.Str, "kagent_")
		return !found
	})
	return found
}

// message leaves why a task has failed to A2A's rules.
func (d adk) message(m *a2a.Message, at *Carrier, to *Pieces) bool {
	if at.State == a2a.StateFailed || at.State == a2a.StateRejected {
		return false
	}
	if kagentQuestion(m, adkAsks(at), to) {
		return true
	}
	if code := gjson.Get(string(m.Metadata), "adk_error_code").String(); code != "" {
		if text := m.Parts.Text(); text != "" && (!at.Held || at.Newest) {
			to.text(PieceError, text+" ("+code+")")
		}
		return true
	}
	d.parts(m.Parts, adkPartial(at.Metadata, m.Metadata), false, at, to)
	d.usage(at, m.Metadata, to)
	return true
}

func (d adk) artifact(a *a2a.Artifact, at *Carrier, to *Pieces) bool {
	d.parts(a.Parts, adkPartial(at.Metadata, a.Metadata), true, at, to)
	d.usage(at, a.Metadata, to)
	return true
}

// usage notes the tokens that the event, or what is in it, tells.
func (adk) usage(at *Carrier, metadata a2a.JSON, to *Pieces) {
	for _, m := range [...]a2a.JSON{at.Metadata, metadata} {
		if u := first(gjson.Parse(string(m)), "adk_usage_metadata", kagentKeys+"usage"); u.IsObject() {
			to.Usage = a2a.JSON(u.Raw)
		}
	}
}

// A partial says of text whether it is a piece of one.
type partial int8

const (
	partialUnset partial = iota
	isPiece
	isWhole
)

// adkPartial reads the mark of the first metadata that has one.
func adkPartial(metadata ...a2a.JSON) partial {
	for _, m := range metadata {
		if !strings.Contains(string(m), "adk_partial") {
			continue
		}
		switch v := gjson.Get(string(m), "adk_partial"); v.Type {
		case gjson.True:
			return isPiece
		case gjson.False:
			return isWhole
		}
	}
	return partialUnset
}

// parts splits the parts of a message, or of an artifact, by its mark and their own.
func (d adk) parts(parts a2a.Parts, mark partial, artifact bool, at *Carrier, to *Pieces) {
	for p := range parts.All() {
		part := mark
		if own := adkPartial(p.Metadata); own != partialUnset {
			part = own
		}
		switch kind := first(gjson.Parse(string(p.Metadata)), "adk_type", "kagent_type", kagentKeys+"part-type").Str; {
		case p.Kind == a2a.PartText:
			d.text(p, part, artifact, at, to)
		case p.Kind == a2a.PartData && d.data(kind, gjson.Parse(string(p.Data)), gjson.Get(string(p.Metadata), "adk_is_long_running").Bool(), at, to):
		case p.Kind == a2a.PartData && part == isPiece:
		default:
			to.part(p)
		}
	}
}

// text adds a text as what it is: a thought or not, a piece or the whole.
func (adk) text(p *a2a.Part, mark partial, artifact bool, at *Carrier, to *Pieces) {
	thought := gjson.Get(string(p.Metadata), "adk_thought").Bool()
	if at.Held && mark == isPiece {
		return // the newest piece only
	}
	switch {
	case thought && (mark == isPiece || mark == partialUnset && artifact && !at.Held && !at.Last):
		to.text(PieceThought, p.Text)
	case thought:
		to.text(PieceWholeThought, p.Text)
	case mark == isPiece:
		to.text(PieceDelta, p.Text)
	case at.Streamed && artifact && !at.Held:
		to.text(PieceWhole, p.Text)
	default:
		to.text(PieceText, p.Text)
	}
}

// adkAsks reports whether a question in a message, if there is one, waits for its answer.
func adkAsks(at *Carrier) bool {
	return at.State.Waits() && (at.Newest || !at.Held)
}

// data reads a data part; false if its kind is none of ADK's own, as kagent's "file_too_large".
func (d adk) data(kind string, v gjson.Result, long bool, at *Carrier, to *Pieces) bool {
	id, name := v.Get("id").Str, v.Get("name").Str
	if kind == "function_response" && name == id {
		name = "" // a result has no name at kagent's executor for OpenAI's SDK
	}
	asks := adkAsks(at)
	switch {
	case name == adkConfirm && (kind == "function_response" || !asks):
	case kind == "function_call" && name == adkConfirm:
		d.confirmation(id, v.Get("args"), to)
	case kind == "function_call" && name == adkCredential:
		if asks {
			to.ask(Input{ID: id, Name: name, Text: "The agent wants you to sign in" + adkSignIn(v) + ", which a2astdio cannot do for it: your next message is taken for ADK's AuthConfig, a JSON object."})
		}
	case kind == "function_call" && long && asks:
		to.call(calls.ToolCall{ID: id, Name: name, Input: adkArgs(v), Status: calls.Executing})
		to.ask(Input{ID: id, Name: name, Text: "The agent waits for the result of " + name + ": your next message is it."})
	case kind == "function_call":
		to.call(calls.ToolCall{ID: id, Name: name, Input: adkArgs(v), Status: calls.Executing})
	case kind == "function_response":
		d.response(id, name, v.Get("response"), to)
	case kind == "executable_code":
		to.call(calls.ToolCall{ID: "code", Name: "code", Kind: "execute", Input: a2a.JSON(v.Raw), Description: v.Get("language").String(), Status: calls.Executing})
	case kind == "code_execution_result":
		c := calls.ToolCall{ID: "code", Name: "code", Status: calls.Succeeded, Output: &calls.Output{Text: v.Get("output").String()}}
		if outcome := v.Get("outcome").Str; outcome != "" && outcome != "OUTCOME_OK" {
			c.Status, c.Output, c.Error = calls.Failed, nil, &calls.ErrorDetails{Message: v.Get("output").String(), Type: outcome}
		}
		to.call(c)
	default:
		return false
	}
	return true
}

// adkArgs are a call's arguments. trpc-agent-go has them as the model has written them, in a string.
func adkArgs(call gjson.Result) a2a.JSON {
	args := call.Get("args")
	if args.Type == gjson.String && gjson.Valid(args.Str) && gjson.Parse(args.Str).IsObject() {
		return a2a.JSON(args.Str)
	}
	return a2a.JSON(args.Raw)
}

// response adds the result of a call. A call that waits for a confirmation has an error that says
// so, in words that differ between ADK's servers.
func (adk) response(id, name string, v gjson.Result, to *Pieces) {
	c := calls.ToolCall{ID: id, Name: name, Status: calls.Succeeded}
	text, result := v.Get("error").String(), v.Get("result")
	switch {
	case text != "" && strings.Contains(text, "requires confirmation"):
		c.Status = calls.Pending
	case text != "":
		c.Status, c.Error = calls.Failed, &calls.ErrorDetails{Message: text}
	case v.Get("isError").Bool(): // kagent's Claude and Codex; ADK for Python, with MCP's own result
		c.Status, c.Error = calls.Failed, &calls.ErrorDetails{Message: cmp.Or(v.Get("result").String(), v.Raw)}
	case result.Exists() && !result.IsObject() && !result.IsArray() && len(v.Map()) == 1: // null: Python's tools that return nothing
		c.Output = &calls.Output{Text: result.String()}
	case v.Type == gjson.String:
		c.Output = &calls.Output{Text: v.Str}
	default:
		c.Output = &calls.Output{Data: a2a.JSON(v.Raw)}
	}
	to.call(c)
}

// adkConfirm is the call by which ADK asks whether it may make another one, adkCredential that by which it wants
// a credential for one. What that proposes holds the agent's own secret, so it is not shown.
const (
	adkConfirm    = "adk_request_confirmation"
	adkCredential = "adk_request_credential"
)

// adkSignIn is where the user signs in, if a call for a credential tells that.
func adkSignIn(call gjson.Result) string {
	if uri := first(call, "args.authConfig.exchangedAuthCredential.oauth2.authUri").String(); uri != "" {
		return " at <" + uri + ">"
	}
	return ""
}

// confirmation adds the call that the agent wants to make, as one that asks. The payload are values
// that the tool goes by, as the agent proposes them.
func (adk) confirmation(id string, args gjson.Result, to *Pieces) {
	original := args.Get("originalFunctionCall")
	hint := args.Get("toolConfirmation.hint").String()
	if strings.Contains(hint, "FunctionResponse") {
		hint = "" // ADK's own words, to a programmer
	}
	c := calls.ToolCall{ID: original.Get("id").String(), QuestionID: id, Name: original.Get("name").String(), Input: a2a.JSON(original.Get("args").Raw),
		Status: calls.Pending, Asks: true, Confirmation: &calls.Confirmation{Generic: &calls.GenericDetails{Description: hint}}}
	if payload := args.Get("toolConfirmation.payload"); payload.Exists() && payload.Type != gjson.Null {
		c.Confirmation.Unread = a2a.JSON(`{"payload":` + payload.Raw + `}`)
	}
	c.ID = cmp.Or(c.ID, id)
	to.call(c)
}

// adkPayload is the payload of a call's confirmation; it need not exist.
func adkPayload(c *calls.ToolCall) (payload gjson.Result) {
	if c.Confirmation != nil {
		payload = gjson.Get(string(c.Confirmation.Unread), "payload")
	}
	return payload
}

// The choices of a confirmation, which ADK does not name.
const (
	adkAllow  = "allow_once"
	adkReject = "reject_once"
)

func (adk) options(c *calls.ToolCall) []ask.Option {
	if len(c.Confirmation.Options) > 0 {
		return nil // kagent's
	}
	allow, reject := ask.NewOption(calls.ConfirmationOption{ID: adkAllow, Name: "Allow"}), ask.NewOption(calls.ConfirmationOption{ID: adkReject, Name: "Reject"})
	if adkPayload(c).Exists() {
		allow.Name = "Allow with this payload"
	}
	return []ask.Option{allow, reject}
}

// addADKResponse adds a function response, which is how ADK is answered, to a message.
func addADKResponse(id, name string, response any, m *a2a.Outgoing) error {
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

func (adk) answer(a ask.Answer, m *a2a.Outgoing) error {
	if a.OptionID == kagentAllow || a.OptionID == kagentReject {
		return addKagentDecision(a, m)
	}
	r := adkConfirmed{Confirmed: a.OptionID == adkAllow}
	if payload := adkPayload(a.Call); r.Confirmed && payload.Exists() {
		r.Payload = json.RawMessage(payload.Raw)
	}
	return addADKResponse(a.Call.QuestionID, adkConfirm, r, m)
}

// reply is the result of a tool that runs long: an object as it is, any other words as the
// result in one.
func (adk) reply(in Input, text string, m *a2a.Outgoing) error {
	if in.Questions > 0 {
		return addKagentReply(in, text, m)
	}
	if strings.HasPrefix(text, "{") && gjson.Valid(text) {
		return addADKResponse(in.ID, in.Name, json.RawMessage(text), m)
	}
	return addADKResponse(in.ID, in.Name, map[string]string{"result": text}, m)
}
