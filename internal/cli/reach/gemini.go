package reach

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/a2astdio/a2astdio/bridge"
	"github.com/a2astdio/a2astdio/internal/agentproc"
	"github.com/a2astdio/a2astdio/mapping/dialect"
)

// readsGeminiHome reports whether a command starts Gemini CLI's A2A server: by its
// package, its program, or the dialect that the user names.
func readsGeminiHome(command, spoken string) bool {
	_, words, err := agentproc.Words(command)
	return err == nil && (spoken == dialect.Gemini || slices.ContainsFunc(words, func(w string) bool {
		return strings.Contains(w, "gemini-cli-a2a-server") || filepath.Base(filepath.ToSlash(w)) == "a2a-server.mjs"
	}))
}

// Variables of Gemini CLI's server: the directory that has .gemini, and the one that
// workspaces must be below. Without the second the first holds for both.
const (
	geminiHomeName    = "GEMINI_CLI_HOME"
	geminiAllowedRoot = "CODER_AGENT_ALLOWED_ROOT"
)

// A geminiHome is a home directory for Gemini CLI's server. Its .gemini has links to
// all that the user's has, and an extension with the MCP servers of the task that is
// being made. The server reads MCP servers from files only, and the user's own files
// must not change.
type geminiHome struct {
	mu  sync.Mutex
	dir string // "" until the agent is first started
}

var _ bridge.MCPFile = (*geminiHome)(nil)

// prepare makes the directory before each start of the agent, so that it has what the
// user has set up since.
func (h *geminiHome) prepare(env []string) (more []string, made string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	home := "HOME"
	if runtime.GOOS == "windows" {
		home = "USERPROFILE"
	}
	theirs := cmp.Or(lastOf(env, geminiHomeName), lastOf(env, home))
	if theirs == "" {
		theirs, err = os.UserHomeDir()
	}
	if err == nil {
		err = h.fill(theirs)
	}
	if err != nil {
		return nil, "", fmt.Errorf("bridge: a home directory for the agent, with your editor's MCP servers (--forward-mcp), cannot be made: %w", err)
	}
	return []string{geminiHomeName + "=" + h.dir, geminiAllowedRoot + "=" + cmp.Or(lastOf(env, geminiAllowedRoot), theirs)}, h.dir, nil
}

// fill makes the directory, if there is none yet, and links to what is in the user's home.
func (h *geminiHome) fill(theirs string) (err error) {
	if h.dir == "" {
		if h.dir, err = os.MkdirTemp("", "a2astdio-gemini-"); err != nil { // only the user may read it
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

// linkAll links to the entries of a directory, except one.
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

func (h *geminiHome) Put(content []byte) (func() error, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.dir == "" {
		return nil, errors.New("bridge: the agent was not started") // the agent answered, so it was started
	}
	dir := filepath.Join(h.dir, ".gemini", "extensions", "a2astdio")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("bridge: the file with the agent's MCP servers cannot be written: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "gemini-extension.json"), content, 0o600); err != nil {
		return nil, fmt.Errorf("bridge: the file with the agent's MCP servers cannot be written: %w", errors.Join(err, os.RemoveAll(dir)))
	}
	return func() error { return os.RemoveAll(dir) }, nil
}

// remove removes the directory, not what its links lead to.
func (h *geminiHome) remove() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return os.RemoveAll(h.dir) // "" is nothing
}

// lastOf returns a variable of an environment; the last entry wins.
func lastOf(env []string, name string) string {
	for _, v := range slices.Backward(env) {
		if n, value, _ := strings.Cut(v, "="); n == name {
			return value
		}
	}
	return ""
}
