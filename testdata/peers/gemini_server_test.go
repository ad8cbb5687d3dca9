package peers

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// startTime bounds the server's installation and start.
const startTime = 5 * time.Minute

// geminiServer is one server for all tests, which takes four seconds and half a
// gigabyte. The first test that needs it starts it, and TestMain ends it.
var geminiServer struct {
	once  sync.Once
	url   string
	model string // the port of the scripted model
	dir   string // where the server is installed
	skip  string // why it is missing
	err   error
	close func()
}

// gemini returns the URL of a running Gemini CLI A2A server.
func gemini(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("the Gemini server is 500 MB: not with -short")
	}
	g := &geminiServer
	g.once.Do(func() { g.url, g.close, g.skip, g.err = startGemini() })
	switch {
	case g.skip != "":
		t.Skip(g.skip)
	case g.err != nil:
		t.Fatal(g.err)
	}
	return g.url
}

func startGemini() (url string, end func(), skip string, err error) {
	for _, tool := range []string{"bash", "curl", "git"} {
		if _, err := exec.LookPath(tool); err != nil {
			return "", nil, "the Gemini server needs " + tool + ", which is not here", nil
		}
	}
	if lacks := nodeLacks(20); lacks != "" {
		return "", nil, "the Gemini server needs " + lacks, nil
	}
	dir, err := peersDir()
	run, runErr := os.MkdirTemp("", "a2astdio-gemini-")
	port, model, portErr := freePorts()
	if err := errors.Join(err, runErr, portErr); err != nil {
		return "", nil, "", err
	}
	geminiServer.model, geminiServer.dir = model, filepath.Join(dir, "gemini-0.25.2")
	url, end, err = startGeminiAt(dir, run, port, model)
	return url, end, "", err
}

// peersDir is where peers are installed.
func peersDir() (string, error) {
	if dir := os.Getenv("A2ASTDIO_PEERS"); dir != "" {
		return dir, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("where to install peers: %v: set A2ASTDIO_PEERS", err)
	}
	return filepath.Join(cache, "a2astdio", "peers"), nil
}

// startGeminiAt starts a server at a port, with what is in run.
func startGeminiAt(dir, run, port, model string) (url string, end func(), err error) {
	cmd := exec.Command("bash", filepath.Join("gemini", "run.sh"), filepath.Join(dir, "gemini-0.25.2"), port, model, run)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	end = func() {
		stdin.Close()
		_ = cmd.Wait()
		os.RemoveAll(run)
	}
	late := time.AfterFunc(startTime, func() { stdin.Close() }) // which ends it
	line, _ := bufio.NewReader(stdout).ReadString('\n')
	late.Stop()
	word, rest, _ := strings.Cut(line, " ")
	url, _, _ = strings.Cut(rest, " ")
	if word != "ready" {
		log, _ := os.ReadFile(filepath.Join(run, "server.log"))
		end()
		return "", nil, fmt.Errorf("the Gemini server did not start: %s%s%s", line, stderr.String(), log)
	}
	return url, end, nil
}

func freePorts() (a, b string, err error) {
	var ports [2]string
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", "", err
		}
		defer l.Close() // both stay open until both numbers are known
		_, ports[i], _ = net.SplitHostPort(l.Addr().String())
	}
	return ports[0], ports[1], nil
}
