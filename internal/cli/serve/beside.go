package serve

import (
	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/cli/frame"
	"github.com/a2astdio/a2astdio/internal/cli/reach"
	"github.com/a2astdio/a2astdio/internal/companion"
)

// addCompanion applies --companion and --context to the bridge.
func addCompanion(p *frame.Program, c *cli.Context, l *reach.Link) error {
	if !c.Bool("companion") {
		if c.Bool("context") {
			return frame.Usagef("--context needs --companion, through which the editor says what the user looks at")
		}
		return nil
	}
	l.Options.CompanionContext = c.Bool("context")
	l.Options.Companion = func(editor bridge.CompanionEditor, info bridge.CompanionInfo) (bridge.Companion, error) {
		opts := &companion.Options{
			DisplayName: info.Name,
			NoDiffs:     info.NoDiffs,
			Version:     p.Version,
			Log:         l.Options.Log,
		}
		if info.Workspace != "" {
			opts.Workspaces = []string{info.Workspace}
		}
		server, err := companion.Start(editor, opts)
		if err != nil {
			p.Say("%v", err) // the bridge goes on without it
			return nil, err
		}
		return beside{server}, nil
	}
	return nil
}

// beside is a companion for the bridge.
type beside struct{ *companion.Server }

// OpenFiles implements [bridge.Companion].
func (b beside) OpenFiles() (files []bridge.OpenFile) {
	state := b.Context().WorkspaceState
	if state == nil {
		return nil
	}
	for _, f := range state.OpenFiles {
		file := bridge.OpenFile{Path: f.Path, Active: f.IsActive, Selection: f.SelectedText}
		if f.Cursor != nil {
			file.Line = int(f.Cursor.Line)
		}
		files = append(files, file)
	}
	return files
}
