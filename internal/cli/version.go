package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"
)

func (p *program) versionCommand() *cli.Command {
	return documented(&cli.Command{Name: "version", Usage: "show the version, the commit and the Go version",
		Flags: []cli.Flag{outputFlag(`{"version","commit","time","modified","go","platform"}; what is not known is left out`)}, Action: p.showVersion}, help{
		intro: `Shows what this a2astdio was made of. A build from a checkout knows its commit,
and so does one that go install has fetched.`,
		usage: []string{"a2astdio version [options]"},
		examples: []example{
			{"a2astdio version", "for a bug report"},
			{"a2astdio version -o json | jq -r .version", "for a script"},
		},
	})
}

// A built tells what a program was built from.
type built struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// whatBuilt reads what the go command has written into the program. A pseudo-version
// ends with the commit; a build with -buildvcs=false has neither.
func whatBuilt(version string, info *debug.BuildInfo) built {
	b := built{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info == nil {
		return b
	}
	b.Go = cmp.Or(info.GoVersion, b.Go)
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	if b.Commit == "" {
		base, _, _ := strings.Cut(info.Main.Version, "+")
		if parts := strings.Split(base, "-"); len(parts) > 2 && len(parts[len(parts)-1]) == pseudoCommit {
			b.Commit = parts[len(parts)-1]
		}
	}
	return b
}

// pseudoCommit is how much of a commit a pseudo-version holds (Go modules reference,
// "Pseudo-versions").
const pseudoCommit = 12

func (p *program) showVersion(c *cli.Context) error {
	_, asJSON, err := p.inputs(c)
	if err != nil {
		return err
	}
	info, _ := debug.ReadBuildInfo()
	b := whatBuilt(p.version, info)
	if asJSON {
		return p.printJSON(b)
	}
	commit := cmp.Or(b.Commit, "not recorded in this build")
	if b.Modified {
		commit += ", with changes"
	}
	if b.Time != "" {
		commit += ", of " + b.Time
	}
	_, err = fmt.Fprintf(p.stdout, "a2astdio %s\ncommit   %s\ngo       %s %s\n", b.Version, commit, b.Go, b.Platform)
	return err
}
