package companion

import (
	"crypto/rand"
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

// Start starts a companion for editor. The errors are about the machine: no port,
// or no discovery file, without which no CLI would find it; and about the options.
func Start(editor Editor, opts *Options) (*Server, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
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
	s.http = httpServer(s.mcp, o.Log)
	s.files = newFiles(&o, s.mcp.port, token, workspaces)
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

// Handle takes a message of the editor's, and returns what a request is answered
// with. It does not wait for the editor or for a CLI, so that a read loop may call
// it; [MethodWorkspaces] writes two small files. Errors are worth branching on
// with [ErrMethod] and [ErrParams]. Messages that depend on each other are to come
// in their order.
func (s *Server) Handle(method string, params json.RawMessage) (any, error) {
	var err error
	switch method {
	case MethodContextUpdate:
		var c Context
		if err = decode(params, &c); err == nil {
			err = s.hub.update(c)
		}
	case MethodDiffAccepted, MethodDiffRejected:
		var d Decision
		if err = decode(params, &d); err == nil {
			err = s.hub.decide(method, d)
		}
	case MethodWorkspaces:
		var w Workspaces
		if err = decode(params, &w); err == nil {
			err = s.setWorkspaces(w.Workspaces)
		}
	default:
		return nil, fmt.Errorf("editor: %s: %w: there are %s", method, ErrMethod, strings.Join(Methods(), ", "))
	}
	if err != nil {
		return nil, fmt.Errorf("editor: %s: %w", method, err)
	}
	return struct{}{}, nil
}

// Methods are those that [Server.Handle] takes.
func Methods() []string {
	return []string{MethodContextUpdate, MethodDiffAccepted, MethodDiffRejected, MethodWorkspaces}
}

// Context returns what the user has open now, as the CLIs are told it; the zero
// Context if the editor has said nothing. It asks the disk which files exist.
func (s *Server) Context() Context { return s.hub.current() }

// Close takes the discovery files away and ends the server with all its streams.
// Diffs that are open are left to the editor. It may be called twice.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	// The files go first: a CLI that finds one finds a server, too.
	err := s.files.remove()
	s.hub.close()
	s.mcp.close()
	err = errors.Join(err, s.http.Close())
	s.work.Wait()
	s.mcp.wait()
	return err
}

func (s *Server) setWorkspaces(paths []string) error {
	workspaces, err := checkWorkspaces(s.hub.log, paths)
	if err != nil {
		return err
	}
	started, err := s.moveFiles(workspaces)
	if err == nil && started != nil {
		s.hub.notify(MethodStarted, *started)
	}
	return err
}

// moveFiles writes the files for other workspaces; nil: the server is closed.
func (s *Server) moveFiles(workspaces []string) (*Started, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil
	}
	s.files.workspaces = workspaces
	if err := s.files.write(); err != nil {
		return nil, err
	}
	started := s.files.started()
	return &started, nil
}

// checkWorkspaces returns the roots that the CLIs can be told of. One that has the
// separator of lists in its name cannot be: the others are not lost for it.
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

// decode reads an editor's params. Members that are unknown are ignored, and null
// is as good as nothing.
func decode(params json.RawMessage, into any) error {
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	err := json.Unmarshal(params, into)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
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
