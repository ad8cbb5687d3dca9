package companion

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
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
	b, _ := json.Marshal(content) // texts and numbers always encode
	path := filepath.Join(dir, name)
	err := safe.Replace(path, b)
	if err == nil && !slices.Contains(f.written, path) {
		f.written = append(f.written, path)
	}
	return err
}

// hostname is "" where nobody knows it, as for every process there.
func hostname() string {
	name, _ := os.Hostname()
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
	isSet := func(name string) bool { return os.Getenv(name) != "" }
	isThere := func(file string) bool {
		_, err := os.Stat(file)
		return err == nil
	}
	return !slices.ContainsFunc([]string{"SSH_CONNECTION", "VSCODE_REMOTE_CONTAINERS_SESSION", "REMOTE_CONTAINERS"}, isSet) &&
		slices.ContainsFunc([]string{"/.dockerenv", "/run/.containerenv"}, isThere)
}

const (
	// maxDiscovery is how much of a discovery file is read.
	maxDiscovery = 256 << 10
	// probeWait is how long a port of this machine may take to answer. A port without a
	// listener refuses at once.
	probeWait = 200 * time.Millisecond
)

// removeStale removes the files of our companions that were killed. While the editor
// runs, such a file would lead a CLI to a port without a listener.
func removeStale(log *slog.Logger) {
	dirs := []string{geminiDir()}
	if dir, err := qwenDir(); err == nil {
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		entries, _ := os.ReadDir(dir) // without it none was ever written
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			if d := readOurs(path); d == nil || d.alive() {
				continue
			}
			if err := os.Remove(path); err != nil {
				log.Info("a stale discovery file stays", "file", path, "err", err)
			}
		}
	}
}

// readOurs reads a discovery file that a companion of ours on this machine has written; nil
// for any other. Other machines may share the home directory; their processes cannot be
// checked here.
func readOurs(path string) *discovery {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	d := new(discovery)
	if json.NewDecoder(io.LimitReader(file, maxDiscovery)).Decode(d) != nil || d.Companion.Program != program || d.Companion.Host != hostname() {
		return nil
	}
	return d
}

// alive reports whether somebody serves at a companion's port. A port without a listener is
// proof enough that it is gone; one that is slow may be of a machine that is too busy.
func (d *discovery) alive() bool {
	conn, err := net.DialTimeout("tcp4", fmt.Sprintf("127.0.0.1:%d", d.Port), probeWait)
	if err != nil {
		return os.IsTimeout(err)
	}
	conn.Close()
	return true
}
