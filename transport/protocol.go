package transport

import (
	"net/http"
	"strings"

	"github.com/a2astdio/a2astdio/transport/a2a"
)

// A protocol is the shapes of one version of A2A: what the parameters of an
// operation hold, which headers go with it, and how a result reads. The interface
// is not exported: it separates the versions from the plumbing, and changes with
// them. How both travel is a [binding]'s. One is made for each agent, because 1.x
// echoes the chosen interface's tenant.
type protocol interface {
	// name is what ClientOptions.Version calls the version.
	name() string
	// extensionHeader is the header that names activated extensions.
	extensionHeader() string
	// header adds what every request of the version carries.
	header(http.Header)

	// params returns the parameters of an operation, which are marshaled as they are; nil
	// for none. It refuses what the version has no words for.
	params(c *operation) (any, error)
	// decode reads a result into ev, as views of raw, which is valid JSON. raw may
	// go on behind it; ev.Raw does not.
	decode(raw string, ev *a2a.Event)
}

// A version is one entry of the list of protocol versions.
type version struct {
	// name is what ClientOptions.Version calls it.
	name string
	// speaks reports whether a card's version string means this version.
	speaks func(cardVersion string) bool
	open   func(a2a.Interface) protocol
}

// versions lists what we speak, in order of preference.
func versions() []version {
	return []version{
		{"1.0", v1Speaks, openV1},
		{"0.3", v03Speaks, openV03},
	}
}

// Versions lists the values of [ClientOptions.Version].
func Versions() []string {
	list := []string{"auto"}
	for _, v := range versions() {
		list = append(list, v.name)
	}
	return list
}

// majorMinor returns the first two numbers of a version string, without a "v".
func majorMinor(version string) (major, minor string) {
	version = strings.TrimPrefix(strings.TrimSpace(version), "v")
	major, rest, _ := strings.Cut(version, ".")
	minor, _, _ = strings.Cut(rest, ".")
	return major, minor
}
