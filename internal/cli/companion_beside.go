package cli

import (
	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/companion"
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
		server, err := companion.Start(editor, opts)
		if err != nil {
			p.say("%v", err) // the bridge goes on without it
			return nil, err
		}
		return server, nil
	}
	return nil
}
