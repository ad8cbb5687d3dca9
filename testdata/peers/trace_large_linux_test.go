package peers

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A trace of a gigabyte, with a line of garbage and an incomplete last line, is read to
// its end in the memory of a small one, with a note on each fault.
func TestTraceLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("a gigabyte: not with -short")
	}
	t.Parallel()
	const size = 1 << 30
	for _, way := range []string{"show", "check"} {
		cmd := exec.Command(binary, append(append([]string{"trace"}, strings.Fields(way)...), "-")...)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		var stderr strings.Builder
		cmd.Stdout, cmd.Stderr = io.Discard, &stderr
		mustDo(t, cmd.Start())
		records := largeTrace(in, size)
		peak := peakMiB(t, cmd.Process.Pid) // it waits for more
		_ = in.Close()
		err = cmd.Wait()
		if err != nil && way != "check" { // which has findings
			t.Errorf("%s: %v: %.500s", way, err, stderr.String())
		}
		t.Logf("%s: %d records, %d MiB at most, %v of CPU", way, records, peak, cmd.ProcessState.UserTime())
		if peak > 128 {
			t.Errorf("%s takes %d MiB", way, peak)
		}
		for _, note := range []string{"is no record", "cut off"} {
			contains(t, way, stderr.String(), note)
		}
	}
}

// peakMiB is the peak memory of a living process. For an ended one (rusage) the system
// begins with the memory of its parent.
func peakMiB(t *testing.T, pid int) (peak int) {
	t.Helper()
	status := mustGet(os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)))(t)
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	mustGet(fmt.Sscan(rest, &peak))(t)
	return peak >> 10
}

// largeTrace writes a trace of some size, and returns how many records it has.
func largeTrace(w io.Writer, size int) (records int) {
	out := bufio.NewWriterSize(w, 1<<20)
	defer out.Flush()
	text := strings.Repeat("word ", 200)
	fmt.Fprintln(out, `{"n":1,"t":"2026-01-02T03:04:05.000000Z","us":0,"wire":"bridge","kind":"start","format":2,"run":"r","part":1,"limit":1048576,"mode":"bridge"}`)
	for n, wrote := 2, 0; wrote < size; n++ {
		k, err := fmt.Fprintf(out, `{"n":%d,"t":"2026-01-02T03:04:05.000000Z","us":%d,"wire":"agent","dir":"in","kind":"event","x":1,"e":%d,"json":{"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING","message":{"messageId":"m%d","role":"ROLE_AGENT","parts":[{"text":"%s"}]}}}}}}`+"\n", n, n, n-1, n, text)
		if err != nil {
			return n
		}
		if n == 1000 {
			fmt.Fprintln(out, "garbage")
		}
		wrote, records = wrote+k, n
	}
	fmt.Fprint(out, `{"n":`)
	return records
}
