package spell

import (
	"github.com/tidwall/gjson"

	"github.com/a2astdio/a2astdio/mapping/calls"
	"github.com/a2astdio/a2astdio/transport/a2a"
)

// Quota is the _meta of a prompt's response that says what the turn cost, the
// way Gemini CLI's own ACP agent does; nil if the agent has not said. (ACP's
// usage_update needs the size of the context, which no A2A agent tells.)
func Quota(usage a2a.JSON) map[string]any {
	u := calls.ReadObject(nil, string(usage))
	in := gjson.Parse(u.Get("promptTokenCount", "input_tokens", "inputTokens"))
	out := gjson.Parse(u.Get("candidatesTokenCount", "output_tokens", "outputTokens"))
	if in.Type != gjson.Number || out.Type != gjson.Number {
		return nil
	}
	return map[string]any{"quota": map[string]any{"token_count": map[string]any{
		"input_tokens": in.Int(), "output_tokens": out.Int()}}}
}
