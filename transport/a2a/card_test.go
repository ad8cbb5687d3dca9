package a2a

import (
	"strings"
	"testing"

	"github.com/a2astdio/a2astdio/internal/test/must"
)

func TestCardTakes(t *testing.T) {
	for _, test := range must.Table[struct {
		Modes, Media string
		Want         bool
	}](t, "testdata/takes.txt") {
		if got := (&Card{InputModes: strings.Fields(test.Modes)}).Takes(test.Media); got != test.Want {
			t.Errorf("%q takes %s: %t", test.Modes, test.Media, got)
		}
	}
}
