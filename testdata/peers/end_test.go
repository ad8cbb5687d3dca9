package peers

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os/exec"
	"testing"
	"time"
)

// At the end of input while stdout is full and nobody reads it, the rest cannot be
// written, and the bridge ends all the same. (A client that has stopped reading, as
// coder/acp-go-sdk does when its queue is full, must leave no process behind.)
func TestEndOfInputUnread(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(binary, "--agent", "demo")
	stdin, stdout := startPiped(t, cmd)
	ended := make(chan struct{})
	r := bufio.NewReader(stdout)
	next := func() map[string]any {
		var m map[string]any
		line, err := r.ReadBytes('\n')
		if err != nil || json.Unmarshal(line, &m) != nil {
			t.Errorf("reading: %q, %v", line, err)
		}
		return m
	}
	fmt.Fprintln(stdin, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`)
	next()
	fmt.Fprintf(stdin, `{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`+"\n", t.TempDir())
	session := at(next(), "result.sessionId")
	fmt.Fprintf(stdin, `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"long"}]}}`+"\n", session)
	for range 5 {
		next()
	}
	// A pipe holds 64 KiB, and the story is twice as long. Nobody can see from here when
	// it is full, so it gets time. If it is not full, the test proves less, but does not
	// fail.
	<-time.After(500 * time.Millisecond)
	began := time.Now()
	stdin.Close()
	go func() { // ends with the process
		_, _ = cmd.Process.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		if took := time.Since(began); took > exitTime+500*time.Millisecond {
			t.Errorf("the bridge ended %v after its input, while stdout was full", took.Round(time.Millisecond))
		}
	case <-time.After(10 * exitTime):
		t.Errorf("the bridge goes on %v after the end of its input, while stdout is full", 10*exitTime)
		_ = cmd.Process.Kill()
		<-ended
	}
}
