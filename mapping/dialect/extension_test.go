package dialect

import (
	"testing"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

func TestDevtoolVersion(t *testing.T) {
	for uri, want := range map[string]bool{
		devtoolURI: true,
		"https://mirror.example/docs/a2a/developer-profile/v0.3.1/spec.md":                         true,
		"https://mirror.example/docs/a2a/developer-profile/v0.3.1+build5/spec.md":                  true,
		"https://mirror.example/docs/a2a/developer-profile/v0.3.1-beta.1/spec.md":                  false,
		"https://github.com/google-gemini/gemini-cli/blob/x/docs/a2a/developer-profile/v1/spec.md": false,
		"https://example.com/other/v0/spec.md":                                                     false,
		"urn:development-tool:v0":                                                                  false,
	} {
		if got := isSpoken(devtoolVersion(uri)); got != want {
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
