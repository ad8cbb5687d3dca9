package transport

import (
	"fmt"
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// TestArtifactsOf: neighbours of one ID are one artifact, of all their parts; others stay apart.
func TestArtifactsOf(t *testing.T) {
	for raw, want := range map[string]string{
		`[{"artifactId":"a","name":"n","parts":[{"text":"no "}]},{"artifactId":"a","parts":[{"text":"no "},{"text":"no"}]}]`:                    "a n: no |no |no;",
		`[{"artifactId":"a","parts":[{"text":"x"}]},{"artifactId":"a","parts":[{"data":{"k":1}}]},{"artifactId":"b","parts":[]}]`:               `a : x|{"k":1};b : ;`,
		`[{"artifactId":"a","parts":[{"text":"x"}]},{"artifactId":"b","parts":[{"text":"x"}]},{"artifactId":"a","parts":[{"text":"x"}]}]`:       "a : x;b : x;a : x;",
		`[{"parts":[{"text":"x"}]},{"parts":[{"text":"y"}]}]`:                                                                                   " : x; : y;",
		`[{"artifactId":"a","parts":[{"text":"x "}]},{"artifactId":"a","parts":[{"text":"y"}]},{"artifactId":"a","parts":[{"text":"x y"}]}]`:    "a : x y;",
		`[{"artifactId":"a","parts":[{"text":"ha"}]},{"artifactId":"a","parts":[{"text":"ha"}]},{"artifactId":"a","parts":[{"text":"ha!"}]}]`:   "a : ha|ha|ha!;",
		`[{"artifactId":"a","parts":[{"text":"x"}]},{"artifactId":"a","parts":[{"text":"x y"}]},{"artifactId":"a","parts":[{"text":"x y z"}]}]`: "a : x y z;",
		`[{"artifactId":"a","parts":[{"text":"One step."}]},{"artifactId":"a","parts":[{"text":"One step. Two."}]}]`:                            "a : One step. Two.;",
		`[]`: "",
	} {
		got := ""
		for a := range artifactsOf(raw, nil) {
			got += a.ID + " " + a.Name + ": " + said(a.Parts) + ";"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
	n := 0
	for range artifactsOf(`[{"artifactId":"a"},{"artifactId":"b"},{"artifactId":"c"}]`, nil) {
		if n++; n == 2 {
			break // the walk ends there
		}
	}
}

func said(parts a2a.Parts) (text string) {
	for p := range parts.All() {
		if text != "" {
			text += "|"
		}
		text += fmt.Sprint(p.Text, string(p.Data))
	}
	return text
}
