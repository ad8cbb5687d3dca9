package dialect

import (
	"net/url"
	"slices"
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// devtoolURI is the development-tool extension in the version that we speak.
const devtoolURI = "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md"

// devtoolPath is what identifies the extension, wherever its text is kept.
const devtoolPath = "/docs/a2a/developer-profile/"

// devtoolVersion returns the version that a URI of the development-tool extension names, in
// whatever place its text is kept: the path ends in /docs/a2a/developer-profile/VERSION/spec.md.
// It is "" for any other URI.
func devtoolVersion(uri string) string {
	rest, ok := strings.CutSuffix(uri, "/spec.md")
	i := strings.LastIndex(rest, devtoolPath+"v")
	if !ok || i < 0 || strings.Contains(rest[i+len(devtoolPath):], "/") {
		return ""
	}
	return rest[i+len(devtoolPath):]
}

// isSpoken reports whether a version is one that we speak: v0, and each version of it but
// those before a release (Semantic Versioning 2.0.0, §4 and §9).
func isSpoken(version string) bool {
	release, _, _ := strings.Cut(version, "+")
	return release == "v0" || strings.HasPrefix(release, "v0.") && !strings.Contains(release, "-")
}

// ofOtherVersion reports whether a URI names it in a version that we do not speak.
func ofOtherVersion(uri string) bool {
	version := devtoolVersion(uri)
	return version != "" && !isSpoken(version)
}

// A Verdict is what becomes of an extension.
type Verdict struct {
	a2a.Extension
	// Active: every request asks for it.
	Active bool
	// Spoken: we implement it. An active one that we do not implement was asked for by
	// the user.
	Spoken bool
	Reason string
}

// Negotiate decides which extensions are active: those that the agent declares
// and we speak, in the version that it offers, and those that the user wants.
func Negotiate(card *a2a.Card, want []string) []Verdict {
	var verdicts []Verdict
	wanted := map[string]bool{}
	for _, uri := range want {
		wanted[uri] = true
	}
	spoken := false
	for _, e := range card.Extensions {
		v := Verdict{Extension: e}
		switch offered := devtoolVersion(e.URI); {
		case isSpoken(offered) && !spoken:
			v.Active, v.Spoken, spoken = true, true, true
			v.Reason = "spoken: tool calls, approvals, thoughts and slash commands"
		case offered != "" && spoken:
			v.Reason = "not used: another version of it is"
		case offered != "":
			v.Reason = "not used: its version " + offered + " is not compatible with v0, which a2astdio speaks"
		case slices.ContainsFunc(dialects(), func(d dialect) bool { return slices.Contains(d.extensions(), e.URI) }):
			v.Active, v.Spoken = true, true
			v.Reason = "spoken"
		default:
			v.Reason = "not spoken by a2astdio; --extension " + e.URI + " activates it, if it needs no code"
		}
		if wanted[e.URI] && !v.Active {
			v.Active, v.Reason = true, "activated by --extension"
		}
		delete(wanted, e.URI)
		verdicts = append(verdicts, v)
	}
	for _, uri := range want {
		if wanted[uri] {
			delete(wanted, uri)
			verdicts = append(verdicts, Verdict{Extension: a2a.Extension{URI: uri}, Active: true,
				Spoken: devtoolVersion(uri) != "", Reason: "activated by --extension; the agent's card does not declare it"})
		}
	}
	return verdicts
}

// IsURI reports whether a text can be an extension's URI: absolute, without blanks.
func IsURI(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme != "" && (u.Host != "" || u.Opaque != "") && !strings.ContainsAny(s, " \t\r\n\"<>,")
}
