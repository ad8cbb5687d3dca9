package doctor

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2astdio/a2astdio/mapping"
)

// TestSilence: what the bridge itself says is no word of the agent's.
func TestSilence(t *testing.T) {
	for kind, fires := range map[mapping.StepKind]bool{mapping.StepNotice: false, mapping.StepText: true} {
		synctest.Test(t, func(t *testing.T) {
			fired := make(chan time.Time, 1)
			begun := time.Now()
			e := &examiner{idle: promptSilence, silent: time.AfterFunc(2*promptTime, func() { fired <- time.Now() })}
			if err := e.Show(t.Context(), []mapping.Step{{Kind: kind}}); err != nil {
				t.Fatal(err)
			}
			if after := (<-fired).Sub(begun); (after == promptSilence) != fires {
				t.Errorf("behind a step of kind %d it fires after %v", kind, after)
			}
		})
	}
}
