package peers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// needNode skips the test where Node is older than a major version, or missing.
func needNode(t testing.TB, least int) {
	t.Helper()
	if lacks := nodeLacks(least); lacks != "" {
		t.Skip("this peer needs " + lacks)
	}
}

// nodeLacks says what of Node is not here, if anything.
func nodeLacks(least int) string {
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			return tool + ", which is not here"
		}
	}
	out, _ := exec.Command("node", "--version").Output()
	major, _, _ := strings.Cut(strings.TrimPrefix(string(out), "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < least {
		return fmt.Sprintf("node %d or newer, this is %q", least, out)
	}
	return ""
}

// installing is a lock: one test installs at a time.
var installing = make(chan struct{}, 1)

// installNPM installs what a package.json wants, if it is not there yet, and
// returns where.
func installNPM(t testing.TB, name, wanted string) string {
	t.Helper()
	installing <- struct{}{}
	defer func() { <-installing }()
	dir := mustGet(peersDir())(t)
	dir = mustGet(filepath.Abs(filepath.Join(dir, name)))(t)
	// npm writes it when everything is there.
	if _, err := os.Stat(filepath.Join(dir, "node_modules", ".package-lock.json")); err == nil {
		return dir
	}
	content := mustGet(os.ReadFile(wanted))(t)
	mustDo(t, os.MkdirAll(dir, 0o755))
	mustDo(t, os.WriteFile(filepath.Join(dir, "package.json"), content, 0o644))
	install := exec.Command("npm", "install", "--no-audit", "--no-fund", "--silent", "--ignore-scripts")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatal(fmt.Errorf("installing %s in %s: %v\n%s", name, dir, err, out))
	}
	return dir
}

// What other people's clients of ACP, packages and verifiers see: script/acp_*.txtar and so on. Those of acp2_ are
// of its version 2.
func TestACP(t *testing.T)         { play(t, "acp_") }
func TestTypeScript2(t *testing.T) { play(t, "acp2_") }
func TestPackages(t *testing.T)    { play(t, "pack_") }
func TestSignatures(t *testing.T)  { play(t, "sign_") }

// nodePlatform is what Node calls this system.
func nodePlatform() string {
	system, arch := strings.Replace(runtime.GOOS, "windows", "win32", 1), strings.Replace(runtime.GOARCH, "amd64", "x64", 1)
	return system + "-" + arch
}
