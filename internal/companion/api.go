package companion

import (
	"context"
	"log/slog"

	"github.com/sourcegraph/jsonrpc2"
)

// Methods between the editor and the companion. The editor may send its own as
// notifications, or as requests, which are answered with {} or an error.
const (
	// MethodContextUpdate (editor): what the user has open. [Context].
	MethodContextUpdate = "ide/contextUpdate"
	// MethodDiffAccepted (editor): the user accepts a diff. [Decision].
	MethodDiffAccepted = "ide/diffAccepted"
	// MethodDiffRejected (editor): the user rejects a diff. [Decision].
	MethodDiffRejected = "ide/diffRejected"
	// MethodWorkspaces (editor): the workspace roots have changed. [Workspaces].
	MethodWorkspaces = "companion/workspaces"

	// MethodOpenDiff (companion, request): show a diff, and answer {} as soon as
	// it is shown. [OpenDiff].
	MethodOpenDiff = "ide/openDiff"
	// MethodCloseDiff (companion, request): take a diff away. [CloseDiff], and
	// [CloseDiffResult].
	MethodCloseDiff = "ide/closeDiff"
	// MethodStarted (companion, notification): where the companion is. Sent at
	// the start, and when the workspaces have changed. [Started].
	MethodStarted = "companion/started"
)

// Errors of [Server.Handle], for [errors.Is]. Both have a method Code() int, JSON-RPC's
// code for the answer, for callers that do not import this package; other errors are
// JSON-RPC's internal error.
var (
	// ErrMethod: the method is not the editor's.
	ErrMethod error = &codeError{jsonrpc2.CodeMethodNotFound, "not a method of the companion"}
	// ErrParams: the editor's params are wrong.
	ErrParams error = &codeError{jsonrpc2.CodeInvalidParams, "wrong params"}
)

type codeError struct {
	code int
	text string
}

func (e *codeError) Error() string { return e.text }

// Code returns JSON-RPC's code.
func (e *codeError) Code() int { return e.code }

// An Editor is what shows files and diffs to the user. Its methods are called
// from several goroutines at once.
type Editor interface {
	// Request sends a request, and decodes the answer into result. It returns ctx's
	// error when ctx ends first. After any error for [MethodOpenDiff] the CLI asks
	// the user in the terminal alone; after -32601 ([jsonrpc2.Error]) no CLI that
	// connects later is offered diffs.
	Request(ctx context.Context, method string, params, result any) error
	// Notify sends a notification. The companion goes on if that fails.
	Notify(ctx context.Context, method string, params any) error
}

// Started is the params of [MethodStarted].
type Started struct {
	Port       int      `json:"port"`
	AuthToken  string   `json:"authToken"`
	Workspaces []string `json:"workspaces"`
	// Env is for the editor's terminals: by it a CLI finds this window's companion
	// among several. It has no token.
	Env map[string]string `json:"env"`
}

// Workspaces is the params of [MethodWorkspaces]: absolute paths, all of them.
type Workspaces struct {
	Workspaces []string `json:"workspaces"`
}

// OpenDiff is the params of [MethodOpenDiff]. Two CLIs may have a diff of one file
// open: DiffID tells which is which.
type OpenDiff struct {
	DiffID     string `json:"diffId"`
	FilePath   string `json:"filePath"`
	NewContent string `json:"newContent"`
}

// CloseDiff is the params of [MethodCloseDiff].
type CloseDiff struct {
	DiffID   string `json:"diffId"`
	FilePath string `json:"filePath"`
}

// CloseDiffResult is the answer to [MethodCloseDiff]: the content of the diff's
// editable side, with the user's changes; nil if there is no such diff.
type CloseDiffResult struct {
	Content *string `json:"content"`
}

// Decision is the params of [MethodDiffAccepted] and [MethodDiffRejected]. Content is the
// whole file as the user accepts it; a rejection has none.
type Decision struct {
	DiffID  string  `json:"diffId"`
	Content *string `json:"content"`
}

// Options are the settings of [Start].
type Options struct {
	// DisplayName is what the CLIs call the editor, for example Neovim; "" is
	// Editor. In lower case and without blanks it is also the editor's name.
	DisplayName string
	// Workspaces are the absolute paths of the workspace roots. A CLI in no
	// directory below one of them does not connect. None: the current directory.
	Workspaces []string
	// NoDiffs is for an editor that shows no diffs. The CLIs then ask in the terminal.
	// Without it, a CLI that speaks ACP itself would wait for a decision in the editor
	// that never comes.
	NoDiffs bool
	// EditorPID is the editor's process; 0: our parent.
	EditorPID int
	// Version is the program's.
	Version string
	// Log may be nil. It gets no token and no content.
	Log *slog.Logger
}
