package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
)

func versionCommand(p *frame.Program) *cli.Command {
	return p.NewCommand("version", showVersion,
		&cli.BoolFlag{Name: "licenses", Usage: "show the licence of a2astdio, and for each module that is linked into it where its source is, and its licence"})
}

func showVersion(p *frame.Program, c *cli.Context) error {
	if c.Bool("licenses") {
		return licenses(p)
	}
	commit := "not recorded in this build"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				commit = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				commit += ", with changes"
			}
		}
	}
	_, err := fmt.Fprintf(p.Stdout, "a2astdio %s\ncommit   %s\ngo       %s %s/%s\n", p.Version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
