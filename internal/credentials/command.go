package credentials

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/a2astdio/a2astdio/internal/agentproc"
	"github.com/a2astdio/a2astdio/internal/safe"
)

const (
	// commandTime bounds a command. gcloud takes some seconds. It is less than the default of
	// --timeout, so that a command that hangs is not taken for an agent that does.
	commandTime = 20 * time.Second
	// commandWait is how long its output may stay open after its end: a child may hold it.
	commandWait = 500 * time.Millisecond
	// tokenLife is how long is used what a command prints without an end. Tokens of the
	// platforms live for an hour, and their tools return one that is already in use.
	tokenLife = 5 * time.Minute
	// maxComplaint bounds the stderr of a failing command in an error.
	maxComplaint = 500
)

// A Command prints a credential. Like an agent that is started it runs in a directory of
// ours, and no PATH leads into the workspace: a cloned repository may bring programs, and
// settings of programs.
type Command struct {
	Line string // "": there is none
	// Base is what relative paths in it begin from; empty refuses them.
	Base string
	// Workspaces are where the user works; nil: nowhere.
	Workspaces *agentproc.Workspaces
}

// run runs the command without a shell, and returns its output. input is its stdin.
func (c *Command) run(ctx context.Context, input []byte) ([]byte, error) {
	vars, words, err := agentproc.Words(c.Line)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "agent: "))
	}
	if path := agentproc.Absolute(words, c.Base); path != "" {
		return nil, fmt.Errorf("%s is relative, but it does not run in your directory: write the whole path", path)
	}
	ctx, cancel := context.WithTimeout(ctx, commandTime)
	defer cancel()
	cmd, err := agentproc.Command(ctx, vars, words, c.Workspaces)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(words[0])
	out, complaint := capped{limit: maxSecret + 1}, capped{limit: 8 << 10}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &out, &complaint
	cmd.WaitDelay = commandWait
	err = cmd.Run()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("%s did not end within %v: does it wait for somebody to answer it?", name, commandTime)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, exec.ErrWaitDelay): // it has ended well, and left a child behind
	case errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission):
		return nil, fmt.Errorf("%s cannot be run: %v", words[0], errors.Unwrap(err))
	case err != nil:
		text := fmt.Sprintf("%s failed (%v)", name, err)
		if said := lastLines(complaint.Bytes()); said != "" {
			text += ": " + said
		}
		return nil, errors.New(text)
	case out.Len() > maxSecret:
		return nil, fmt.Errorf("%s printed more than %d kB: that is no credential", name, maxSecret>>10)
	}
	return out.Bytes(), nil
}

// capped keeps the beginning of what is written, and drops the rest.
type capped struct {
	bytes.Buffer
	limit int
}

func (c *capped) Write(p []byte) (int, error) {
	c.Buffer.Write(p[:min(len(p), c.limit-c.Len())])
	return len(p), nil
}

// lastLines returns a command's last lines on one line.
func lastLines(b []byte) string {
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return safe.Line(strings.Join(lines[max(0, len(lines)-3):], " "), maxComplaint)
}

// ask runs the command for a URL. It prints a token (gcloud auth print-access-token,
// az … -o tsv), or headers as the credential helpers of build tools do (EngFlow's
// specification, as Bazel's --credential_helper has it): {"headers":{…},"expires":…};
// {} needs none.
func (c *Command) ask(ctx context.Context, to string, now time.Time) (*held, error) {
	input, err := json.Marshal(map[string]string{"uri": to})
	if err != nil {
		return nil, err
	}
	out, err := c.run(ctx, append(input, '\n')) // a shell's read wants the end of the line
	if err != nil {
		return nil, err
	}
	out = bytes.TrimSpace(bytes.TrimPrefix(out, []byte("\uFEFF")))
	h := &held{token: string(out), expiry: now.Add(tokenLife)}
	switch {
	case len(out) == 0:
		return nil, errors.New("it printed nothing")
	case out[0] == '{':
		err = h.readHeaders(out)
	case strings.ContainsAny(h.token, " \t\r\n"):
		err = errors.New("it printed neither one token nor a JSON object with headers")
	case strings.ContainsFunc(h.token, func(r rune) bool { return r < ' ' || r >= 0x7f }):
		err = errors.New("it gives a token that cannot stand in a header")
	}
	h.renewAt = renewAt(now, h.expiry)
	return h, err
}

// readHeaders reads headers. It refuses those that would change the request itself.
func (h *held) readHeaders(out []byte) error {
	var v struct {
		Headers map[string][]string `json:"headers"`
		Expires time.Time           `json:"expires"`
	}
	if json.Unmarshal(out, &v) != nil || v.Headers == nil && len(bytes.Fields(out[1:len(out)-1])) > 0 {
		return errors.New(`it printed something that begins like JSON and is not {"headers":{"Authorization":["Bearer …"]}}, with "expires" in RFC 3339`)
	}
	if !v.Expires.IsZero() {
		h.expiry = v.Expires
	}
	h.header = http.Header{}
	for name, values := range v.Headers {
		canonical := http.CanonicalHeaderKey(name)
		switch canonical {
		case "Host", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "Te", "Trailer", "Upgrade",
			"Proxy-Connection", "Proxy-Authorization", "Content-Type", "Content-Encoding", "Accept", "Expect":
			return fmt.Errorf("it gives the header %s, which belongs to the request itself", canonical)
		}
		if !safe.HeaderName(name) || slices.ContainsFunc(values, func(v string) bool { return !safe.HeaderValue(v) }) {
			return errors.New("it gives a header that cannot be one")
		}
		h.header[canonical] = append(h.header[canonical], values...)
	}
	return nil
}
