package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/agentproc"
	"github.com/a2astdio/a2astdio/mapping"
)

// readsGeminiHome reports whether a command starts Gemini CLI's A2A server, by its
// package or its program, or by what the user says of it.
func readsGeminiHome(command, dialect string) bool {
	_, words, err := agentproc.Words(command)
	return err == nil && (dialect == mapping.DialectGemini || slices.ContainsFunc(words, func(w string) bool {
		return strings.Contains(w, "gemini-cli-a2a-server") || filepath.Base(filepath.ToSlash(w)) == "a2a-server.mjs"
	}))
}

// The variables of Gemini CLI's server: where it looks for .gemini, and below which
// directory workspaces may be, which without this one is the former.
const (
	geminiHomeName    = "GEMINI_CLI_HOME"
	geminiAllowedRoot = "CODER_AGENT_ALLOWED_ROOT"
)

// A geminiHome is a home directory for Gemini CLI's server: in its .gemini there are
// links to all that is in the user's, and an extension of the CLI's that has the MCP
// servers of the task that is being made. The server reads servers from nowhere but
// files, and the user's own are not to be changed.
type geminiHome struct {
	mu  sync.Mutex
	dir string // "" until the agent is first started
}

var _ bridge.MCPFile = (*geminiHome)(nil)

// extension is where the extension is.
func (h *geminiHome) extension() string {
	return filepath.Join(h.dir, ".gemini", "extensions", "a2astdio")
}

// prepare makes the directory, before each start of the agent: what the user has set
// up since is in it, too.
func (h *geminiHome) prepare(env []string) ([]string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	theirs, err := os.UserHomeDir()
	if own := lastOf(env, geminiHomeName); own != "" {
		theirs, err = own, nil
	}
	if err == nil {
		err = h.fill(theirs)
	}
	if err != nil {
		return nil, fmt.Errorf("bridge: a home directory for the agent, with your editor's MCP servers (--forward-mcp), cannot be made: %w", err)
	}
	return []string{geminiHomeName + "=" + h.dir, geminiAllowedRoot + "=" + cmp.Or(lastOf(env, geminiAllowedRoot), theirs)}, nil
}

// path is where it is, for who removes it if this process is killed.
func (h *geminiHome) path() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.dir
}

// fill makes the links to what is in the user's home.
func (h *geminiHome) fill(theirs string) (err error) {
	if h.dir == "" {
		if h.dir, err = os.MkdirTemp("", "a2astdio-gemini-"); err != nil { // for nobody else to read
			return err
		}
	}
	from, to := filepath.Join(theirs, ".gemini"), filepath.Join(h.dir, ".gemini")
	if err := os.MkdirAll(filepath.Join(to, "extensions"), 0o700); err != nil {
		return err
	}
	return errors.Join(linkAll(from, to, "extensions"), linkAll(filepath.Join(from, "extensions"), filepath.Join(to, "extensions"), ""),
		linkOne(filepath.Join(theirs, ".env"), filepath.Join(h.dir, ".env")))
}

// linkAll makes links to what is in a directory, but for one name.
func linkAll(from, to, but string) error {
	entries, err := os.ReadDir(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if e.Name() != but {
			err = errors.Join(err, linkOne(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())))
		}
	}
	return err
}

func linkOne(from, to string) error {
	if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := os.Symlink(from, to); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// Put implements [bridge.MCPFile].
func (h *geminiHome) Put(content []byte) (func() error, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.dir == "" {
		return nil, errors.New("bridge: the agent was not started") // it has been reached, so it was
	}
	dir := h.extension()
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("bridge: the MCP servers cannot be written down for the agent: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "gemini-extension.json"), content, 0o600); err != nil {
		return nil, fmt.Errorf("bridge: the MCP servers cannot be written down for the agent: %w", errors.Join(err, os.RemoveAll(dir)))
	}
	return func() error { return os.RemoveAll(dir) }, nil
}

// remove removes the directory; what the links lead to stays.
func (h *geminiHome) remove() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.dir == "" {
		return nil
	}
	return os.RemoveAll(h.dir)
}

// lastOf returns a variable of an environment.
func lastOf(env []string, name string) string {
	for _, v := range slices.Backward(env) {
		if n, value, _ := strings.Cut(v, "="); n == name {
			return value
		}
	}
	return ""
}
