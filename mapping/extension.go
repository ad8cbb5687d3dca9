package mapping

import (
	"strconv"
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// DevtoolURI is the development-tool extension in the version that we speak.
const DevtoolURI = "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md"

// devtoolPath is what identifies the extension, wherever its text is kept.
const devtoolPath = "/docs/a2a/developer-profile/"

// isDevtoolURI reports whether a URI names the development-tool extension, in
// any version: what identifies it is the path's end,
// /docs/a2a/developer-profile/vX[.Y[.Z]]/spec.md.
func isDevtoolURI(uri string) bool {
	rest, ok := strings.CutSuffix(uri, "/spec.md")
	if !ok {
		return false
	}
	i := strings.LastIndex(rest, devtoolPath)
	if i < 0 {
		return false
	}
	_, ok = parseVersion(rest[i+len(devtoolPath):])
	return ok
}

// A version is one by Semantic Versioning 2.0.0, of which minor and patch may be
// left out.
type version struct {
	major, minor, patch int // -1: left out, which matches any
	pre                 string
}

// parseVersion reads a path segment: v1, v1.2, v1.2.3, v1.2.3-beta.1, with build
// metadata, which does not count.
func parseVersion(segment string) (version, bool) {
	v := version{-1, -1, -1, ""}
	s, ok := strings.CutPrefix(segment, "v")
	if !ok || strings.Contains(s, "/") {
		return v, false
	}
	s, _, _ = strings.Cut(s, "+")
	s, v.pre, _ = strings.Cut(s, "-")
	numbers := strings.Split(s, ".")
	if len(numbers) > 3 || v.pre != "" && len(numbers) != 3 {
		return v, false
	}
	for i, p := range []*int{&v.major, &v.minor, &v.patch}[:len(numbers)] {
		n, err := strconv.Atoi(numbers[i])
		if err != nil || n < 0 || strconv.Itoa(n) != numbers[i] {
			return v, false // SemVer §2: no leading zeroes
		}
		*p = n
	}
	return v, true
}

// URIVersion returns the version that an extension's URI embeds: the last
// segment of its path that is one ("" if there is none), and the URI without it.
func URIVersion(uri string) (identity, found string) {
	segments := strings.Split(uri, "/")
	for i := len(segments) - 1; i > 0; i-- {
		if _, ok := parseVersion(segments[i]); ok {
			found = segments[i]
			segments[i] = "v*"
			return strings.Join(segments, "/"), found
		}
	}
	return uri, ""
}

// Compatible reports whether an agent that offers an extension by one URI serves
// a client that speaks it by another: the same extension, in a version that
// Semantic Versioning 2.0.0 calls compatible. From major version 1 on that is
// the same major version, and a minor one at least ours (§7, §8); for major
// version 0, in which anything may change, the same minor one (§4); a
// pre-release is compatible with itself alone (§9). What a URI leaves out
// matches anything.
func Compatible(ours, theirs string) bool {
	if ours == theirs {
		return true
	}
	ourID, ourVersion := URIVersion(ours)
	theirID, theirVersion := URIVersion(theirs)
	if isDevtoolURI(ours) && isDevtoolURI(theirs) {
		ourID, theirID = devtoolPath, devtoolPath
	}
	if ourID != theirID || ourVersion == "" || theirVersion == "" {
		return false
	}
	a, _ := parseVersion(ourVersion)
	b, _ := parseVersion(theirVersion)
	switch {
	case a.major != b.major:
		return false
	case a.pre != "" || b.pre != "":
		return a == b
	case a.minor < 0 || b.minor < 0:
		return true
	case a.major == 0:
		return a.minor == b.minor
	}
	return b.minor >= a.minor
}

// A Verdict is what becomes of an extension.
type Verdict struct {
	a2a.Extension
	// Declared: the agent's card names it.
	Declared bool
	// Active: it is asked for, on every request.
	Active bool
	// Spoken: we know what it means. An active one that is not was asked for by
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
		v := Verdict{Extension: e, Declared: true}
		_, offered := URIVersion(e.URI)
		switch {
		case isDevtoolURI(e.URI) && Compatible(DevtoolURI, e.URI) && !spoken:
			v.Active, v.Spoken, spoken = true, true, true
			v.Reason = "spoken: tool calls, approvals, thoughts and slash commands"
		case isDevtoolURI(e.URI) && spoken:
			v.Reason = "not used: another version of it is"
		case isDevtoolURI(e.URI):
			v.Reason = "not used: its version " + offered + " is not compatible with v0, which a2astdio speaks"
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
				Spoken: isDevtoolURI(uri), Reason: "activated by --extension; the agent's card does not declare it"})
		}
	}
	return verdicts
}
