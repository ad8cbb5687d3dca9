package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/bridge/companion"
)

// addCompanion applies --companion and --context to the bridge.
func (p *program) addCompanion(c *cli.Context, l *link) error {
	if !c.Bool("companion") {
		if c.Bool("context") {
			return usagef("--context needs --companion, through which the editor says what the user looks at")
		}
		return nil
	}
	l.options.CompanionContext = c.Bool("context")
	l.options.Companion = func(editor bridge.CompanionEditor, info bridge.CompanionInfo) (bridge.Companion, error) {
		opts := &companion.Options{
			DisplayName: info.Name,
			NoDiffs:     info.NoDiffs,
			Version:     p.version,
			Log:         l.options.Log,
		}
		if info.Workspace != "" {
			opts.Workspaces = []string{info.Workspace}
		}
		server, err := companion.Start(besideEditor{editor}, opts)
		if err != nil {
			p.say("%v", err) // the bridge goes on without it
			return nil, err
		}
		return besideBridge{server}, nil
	}
	return nil
}

// besideBridge is the companion, as the bridge uses it.
type besideBridge struct{ *companion.Server }

// Active implements [bridge.Companion].
func (b besideBridge) Active() (path, selection string) {
	state := b.Context().WorkspaceState
	if state == nil {
		return "", ""
	}
	for _, f := range state.OpenFiles {
		if f.IsActive {
			return f.Path, f.SelectedText
		}
	}
	return "", ""
}

// besideEditor is the bridge's editor, as the companion uses it. An editor that does
// not know how to show a diff is not asked again.
type besideEditor struct{ bridge.CompanionEditor }

// Request implements [companion.Editor].
func (e besideEditor) Request(ctx context.Context, method string, params, result any) error {
	err := e.CompanionEditor.Request(ctx, method, params, result)
	if refused := (*jsonrpc2.Error)(nil); errors.As(err, &refused) && refused.Code == jsonrpc2.CodeMethodNotFound {
		return fmt.Errorf("%w: %v", companion.ErrNoDiffs, err)
	}
	return err
}
