package companion

import (
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// A Server is a companion that runs.
type Server struct {
	hub   *hub
	mcp   *mcpServer
	http  *http.Server
	files *files

	mu     sync.Mutex // workspaces change one after the other
	closed bool
	work   sync.WaitGroup
}

// Start starts a companion for editor. It fails if the options are wrong, or if it
// cannot listen or write the discovery file, without which no CLI finds it.
func Start(editor Editor, opts *Options) (*Server, error) {
	o := *opts
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.EditorPID == 0 {
		o.EditorPID = os.Getppid()
	}
	if len(o.Workspaces) == 0 {
		dir, err := os.Getwd()
		if err != nil {
			return nil, fmt.Errorf("bridge: the companion has no workspace: %v", err)
		}
		o.Workspaces = []string{dir}
	}
	workspaces, err := checkWorkspaces(o.Log, o.Workspaces)
	if err != nil {
		return nil, fmt.Errorf("bridge: the companion cannot start: %w", err)
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("bridge: the companion cannot listen: %v", err)
	}
	token := rand.Text()
	s := &Server{hub: newHub(editor, o.Log)}
	s.hub.noDiffs.Store(o.NoDiffs)
	s.mcp = newMCPServer(s.hub, token, listener.Addr().(*net.TCPAddr).Port, o.Version)
	s.http = s.mcp.Server(s.hub.ctx, o.Log)
	s.files = newFiles(&o, s.mcp.Port, token, workspaces)
	removeStale(o.Log)
	if err := s.files.write(); err != nil {
		listener.Close()
		return nil, err
	}
	s.work.Go(func() { _ = s.http.Serve(listener) }) // ends with Close
	s.work.Go(s.hub.publish)                         // likewise
	s.hub.notify(MethodStarted, s.files.started())
	return s, nil
}

// Handle handles a message from the editor, and returns the result for a request. It does
// not wait for the editor or for a CLI, so that a read loop may call it;
// [MethodWorkspaces] writes two small files. Its errors can be [ErrMethod] and
// [ErrParams]. Messages must come in their order.
func (s *Server) Handle(method string, params json.RawMessage) (any, error) {
	var err error
	switch method {
	case MethodContextUpdate:
		err = withParams(params, s.hub.update)
	case MethodDiffAccepted, MethodDiffRejected:
		err = withParams(params, func(d Decision) error { return s.hub.decide(method, d) })
	case MethodWorkspaces:
		err = withParams(params, func(w Workspaces) error { return s.setWorkspaces(w.Workspaces) })
	default:
		return nil, fmt.Errorf("editor: %s: %w: there are %s", method, ErrMethod,
			strings.Join([]string{MethodContextUpdate, MethodDiffAccepted, MethodDiffRejected, MethodWorkspaces}, ", "))
	}
	if err != nil {
		return nil, fmt.Errorf("editor: %s: %w", method, err)
	}
	return struct{}{}, nil
}

// Context returns the context as the CLIs get it; the zero Context if the editor has
// sent none. It checks on the disk which files exist.
func (s *Server) Context() Context {
	if c := s.hub.current(); c != nil {
		return *c
	}
	return Context{}
}

// Close removes the discovery files and ends the server with all its streams. Open
// diffs are left to the editor. It may be called twice.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	// The files are removed first: while a CLI finds one, the server is there.
	err := s.files.remove()
	s.hub.close()
	err = errors.Join(err, s.http.Close())
	s.work.Wait()
	return err
}

// setWorkspaces tells the CLIs, and the editor, of other workspace roots.
func (s *Server) setWorkspaces(paths []string) error {
	workspaces, err := checkWorkspaces(s.hub.log, paths)
	if err != nil {
		return err
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.files.workspaces = workspaces
	err = s.files.write()
	started := s.files.started()
	s.mu.Unlock() // the editor may take its time
	if err == nil {
		s.hub.notify(MethodStarted, started)
	}
	return err
}

// checkWorkspaces returns the roots that the CLIs can be told of. It leaves out a root
// whose name has the separator of path lists in it.
func checkWorkspaces(log *slog.Logger, paths []string) ([]string, error) {
	var roots []string
	for _, p := range paths {
		if !filepath.IsAbs(p) {
			return nil, paramsError("the workspace %q must be an absolute path", p)
		}
		if strings.ContainsRune(p, filepath.ListSeparator) {
			log.Warn("the CLIs cannot be told of a workspace that has a list separator in its name: open a directory above it",
				"workspace", p, "separator", string(filepath.ListSeparator))
			continue
		}
		if p = filepath.Clean(p); !slices.Contains(roots, p) {
			roots = append(roots, p)
		}
	}
	if len(roots) == 0 {
		return nil, paramsError("there is no workspace that the CLIs can be told of, and without one none connects")
	}
	return roots, nil
}

// withParams calls f with an editor's params.
func withParams[P any](params json.RawMessage, f func(P) error) error {
	var p P
	if err := decode(params, &p); err != nil {
		return err
	}
	return f(p)
}

// decode reads an editor's params. It ignores unknown members; null is like none.
func decode(params json.RawMessage, into any) error {
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	err := json.Unmarshal(params, into)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return paramsError("they must be an object")
		}
		return paramsError("%s must not be a JSON %s", wrong.Field, wrong.Value)
	}
	if err != nil {
		return paramsError("%v", err)
	}
	return nil
}

func paramsError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrParams, fmt.Sprintf(format, args...))
}

// The plugins are carried in the program, because whoever has installed that has no clone of
// this repository.
var (
	//go:embed nvim.lua
	NeovimPlugin string
	//go:embed emacs.el
	EmacsPlugin string
)
