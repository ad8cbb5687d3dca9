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

// What became of a message for a turn that runs.
const (
	SteeringInjected = "injected"
	SteeringNewTurn  = "startedNewTurn"
	SteeringPrompt   = "promptRequired"
	SteeringFailed   = "failed"
)
