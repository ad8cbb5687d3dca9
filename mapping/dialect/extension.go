package dialect

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
	"github.com/tidwall/gjson"
)

// devtoolURI is the development-tool extension in the version that we speak.
const devtoolURI = "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md"

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

// ofOtherVersion reports whether a URI names it in a version that we do not speak.
func ofOtherVersion(uri string) bool { return isDevtoolURI(uri) && !compatible(devtoolURI, uri) }

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

// uriVersion returns the version that an extension's URI embeds: the last
// segment of its path that is one ("" if there is none), and the URI without it.
func uriVersion(uri string) (identity, found string) {
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

// compatible reports whether an agent that offers an extension by one URI serves
// a client that speaks it by another: the same extension, in a version that
// Semantic Versioning 2.0.0 calls compatible. From major version 1 on that is
// the same major version, and a minor one at least ours (§7, §8); for major
// version 0, in which anything may change, the same minor one (§4); a
// pre-release is compatible with itself alone (§9). What a URI leaves out
// matches anything.
func compatible(ours, theirs string) bool {
	if ours == theirs {
		return true
	}
	ourID, ourVersion := uriVersion(ours)
	theirID, theirVersion := uriVersion(theirs)
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
		v := Verdict{Extension: e, Declared: true}
		_, offered := uriVersion(e.URI)
		switch {
		case isDevtoolURI(e.URI) && compatible(devtoolURI, e.URI) && !spoken:
			v.Active, v.Spoken, spoken = true, true, true
			v.Reason = "spoken: tool calls, approvals, thoughts and slash commands"
		case isDevtoolURI(e.URI) && spoken:
			v.Reason = "not used: another version of it is"
		case isDevtoolURI(e.URI):
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
				Spoken: isDevtoolURI(uri), Reason: "activated by --extension; the agent's card does not declare it"})
		}
	}
	return require(verdicts)
}

// require activates what active extensions depend on, as far as the card's params say
// it (a2a-extensions, Extension Dependencies: the client's task). params have no schema:
// "dependencies" and "requires" are read, as lists of URIs, or of objects with a uri and
// without "required":false.
func require(verdicts []Verdict) []Verdict {
	for i := 0; i < len(verdicts); i++ { // it grows
		if !verdicts[i].Active {
			continue
		}
		params := gjson.Parse(string(verdicts[i].Params))
		for _, list := range []gjson.Result{params.Get("dependencies"), params.Get("requires")} {
			for _, d := range list.Array() {
				uri := cmp.Or(d.Get("uri").String(), d.String())
				if d.Get("required").Raw == "false" || !IsURI(uri) {
					continue
				}
				verdicts = activate(verdicts, uri, "activated: "+verdicts[i].URI+" requires it")
			}
		}
	}
	return verdicts
}

func activate(verdicts []Verdict, uri, reason string) []Verdict {
	for i := range verdicts {
		if verdicts[i].URI == uri {
			if !verdicts[i].Active {
				verdicts[i].Active, verdicts[i].Reason = true, reason
			}
			return verdicts
		}
	}
	return append(verdicts, Verdict{Extension: a2a.Extension{URI: uri}, Active: true, Reason: reason})
}

// IsURI reports whether a text can be an extension's URI: absolute, without blanks.
func IsURI(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme != "" && (u.Host != "" || u.Opaque != "") && !strings.ContainsAny(s, " \t\r\n\"<>,")
}
