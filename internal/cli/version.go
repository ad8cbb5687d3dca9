package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"
)

func (p *program) versionCommand() *cli.Command {
	return documented(&cli.Command{Name: "version", Usage: "show the version, the commit and the Go version", Action: p.showVersion}, help{
		intro:    "Shows what this a2astdio was made of. A build from a checkout knows its commit.",
		usage:    []string{"a2astdio version"},
		examples: []example{{"a2astdio version", "for a bug report"}},
	})
}

func (p *program) showVersion(c *cli.Context) error {
	if err := p.noArguments(c); err != nil {
		return err
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
	_, err := fmt.Fprintf(p.stdout, "a2astdio %s\ncommit   %s\ngo       %s %s/%s\n", p.version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
