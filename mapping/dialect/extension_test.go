package dialect

import (
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

func TestCompatible(t *testing.T) {
	const base = "https://example.com/ext/thing/"
	for _, c := range []struct {
		ours, theirs string
		want         bool
		why          string
	}{
		{"v1", "v1", true, "the same"},
		{"v1", "v1.7", true, "what is left out matches anything"},
		{"v1.7", "v1", true, "on either side"},
		{"v1", "v2", false, "another major version"},
		{"v2", "v1", false, "either way"},
		{"v1.2", "v1.2.9", true, "patches do not matter"},
		{"v1.2.3", "v1.2.0", true, "in either direction"},
		{"v1.2", "v1.3", true, "the agent has more than we need"},
		{"v1.3", "v1.2", false, "the agent has less"},
		{"v0", "v0", true, "the same"},
		{"v0", "v0.4", true, "what is left out matches anything"},
		{"v0.4", "v0.4.1", true, "the same minor version"},
		{"v0.4", "v0.5", false, "in major version 0 anything may change"},
		{"v0.5", "v0.4", false, "in either direction"},
		{"v0", "v1", false, "another major version"},
		{"v1.0.0-beta.1", "v1.0.0-beta.1", true, "a pre-release is compatible with itself"},
		{"v1.0.0-beta.1", "v1.0.0-beta.2", false, "and with no other"},
		{"v1.0.0-beta.1", "v1.0.0", false, "nor with the release"},
		{"v1.0.0+build5", "v1.0.0+build6", true, "build metadata does not count"},
		{"v01", "v1", false, "no leading zeroes: not a version"},
		{"v1.2.3.4", "v1.2.3.5", false, "not a version"},
		{"latest", "v1", false, "no version on one side"},
	} {
		if got := compatible(base+c.ours, base+c.theirs); got != c.want {
			t.Errorf("we speak %s, the agent offers %s: %v, want %v: %s", c.ours, c.theirs, got, c.want, c.why)
		}
	}
	for uri, want := range map[string]bool{
		devtoolURI: true,
		"https://mirror.example/docs/a2a/developer-profile/v0.3.1/spec.md":                         true,
		"https://github.com/google-gemini/gemini-cli/blob/x/docs/a2a/developer-profile/v1/spec.md": false,
		"https://example.com/other/v0/spec.md":                                                     false,
		"urn:development-tool:v0":                                                                  false,
	} {
		if got := compatible(devtoolURI, uri); got != want {
			t.Errorf("%s: %v, want %v", uri, got, want)
		}
	}
}

func TestSettings(t *testing.T) {
	devtoolV1 := "https://example.com/docs/a2a/developer-profile/v1/spec.md"
	for name, c := range map[string]struct {
		extensions []a2a.Extension
		want       string
		extra      []string
		dialect    string
		active     []string
		refused    bool
	}{
		"none":                  {dialect: "core"},
		"devtool":               {extensions: []a2a.Extension{{URI: devtoolURI, Required: true}}, dialect: "devtool", active: []string{devtoolURI}},
		"unknown":               {extensions: []a2a.Extension{{URI: "x"}}, dialect: "core"},
		"unknown, required":     {extensions: []a2a.Extension{{URI: "x", Required: true}}, refused: true},
		"unknown, wanted":       {extensions: []a2a.Extension{{URI: "x", Required: true}}, extra: []string{"x"}, dialect: "core", active: []string{"x"}},
		"other version":         {extensions: []a2a.Extension{{URI: devtoolV1}}, dialect: "core"},
		"other version, needed": {extensions: []a2a.Extension{{URI: devtoolV1, Required: true}}, refused: true},
		"both versions":         {extensions: []a2a.Extension{{URI: devtoolV1}, {URI: devtoolURI}}, dialect: "devtool", active: []string{devtoolURI}},
		"not declared, wanted":  {extra: []string{"y"}, dialect: "core", active: []string{"y"}},
		"forced":                {want: "devtool", dialect: "devtool", active: []string{devtoolURI}},
		"core forced":           {want: "core", extensions: []a2a.Extension{{URI: devtoolURI}}, dialect: "core"},
	} {
		w, err := Settings(&a2a.Card{Extensions: c.extensions}, c.want, c.extra)
		if (err != nil) != c.refused {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if c.refused {
			continue
		}
		if w.Dialect != c.dialect || len(w.Extensions) != len(c.active) {
			t.Errorf("%s: %+v", name, w)
			continue
		}
		for i := range c.active {
			if w.Extensions[i] != c.active[i] {
				t.Errorf("%s: active %v", name, w.Extensions)
			}
		}
	}
}
