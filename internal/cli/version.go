package cli

import (
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
)

func versionCommand(p *frame.Program) *cli.Command {
	return p.NewCommand("version", showVersion,
		frame.Option{Name: "licenses", Kind: frame.Switch, Help: "show the licence of a2astdio, and for each module that is linked into it where its source is, and its licence"})
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

// The licences of linked modules want these notices: copyright and text with each copy,
// and for MPL-2.0 the place of the source. go generate writes them, and notices.txt for
// people. Packed they take a sixth of the space.
//
//go:embed notices.txt.gz
var notices string

func licenses(p *frame.Program) error {
	packed, err := gzip.NewReader(strings.NewReader(notices))
	if err != nil {
		return err
	}
	_, err = io.Copy(p.Stdout, packed)
	return err
}

// The help of a2astdio itself and the notices are generated from the commands and the
// linked modules, and committed. A test fails where they are stale.

//go:generate go test . -count=1 -run ^TestGenerated -update
