package config

import (
	"slices"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/mapping"
	"github.com/a2astdio/a2astdio/transport"
)

// A Place is where a key may stand. Places can be combined.
type Place uint8

const (
	Top       Place = 1 << iota // before the first table of the user's file, for every agent
	Agent                       // in [agents.NAME] of the user's file
	Workspace                   // in the file of a workspace
)

// A Kind is the type of a key's value.
type Kind uint8

const (
	KindText     Kind = iota // a string
	KindWord                 // a string, one of Key.Words
	KindPath                 // a file's name: ~/ is the home directory; a relative one is relative to the configuration
	KindLocation             // a URL, the word demo, or a Path
	KindDuration             // a string like "30s"
	KindBool                 // true or false
	KindList                 // a list of strings
	KindHeaders              // a table of strings
	KindObject               // any table, for the agent
)

// A Key is a key of a configuration. To add one, add it to the list in this file: help,
// checks, the template of setup, config show and the test of docs/configuration.md use
// the list.
type Key struct {
	// Name is the key's name; Flag is the option of the same meaning, "" if there is none.
	Name, Flag string
	In         Place
	Kind       Kind
	Words      func() []string // of a KindWord
	// Help is a sentence on its purpose, Example a value in TOML.
	Help, Example string
}

// keys lists all keys, in the order of the documentation.
var keys = []Key{
	{Name: "agent", Flag: "agent", In: Top | Workspace, Kind: KindLocation, Example: `"work"`,
		Help: "the agent to use if no other is named: the name of one that is defined below, a URL, the file of a card, or demo; in a workspace's file a name"},
	{Name: "url", In: Agent, Kind: KindLocation, Example: `"https://agent.example"`,
		Help: "where the agent is: what --agent takes, except for a name"},
	{Name: "command", In: Agent, Kind: KindText, Example: `"npx -y @google/gemini-cli-a2a-server"`,
		Help: "instead of url: the command that starts the agent, as --agent-command has it; a relative path in it begins beside your file"},
	{Name: "working-directory", Flag: "working-directory", In: Agent, Kind: KindWord, Words: workingDirectories, Example: `"workspace"`,
		Help: "where command runs: in an empty directory of ours (neutral), or in the workspace, which you are asked to allow once for each"},
	{Name: "card", Flag: "card", In: Agent, Kind: KindLocation, Example: `"https://agent.example/v1/card"`,
		Help: "the agent's card, where that is not where agents have it, or is wrong: a URL or a file"},
	{Name: "headers", In: Agent, Kind: KindHeaders, Example: `{ Authorization = "Bearer ${WORK_TOKEN}" }`,
		Help: "headers for each request to the agent; ${NAME} in a value stands for an environment variable. A header of the same name in --header wins"},
	{Name: "token-file", Flag: "token-file", In: Agent, Kind: KindPath, Example: `"~/work-token"`,
		Help: "a token, a key or user:password for the agent, in a file that only you can read; see docs/security.md for this and the next ones"},
	{Name: "credential-command", Flag: "credential-command", In: Agent, Kind: KindText, Example: `"gcloud auth print-access-token"`,
		Help: "instead of token-file: a command that prints a token, or headers as JSON"},
	{Name: "oauth-client-id", Flag: "oauth-client-id", In: Agent, Kind: KindText, Example: `"a2astdio-work"`,
		Help: "as which OAuth client to sign in"},
	{Name: "oauth-client-secret-file", Flag: "oauth-client-secret-file", In: Agent, Kind: KindPath, Example: `"~/work-client-secret"`,
		Help: "the client's secret, in a file that only you can read"},
	{Name: "oauth-client-secret-command", Flag: "oauth-client-secret-command", In: Agent, Kind: KindText, Example: `"pass show work/client"`,
		Help: "instead of oauth-client-secret-file: a command that prints it"},
	{Name: "oauth-issuer", Flag: "oauth-issuer", In: Agent, Kind: KindText, Example: `"https://login.example"`,
		Help: "the identity provider that you vouch for, instead of the one that the agent's card names"},
	{Name: "oauth-scopes", Flag: "oauth-scope", In: Agent, Kind: KindList, Example: `["openid", "agent"]`,
		Help: "what to ask the identity provider for, instead of what the card wants"},
	{Name: "oauth-redirect", Flag: "oauth-redirect", In: Agent, Kind: KindText, Example: `"http://127.0.0.1:8400/callback"`,
		Help: "the redirect URL on this machine, if the client is registered with one"},
	{Name: "oauth-params", Flag: "oauth-param", In: Agent, Kind: KindList, Example: `["audience=https://agent.example"]`,
		Help: "further parameters for the identity provider"},
	{Name: "ca-file", Flag: "ca-file", In: Top | Agent, Kind: KindPath, Example: `"~/company-ca.pem"`,
		Help: "certificates of authorities to trust beside the system's (PEM)"},
	{Name: "client-cert", Flag: "client-cert", In: Agent, Kind: KindPath, Example: `"~/work-cert.pem"`,
		Help: "a certificate of yours to show to the agent (PEM)"},
	{Name: "client-key", Flag: "client-key", In: Agent, Kind: KindPath, Example: `"~/work-key.pem"`,
		Help: "the certificate's key, if it is not in the same file (PEM)"},
	{Name: "insecure", Flag: "insecure", In: Agent, Kind: KindBool, Example: `true`,
		Help: "do not verify certificates: for development; your credentials are then sent to this machine alone"},
	{Name: "trust-origins", Flag: "trust-origin", In: Agent, Kind: KindList, Example: `["https://gateway.example"]`,
		Help: "other origins that the agent's card, or a redirect, may lead to with your headers"},
	{Name: "signature-keys", Flag: "signature-key", In: Agent, Kind: KindList, Example: `["~/work-key.pem"]`,
		Help: "keys that you trust to sign the agent's card: files, https URLs of a JWKS, or thumbprints"},
	{Name: "require-signature", Flag: "require-signature", In: Agent, Kind: KindBool, Example: `true`,
		Help: "use the agent only if one of signature-keys has signed its card"},
	{Name: "a2a-version", Flag: "a2a-version", In: Agent, Kind: KindWord, Words: transport.Versions, Example: `"1.0"`,
		Help: "the protocol version to speak"},
	{Name: "binding", Flag: "binding", In: Agent, Kind: KindWord, Words: transport.Bindings, Example: `"http+json"`,
		Help: "how requests are written"},
	{Name: "extensions", Flag: "extension", In: Agent, Kind: KindList, Example: `["https://example.com/extension/v1"]`,
		Help: "the URIs of further A2A extensions to activate"},
	{Name: "dialect", Flag: "dialect", In: Agent, Kind: KindWord, Words: mapping.Dialects, Example: `"devtool"`,
		Help: "how to write settings and answers to the agent"},
	{Name: "agent-settings", Flag: "agent-settings", In: Agent, Kind: KindObject, Example: `{ autoExecute = false }`,
		Help: "what to add to the settings that an agent with a dialect of its own gets first"},
	{Name: "forward-mcp", Flag: "forward-mcp", In: Agent, Kind: KindBool, Example: `true`,
		Help: "hand the editor's MCP servers to the agent, with the tokens that are in their settings; which agents take them is in docs/agents.md"},
	{Name: "mode", Flag: "mode", In: Top | Agent | Workspace, Kind: KindWord, Words: bridge.Modes, Example: `"accept-edits"`,
		Help: "what is allowed without asking you; in a workspace's file a stricter one than yours"},
	{Name: "timeout", Flag: "timeout", In: Top | Agent, Kind: KindDuration, Example: `"30s"`,
		Help: "how long connecting, starting the agent, and a request with one answer may take"},
	{Name: "idle-timeout", Flag: "idle-timeout", In: Top | Agent, Kind: KindDuration, Example: `"10m"`,
		Help: "how long the agent may be silent in the middle of its answer"},
	{Name: "webhook", Flag: "webhook", In: Top | Agent, Kind: KindText, Example: `"127.0.0.1:0"`,
		Help: "where to receive what the agent pushes: HOST:PORT; see docs/push.md for this and the next ones"},
	{Name: "webhook-url", Flag: "webhook-url", In: Top | Agent, Kind: KindText, Example: `"https://hooks.example"`,
		Help: "how the agent reaches the receiver"},
	{Name: "webhook-allow", Flag: "webhook-allow", In: Top | Agent, Kind: KindList, Example: `["10.0.0.0/8"]`,
		Help: "private addresses to which an editor may have the agent push"},
	{Name: "webhook-jwks", Flag: "webhook-jwks", In: Top | Agent, Kind: KindLocation, Example: `"https://agent.example/jwks.json"`,
		Help: "the keys of an agent that signs what it pushes, as a URL or a file"},
	{Name: "companion", Flag: "companion", In: Top | Agent, Kind: KindBool, Example: `true`,
		Help: "serve Gemini CLI and Qwen Code in the editor's terminal, too; see docs/companion.md"},
	{Name: "context", Flag: "context", In: Top | Agent, Kind: KindBool, Example: `true`,
		Help: "with companion: add the file that the user looks at, and what is selected in it, to each prompt"},
	{Name: "trace", Flag: "trace", In: Top | Agent, Kind: KindPath, Example: `"~/a2astdio.jsonl"`,
		Help: "the file that records what passes to and fro; it is emptied at each start"},
	{Name: "log", Flag: "log", In: Top, Kind: KindPath, Example: `"~/a2astdio.log"`,
		Help: "the file to which a2astdio appends what it notices"},
	{Name: "log-level", Flag: "log-level", In: Top, Kind: KindWord, Words: logLevels, Example: `"debug"`,
		Help: "how much to log"},
	{Name: "no-history", Flag: "no-history", In: Top | Agent, Kind: KindBool, Example: `true`,
		Help: "keep nothing of conversations on this machine, so that editors cannot load a session again, nor `send --continue` go on (what is kept of an agent's card tells its name and what it accepts)"},
	{Name: "protocol", Flag: "protocol", In: Top, Kind: KindWord, Words: bridge.Protocols, Example: `"acp"`,
		Help: "what the editor speaks"},
	{Name: "on-eof", Flag: "on-eof", In: Top, Kind: KindWord, Words: onEOF, Example: `"finish"`,
		Help: "what the end of input does to work that is under way"},
}

func workingDirectories() []string { return []string{"neutral", "workspace"} }
func logLevels() []string          { return []string{"debug", "info", "warn", "error"} }
func onEOF() []string              { return []string{"auto", bridge.OnEOFCancel, bridge.OnEOFFinish} }

// Keys returns all keys, in the order of the documentation.
func Keys() []Key { return slices.Clone(keys) }

// lookup returns a key's index in the list, -1 if there is none.
func lookup(name string) int {
	for i := range keys {
		if keys[i].Name == name {
			return i
		}
	}
	return -1
}

// laxness orders permission modes, the strictest first.
func laxness(mode string) int { return slices.Index(bridge.Modes(), mode) }

// takes describes a key's values, for an error.
func (k *Key) takes() string {
	switch k.Kind {
	case KindWord:
		return "one of " + quoted(k.Words())
	case KindDuration:
		return `a time like "30s" or "2m"`
	case KindBool:
		return "true or false"
	case KindList:
		return "a list like " + k.Example
	case KindHeaders, KindObject:
		return "a table like " + k.Example
	case KindPath:
		return `the name of a file, like ` + k.Example
	}
	return "a string like " + k.Example
}
