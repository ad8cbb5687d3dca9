module github.com/a2astdio/a2astdio

go 1.26.0

require (
	github.com/aymanbagabas/go-udiff v0.4.1 // the diff of two texts
	github.com/clipperhouse/displaywidth v0.11.0 // how many columns a text takes on a terminal
	github.com/coreos/go-oidc/v3 v3.21.0 // a sign-in's ID token (internal/credentials/oauth)
	github.com/creack/pty v1.1.24 // in tests only: a terminal
	github.com/go-jose/go-jose/v4 v4.1.8 // signed cards and pushes (internal/cardsign): signatures, keys
	github.com/gofrs/flock v0.13.1 // locks of the files of sign-ins
	github.com/google/uuid v1.6.0 // IDs of messages, contexts and sessions
	github.com/gowebpki/jcs v1.0.2 // signed cards: canonical JSON (RFC 8785)
	github.com/hashicorp/go-retryablehttp v0.7.8 // repeating what may be repeated; ours decides what that is. MPL-2.0
	github.com/pelletier/go-toml/v2 v2.4.3 // the configuration; its parser alone, so that an error names the line
	github.com/rogpeppe/go-internal v1.16.0 // in tests only: testscript
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.3 // in tests only: ACP's schema and our own
	github.com/sourcegraph/jsonrpc2 v0.2.3 // ids, calls and replies on stdio, behind our own framing
	github.com/tidwall/gjson v1.20.0 // looking into JSON without decoding it
	github.com/urfave/cli/v2 v2.27.7 // the command line. What prints help in it is not linked: internal/cli/frame/program.go
	github.com/xrash/smetrics v0.0.0-20240521201337-686a1a2994c1 // which option a misspelled one was probably meant to be; cli/v2 links it, too
	github.com/yuin/goldmark v1.8.7 // in tests only: what a Markdown viewer makes of a question
	golang.org/x/oauth2 v0.37.0 // a sign-in's OAuth flows (internal/credentials/oauth)
	golang.org/x/sys v0.49.0 // ending the agent's process group, job objects on Windows
	golang.org/x/term v0.47.0 // asking on a terminal
)

require (
	github.com/clipperhouse/uax29/v2 v2.7.0 // indirect
	github.com/cpuguy83/go-md2man/v2 v2.0.7 // indirect
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	github.com/russross/blackfriday/v2 v2.1.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.0 // indirect
	golang.org/x/text v0.42.0 // indirect
	golang.org/x/tools v0.49.0 // indirect
)
