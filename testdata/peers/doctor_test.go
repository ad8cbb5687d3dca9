package peers

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

// knownFindings are what doctor --prompt says of other people's agents, and why that is so. An
// error is one that its maker would have to mend; all else of these agents is right.
var knownFindings = []struct{ peer, weight, begins, why string }{
	{"", "warning", "skills: is empty", "the agents of these tests have none"},
	{"", "warning", `defaultInputModes: "text" is no media type`, "as the examples of the SDKs have it"},
	{"", "warning", "preferredTransport: is missing", "many cards of 0.3 leave it out, and clients take it for JSONRPC"},
	{goV03, "warning", "the Content-Type of the answer must be application/json", "a2a-go 0.3 names none, so net/http guesses"},
	{jsV03, "warning", "a task that is not there must be answered with the error -32001", "a2a-js 0.3 answers with -32603"},
	{adkJS, "warning", "a task that is not there must be answered with the error -32001", "it rests on a2a-js 0.3"},
	{adkJS, "warning", "it is to be appended to the artifact", "its first piece has append: true"},
	{adkGo, "warning", "it takes the place of the artifact", "each piece replaces the one before, and the last is the whole"},
	{trpc, "error", "protocolVersion: is missing", "its card has no version of A2A"},
	{trpc, "error", "the task ", "a task that was completed can be cancelled, and is canceled then"},
	{trpc, "warning", "a task that has ended cannot be cancelled", "the same"},
	{trpc, "warning", "an error of JSON-RPC comes with HTTP status 200", "it answers with the status 500"},
	{trpc, "warning", `artifacts: "answer" is there twice`, "each piece is an artifact of its own in the task"},
	{trpc, "warning", "the task holds another text of the artifact", "the same"},
	{mastra, "error", `jsonrpc must be "2.0", and is missing`, "its error for a method that it has not is no JSON-RPC"},
	{strands, "warning", "missing: the agent answers that it has no tasks/cancel", "it cannot cancel a task"},
	{inference, "error", "the answer is HTTP status 404", "its card names its host, and it answers at /a2a"},
	{inference, "error", "result.kind: is missing", "it has no kind anywhere"},
	{inference, "error", "result.history[0].", "the same"},
	{inference, "error", "the answer is no JSON, but the end of OpenAI's streams", "it ends streams as OpenAI does"},
	{inference, "warning", "a task that is not there must be answered with the error -32001", "it answers with -32602"},
	{reactive, "error", "provider.url: is missing", "its card has the provider's name alone"},
	{reactive, "error", "the ID must be ", "it has IDs of its own in streams, and none in errors"},
	{reactive, "error", "it comes after what must be the last of its stream", "the answer comes behind final: true"},
	{reactive, "error", "the context was ", "each message has a context of its own, whatever its own says"},
	{reactive, "warning", "a task that is not there must be answered with the error -32001", "all its errors are -32000"},
	{reactive, "warning", "a method that does not exist must be answered with the error -32601", "the same"},
	{reactive, "warning", "the task is completed, and nothing was said", "the answer comes behind that"},
}

const adkGo, adkJS, trpc, mastra, reactive, strands = "ADK for Go", "ADK for JavaScript", "trpc-a2a-go", "Mastra", "Reactive Agents", "Strands"
const inference = "inference-gateway"

// doctor --prompt finds nothing at the demo, and at agents of the SDKs, but knownFindings and each
// of these. (TestFrameworks asks for the others.)
func TestDoctorSDKs(t *testing.T) {
	for _, name := range []string{"demo", goV2, goV03, jsV1, jsV03} {
		t.Run(name, func(t *testing.T) { diagnose(t, name, sdkServer(t, name)) })
	}
}

// diagnose holds what doctor finds at an agent against knownFindings.
func diagnose(t *testing.T, name, url string) {
	t.Helper()
	out, err := exec.Command(binary, "--agent", url, "--workspace", t.TempDir(), "doctor", "-o", "json", "--prompt", "hello").Output()
	var report struct {
		Findings []struct{ Weight, What, Text string }
	}
	if jsonErr := json.Unmarshal(out, &report); jsonErr != nil {
		t.Fatalf("%v, %v: %s", err, jsonErr, out)
	}
	seen := map[string]bool{}
	for _, f := range report.Findings {
		known := false
		for _, k := range knownFindings {
			if (k.peer == "" || k.peer == name) && k.weight == f.Weight && strings.HasPrefix(f.Text, k.begins) {
				known, seen[k.begins] = true, true
			}
		}
		if !known {
			t.Errorf("%s: %s: %s", f.Weight, f.What, f.Text)
		}
	}
	for _, k := range knownFindings {
		if k.peer == name && !seen[k.begins] {
			t.Errorf("it is not found any more that %s: %s", k.why, k.begins)
		}
	}
}
