package doctor

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/internal/test/must"
	"github.com/a2astdio/a2astdio/mapping"
)

// TestSilence: what the bridge itself says is no word of the agent's.
func TestSilence(t *testing.T) {
	for kind, fires := range map[mapping.StepKind]bool{mapping.StepNotice: false, mapping.StepText: true} {
		synctest.Test(t, func(t *testing.T) {
			fired := make(chan time.Time, 1)
			begun := time.Now()
			e := &examiner{idle: promptSilence, silent: time.AfterFunc(2*promptTime, func() { fired <- time.Now() })}
			must.Do(t, e.Show(t.Context(), []mapping.Step{{Kind: kind}}))
			must.Equal(t, (<-fired).Sub(begun) == promptSilence, fires, kind)
		})
	}
}
