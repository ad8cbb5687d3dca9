package acp

// This file has the words of version 2 that version 1 lacks, or has otherwise.

// Version2 is the version of the protocol beside [Version].
const Version2 = 2

// The methods of version 2 that version 1 has under other names, or lacks. Steering is a
// convention of agents and clients.
const (
	MethodAuthLogin  = "auth/login"
	MethodAuthLogout = "auth/logout"
	MethodSteering   = "_session/steering"

	MethodSessionUpdate = "session/update"
)

// CodeUnsupportedVersion says that no version is served that the client could speak.
const CodeUnsupportedVersion = -32022

// The states of a session.
const (
	StateRunning        = "running"
	StateRequiresAction = "requires_action"
	StateIdle           = "idle"
)

// StopError is the stop reason of a turn that has failed.
const StopError = "error"

// ToolCancelled is the state of a tool call that was cancelled.
const ToolCancelled = "cancelled"

// Initialize2Response says what the agent can do. Abilities are marked by objects.
type Initialize2Response struct {
	ProtocolVersion int            `json:"protocolVersion"`
	Info            Implementation `json:"info"`
	Capabilities    struct {
		Session Session2Capabilities `json:"session"`
	} `json:"capabilities"`
	AuthMethods []AuthMethod2  `json:"authMethods,omitempty"`
	Meta        map[string]any `json:"_meta,omitempty"`
}

// Session2Capabilities marks what sessions may have.
type Session2Capabilities struct {
	Prompt                map[string]struct{} `json:"prompt"`
	MCP                   map[string]struct{} `json:"mcp,omitempty"`
	Delete                *struct{}           `json:"delete,omitempty"`
	AdditionalDirectories *struct{}           `json:"additionalDirectories,omitempty"`
}

// AuthMethod2 is an [AuthMethod] in version 2, which names the type of each.
type AuthMethod2 struct {
	MethodID    string        `json:"methodId"`
	Name        string        `json:"name"`
	Description string        `json:"description,omitempty"`
	Type        string        `json:"type"`
	Args        []string      `json:"args,omitempty"`
	Env         []EnvVariable `json:"env,omitempty"`
}

// EnvVariable is a variable of a program's environment.
type EnvVariable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// SessionUpdate is session/update's, of a [StateUpdate].
type SessionUpdate struct {
	SessionID string      `json:"sessionId"`
	Update    StateUpdate `json:"update"`
}

// StateUpdate tells that a session does nothing any more, and why its turn has ended.
type StateUpdate struct {
	SessionUpdate string         `json:"sessionUpdate"`
	State         string         `json:"state"`
	StopReason    string         `json:"stopReason,omitempty"`
	Error         any            `json:"error,omitempty"`
	Meta          map[string]any `json:"_meta,omitempty"`
}

// Prompt2Response says that the prompt has its place in the conversation.
type Prompt2Response struct {
	MessageID string `json:"messageId"`
}

// What became of a message for a turn that runs.
const (
	SteeringInjected = "injected"
	SteeringNewTurn  = "startedNewTurn"
	SteeringPrompt   = "promptRequired"
	SteeringFailed   = "failed"
)

// Steering2Response says what became of a message for a turn that runs.
type Steering2Response struct {
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
}
