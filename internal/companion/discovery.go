package companion

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a2astdio/a2astdio/internal/safe"
)

// program distinguishes our discovery files from those of other companions.
const program = "a2astdio"

// A discovery is the content of a discovery file: Gemini CLI's, or Qwen Code's lock
// file.
type discovery struct {
	Port          int     `json:"port"`
	WorkspacePath string  `json:"workspacePath"`
	AuthToken     string  `json:"authToken"`
	IDEInfo       ideInfo `json:"ideInfo"`
	// PPID and IDEName are Qwen Code's. It removes the file when the process PPID is
	// gone. That is our process, not the editor's.
	PPID    int    `json:"ppid,omitempty"`
	IDEName string `json:"ideName,omitempty"`
	// Companion is our own member, which the CLIs ignore.
	Companion process `json:"companion"`
}

type ideInfo struct {
	Name        string `json:"name"`
	DisplayName string `json:"displayName"`
}

// A process is the process that serves; when it is gone, its file is stale. The PID in
// the file's name is the editor's, which may still run.
type process struct {
	Program   string    `json:"program"`
	Host      string    `json:"host"`
	PID       int       `json:"pid"`
	EditorPID int       `json:"editorPid"`
	Started   time.Time `json:"started"`
}

// files are the discovery files of a companion.
type files struct {
	log        *slog.Logger
	workspaces []string
	content    discovery
	written    []string
}

func newFiles(o *Options, port int, token string, workspaces []string) *files {
	display := cmp.Or(o.DisplayName, "Editor")
	return &files{log: o.Log, workspaces: workspaces, content: discovery{
		Port:      port,
		AuthToken: token,
		IDEInfo:   ideInfo{strings.Join(strings.Fields(strings.ToLower(display)), ""), display},
		Companion: process{program, hostname(), os.Getpid(), o.EditorPID, time.Now().UTC().Truncate(time.Second)},
	}}
}

func (f *files) started() Started {
	return Started{f.content.Port, f.content.AuthToken, f.workspaces, environment(f.content.Port, f.content.Companion.EditorPID, f.workspaces)}
}

// write writes the files. It goes on without Qwen Code's if that fails.
func (f *files) write() error {
	c := f.content
	c.WorkspacePath = strings.Join(f.workspaces, string(filepath.ListSeparator))
	name := fmt.Sprintf("gemini-ide-server-%d-%d.json", c.Companion.EditorPID, c.Port)
	if err := f.put(geminiDir(), name, c); err != nil {
		return fmt.Errorf("bridge: the companion's discovery file cannot be written: %v; "+
			"the directory comes from TMPDIR, and must be the same for the CLI", err)
	}
	c.PPID, c.IDEName = c.Companion.PID, c.IDEInfo.DisplayName
	dir, err := qwenDir()
	if err == nil {
		err = f.put(dir, strconv.Itoa(c.Port)+".lock", c)
	}
	if err != nil {
		f.log.Warn("Qwen Code will not find the companion: its lock file cannot be written", "err", err)
	}
	return nil
}

// put writes a file that only the user can read. A reader never finds a part of it.
func (f *files) put(dir, name string, content discovery) error {
	b, err := json.Marshal(content)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, name)
	err = safe.Replace(path, b)
	if err == nil && !slices.Contains(f.written, path) {
		f.written = append(f.written, path)
	}
	return err
}

// hostname is "" where nobody knows it, as for every process there.
func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}

func (f *files) remove() (err error) {
	for _, name := range f.written {
		if e := os.Remove(name); e != nil && !errors.Is(e, os.ErrNotExist) {
			err = errors.Join(err, fmt.Errorf("bridge: the companion's discovery file stays: %v", e))
		}
	}
	f.written = nil
	return err
}

// geminiDir is where Gemini CLI looks: below Node's os.tmpdir().
func geminiDir() string { return filepath.Join(nodeTempDir(runtime.GOOS, os.Getenv), "gemini", "ide") }

// nodeTempDir is what os.tmpdir() of Node.js returns. It differs from
// [os.TempDir], which looks at fewer variables.
func nodeTempDir(goos string, env func(string) string) string {
	if goos == "windows" {
		dir := cmp.Or(env("TEMP"), env("TMP"), cmp.Or(env("SystemRoot"), env("windir"))+`\temp`)
		if len(dir) > 1 && strings.HasSuffix(dir, `\`) && !strings.HasSuffix(dir, `:\`) {
			dir = dir[:len(dir)-1]
		}
		return dir
	}
	dir := cmp.Or(env("TMPDIR"), env("TMP"), env("TEMP"), "/tmp")
	if len(dir) > 1 {
		dir = strings.TrimSuffix(dir, "/")
	}
	return dir
}

// qwenDir is where Qwen Code looks.
func qwenDir() (string, error) {
	home, err := os.UserHomeDir()
	dir := os.Getenv("QWEN_HOME")
	switch {
	case dir == "" && err != nil:
		return "", err
	case dir == "":
		dir = filepath.Join(home, ".qwen")
	case dir == "~" || strings.HasPrefix(dir, "~/"):
		dir = filepath.Join(home, dir[1:])
	}
	return filepath.Join(dir, "ide"), nil
}

// environment is for terminals whose CLIs are to find this companion. It has no token,
// because other programs run in a terminal, too.
func environment(port, editorPID int, workspaces []string) map[string]string {
	path := strings.Join(workspaces, string(filepath.ListSeparator))
	env := map[string]string{
		"GEMINI_CLI_IDE_SERVER_PORT":    strconv.Itoa(port),
		"GEMINI_CLI_IDE_WORKSPACE_PATH": path,
		"GEMINI_CLI_IDE_PID":            strconv.Itoa(editorPID),
		"QWEN_CODE_IDE_SERVER_PORT":     strconv.Itoa(port),
		"QWEN_CODE_IDE_WORKSPACE_PATH":  path,
	}
	if inContainer() {
		// Gemini CLI in a container looks for the editor outside of it, unless this
		// variable tells that the editor is inside.
		env["REMOTE_CONTAINERS"] = "true"
	}
	return env
}

// inContainer reports whether Gemini CLI would connect to host.docker.internal.
func inContainer() bool {
	for _, name := range []string{"SSH_CONNECTION", "VSCODE_REMOTE_CONTAINERS_SESSION", "REMOTE_CONTAINERS"} {
		if os.Getenv(name) != "" {
			return false
		}
	}
	for _, file := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(file); err == nil {
			return true
		}
	}
	return false
}
