// Package acp holds the words of the Agent Client Protocol, version 1, as far
// as an agent needs them (schema of the npm package @agentclientprotocol/sdk
// 2.4.0). Absent members are left out, never null: to Lua clients null is true.
//
// Updates ([session/update] notifications) have no types here: package spell
// appends them as bytes.
package acp

import "encoding/json"

// Version is the protocol version that we speak, and answer with whatever was
// asked for (Initialization: an agent answers with the latest it supports).
const Version = 1

// The methods of the protocol that we serve or call.
const (
	MethodInitialize        = "initialize"
	MethodAuthenticate      = "authenticate"
	MethodLogout            = "logout"
	MethodSessionNew        = "session/new"
	MethodSessionLoad       = "session/load"
	MethodSessionResume     = "session/resume"
	MethodSessionList       = "session/list"
	MethodSessionClose      = "session/close"
	MethodSessionDelete     = "session/delete"
	MethodSessionPrompt     = "session/prompt"
	MethodSessionCancel     = "session/cancel"
	MethodSessionSetMode    = "session/set_mode"
	MethodSessionSetConfig  = "session/set_config_option"
	MethodRequestPermission = "session/request_permission"
	MethodCancelRequest     = "$/cancel_request"
	MethodElicit            = "elicitation/create"
	MethodElicited          = "elicitation/complete"
)

// The error codes that a client may meet. An agent's own never reach it as
// codes, because the numbers collide.
const (
	CodeInvalidRequest   = -32600
	CodeMethodNotFound   = -32601
	CodeInvalidParams    = -32602
	CodeInternal         = -32603
	CodeAuthRequired     = -32000
	CodeResourceNotFound = -32002
	CodeRequestCancelled = -32800
	// CodeNotSetUp is ours: CodeCompanion does not show the words of CodeInternal.
	CodeNotSetUp = -32010
)

// Why a turn ended.
const (
	StopEndTurn   = "end_turn"
	StopRefusal   = "refusal"
	StopCancelled = "cancelled"
)

// OutcomeSelected is how a permission request ends that the user has answered.
const OutcomeSelected = "selected"

// The kinds of permission options.
const (
	OptionAllowOnce    = "allow_once"
	OptionAllowAlways  = "allow_always"
	OptionRejectOnce   = "reject_once"
	OptionRejectAlways = "reject_always"
)

// The states of a tool call. There is none for cancelled in version 1.
const (
	ToolPending    = "pending"
	ToolInProgress = "in_progress"
	ToolCompleted  = "completed"
	ToolFailed     = "failed"
)

// The kinds of tools.
const (
	KindRead       = "read"
	KindEdit       = "edit"
	KindDelete     = "delete"
	KindMove       = "move"
	KindSearch     = "search"
	KindExecute    = "execute"
	KindThink      = "think"
	KindFetch      = "fetch"
	KindSwitchMode = "switch_mode"
	KindOther      = "other"
)

// InitializeRequest opens the connection.
type InitializeRequest struct {
	ProtocolVersion    int             `json:"protocolVersion"`
	ClientCapabilities json.RawMessage `json:"clientCapabilities,omitempty"`
	ClientInfo         *Implementation `json:"clientInfo,omitempty"`
}

// Implementation names a program.
type Implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version,omitempty"`
}

// AuthTerminal is the type of an [AuthMethod] that the editor runs in a terminal.
const AuthTerminal = "terminal"

// AuthMethod is a way to authenticate that the editor may offer. One without a type
// is the agent's own, which authenticate asks for. With [AuthTerminal] the editor
// starts the agent's program once more, in a terminal, with Args behind its own
// arguments and Env over its own environment; status 0 is success. In version 2 its name is
// MethodID, each has a type, and Env is a list.
type AuthMethod struct {
	ID          string    `json:"id,omitempty"`
	MethodID    string    `json:"methodId,omitempty"`
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Type        string    `json:"type,omitempty"`
	Args        []string  `json:"args,omitempty"`
	Env         any       `json:"env,omitempty"` // a map[string]string
	Meta        *AuthMeta `json:"_meta,omitempty"`
}

// AuthMeta is how editors learn of a terminal's method that know the convention from
// before [AuthTerminal]: they run the command as it stands.
type AuthMeta struct {
	TerminalAuth TerminalAuth `json:"terminal-auth"`
}

