package cli

import (
	"compress/gzip"
	_ "embed"
	"io"
	"strings"

	"github.com/a2astdio/a2astdio/internal/cli/frame"
)

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