// TerminalAuth is a command to run in a terminal.
type TerminalAuth struct {
	Label   string   `json:"label"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// NewSessionRequest is session/new's, and the common part of session/load's and
// session/resume's.
type NewSessionRequest struct {
	SessionID  string            `json:"sessionId,omitempty"`
	Cwd        string            `json:"cwd"`
	McpServers []json.RawMessage `json:"mcpServers"`
	// AdditionalDirectories are absolute paths, beside Cwd. Omitted is none, also where
	// a stored session had some.
	AdditionalDirectories []string `json:"additionalDirectories,omitempty"`
	// ReplayFrom is version 2's: the type says from where the conversation is shown again.
	ReplayFrom *struct {
		Type string `json:"type"`
	} `json:"replayFrom,omitempty"`
}

// NewSessionResponse answers it. The ID is left out by load and resume, Modes by version 2.
type NewSessionResponse struct {
	SessionID string        `json:"sessionId,omitempty"`
	Modes     *SessionModes `json:"modes,omitempty"`
	// ConfigOptions say the same as Modes: clients that know them do not look there.
	ConfigOptions []ConfigOption `json:"configOptions,omitempty"`
}

// ConfigOption is a choice that the user has in a session (Session Config Options). Its name is ID
// in version 1, and ConfigID in version 2.
type ConfigOption struct {
	ID           string        `json:"id,omitempty"`
	ConfigID     string        `json:"configId,omitempty"`
	Name         string        `json:"name"`
	Description  string        `json:"description,omitempty"`
	Category     string        `json:"category,omitempty"`
	Type         string        `json:"type"`
	CurrentValue string        `json:"currentValue"`
	Options      []ConfigValue `json:"options"`
}

// The type of a [ConfigOption] with a list of values, and the category of one that
// is the session's mode.
const (
	ConfigSelect = "select"
	ConfigMode   = "mode"
)

// ConfigValue is a value that a [ConfigOption] can have.
type ConfigValue struct {
	Value       string `json:"value"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// SetConfigRequest is session/set_config_option's. Value is a string, of an option
// with a list of values; version 2 wants the Type "id" of it.
type SetConfigRequest struct {
	SessionID string          `json:"sessionId"`
	ConfigID  string          `json:"configId"`
	Type      string          `json:"type"`
	Value     json.RawMessage `json:"value"`
}

// SessionModes is the mode that a session is in, and those that it could be in.
type SessionModes struct {
	CurrentModeID  string        `json:"currentModeId"`
	AvailableModes []SessionMode `json:"availableModes"`
}

// SessionMode is one of them.
type SessionMode struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// PromptRequest is session/prompt's.
type PromptRequest struct {
	SessionID string         `json:"sessionId"`
	Prompt    []ContentBlock `json:"prompt"`
}

// PromptResponse ends a turn.
type PromptResponse struct {
	StopReason string         `json:"stopReason"`
	Meta       map[string]any `json:"_meta,omitempty"`
}

// ContentBlock is a piece of a prompt.
type ContentBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
	// Data is base64, of MimeType: image and audio.
	Data     string `json:"data"`
	MimeType string `json:"mimeType"`
	// URI and Name: resource_link, and an image's origin.
	URI      string            `json:"uri"`
	Name     string            `json:"name"`
	Resource *EmbeddedResource `json:"resource"`
}

// EmbeddedResource is a resource block's content: Text or Blob.
type EmbeddedResource struct {
	URI      string  `json:"uri"`
	MimeType string  `json:"mimeType"`
	Text     *string `json:"text"`
	Blob     *string `json:"blob"`
}

// ListSessionsRequest is session/list's. It is answered with all sessions, so that it has no
// cursor.
type ListSessionsRequest struct {
	Cwd string `json:"cwd"`
}

// ListSessionsResponse answers it.
type ListSessionsResponse struct {
	Sessions []SessionInfo `json:"sessions"`
}

// SessionInfo is one session of a list. UpdatedAt is in RFC 3339.
type SessionInfo struct {
	SessionID string `json:"sessionId"`
	Cwd       string `json:"cwd"`
	Title     string `json:"title,omitempty"`
	UpdatedAt string `json:"updatedAt,omitempty"`
}

// SessionRequest is any request about one session.
type SessionRequest struct {
	SessionID string `json:"sessionId"`
	ModeID    string `json:"modeId,omitempty"`
}

// CancelRequest is $/cancel_request's: the ID is compared as JSON.
type CancelRequest struct {
	RequestID json.RawMessage `json:"requestId"`
}

// PermissionResponse answers session/request_permission.
type PermissionResponse struct {
	Outcome struct {
		Outcome  string `json:"outcome"`
		OptionID string `json:"optionId"`
	} `json:"outcome"`
	// Meta is where an editor may say what ACP has no member for: NewContent
	// replaces what the agent proposed to write into a file (docs/security.md).
	Meta struct {
		Ours struct {
			NewContent *string `json:"newContent"`
		} `json:"a2astdio"`
	} `json:"_meta"`
}

// A Command is a slash command, as an editor offers it.
type Command struct {
	Name, Description string // the name has a blank for each level of nesting: "memory show"
	Hint              string // names the arguments; empty: it takes none
}

// The methods of a client that serves its files; version 2 has none.
const (
	MethodReadTextFile  = "fs/read_text_file"
	MethodWriteTextFile = "fs/write_text_file"
)

// ReadTextFileRequest is fs/read_text_file's. Line, from 1, and Limit are optional.
type ReadTextFileRequest struct {
	SessionID string `json:"sessionId"`
	Path      string `json:"path"`
	Line      int    `json:"line,omitempty"`
	Limit     int    `json:"limit,omitempty"`
}
