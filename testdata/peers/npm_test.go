package peers

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
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
	dir, err := peersDir()
	if err != nil {
		t.Fatal(err)
	}
	if dir, err = filepath.Abs(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
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

// TestPackageNPM: the npm packages are packed, and installed without a registry and
// without scripts. What they start behaves like the program: its output, its exit
// status and its end by a signal.
func TestPackageNPM(t *testing.T) {
	needNode(t, 18)
	out, home := t.TempDir(), t.TempDir()
	run := func(dir, name string, args ...string) (string, string, error) {
		var stdout, stderr bytes.Buffer
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
		cmd.Env = append(os.Environ(), "HOME="+home, "NOTICES="+filepath.Join(out, "notices"))
		err := cmd.Run()
		return stdout.String(), stderr.String(), err
	}
	notices, _, err := run(out, binary, "version", "--licenses")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(out, "notices"), notices)
	platform := map[string]string{"windows": "win32"}[runtime.GOOS]
	if platform == "" {
		platform = runtime.GOOS
	}
	platform += "-" + map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	build := mustGet(filepath.Abs(filepath.Join("..", "..", "packaging", "npm", "build.mjs")))(t)
	if stdout, stderr, err := run(out, "node", build, "1.2.3", out, platform+"="+binary); err != nil {
		t.Fatalf("%v %s%s", err, stdout, stderr)
	}
	main, program := filepath.Join(out, "a2astdio-1.2.3.tgz"), filepath.Join(out, "a2astdio-"+platform+"-1.2.3.tgz")

	dir := t.TempDir()
	write(t, filepath.Join(dir, "package.json"), `{"private":true}`)
	if stdout, stderr, err := run(dir, "npm", "install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", program, main); err != nil {
		t.Fatalf("%v %s%s", err, stdout, stderr)
	}
	shim := filepath.Join(dir, "node_modules", ".bin", "a2astdio")
	if stdout, stderr, err := run(dir, shim, "--agent", "demo", "send", "hello"); err != nil || !strings.HasPrefix(stdout, "Hello") || stderr != "" {
		t.Errorf("%v %q %q", err, stdout, stderr)
	}
	_, _, err = run(dir, shim, "--nonsense")
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 2 {
		t.Errorf("a misuse ends with %v", err)
	}
	for _, name := range []string{"a2astdio/LICENSE", "a2astdio/THIRD_PARTY_NOTICES", "a2astdio/README.md", "@a2astdio/" + platform + "/LICENSE", "@a2astdio/" + platform + "/THIRD_PARTY_NOTICES"} {
		if _, err := os.Stat(filepath.Join(dir, "node_modules", filepath.FromSlash(name))); err != nil {
			t.Error(err)
		}
	}
	if runtime.GOOS != "windows" {
		endShim(t, shim, dir)
	}

	// Without the platform's package the error tells why.
	alone := t.TempDir()
	write(t, filepath.Join(alone, "package.json"), `{"private":true}`)
	if stdout, stderr, err := run(alone, "npm", "install", "--offline", "--omit=optional", "--no-audit", "--no-fund", main); err != nil {
		t.Fatalf("%v %s%s", err, stdout, stderr)
	}
	if stdout, stderr, err := run(alone, filepath.Join(alone, "node_modules", ".bin", "a2astdio"), "version"); err == nil || stdout != "" || !strings.Contains(stderr, "--omit=optional") {
		t.Errorf("%v %q %q", err, stdout, stderr)
	}
}

// endShim sends a signal to the script, which reaches the program.
func endShim(t *testing.T, shim, dir string) {
	t.Helper()
	cmd := exec.Command(shim, "demo", "--listen", "127.0.0.1:0")
	cmd.Dir = dir
	stdout := mustGet(cmd.StdoutPipe())(t)
	mustDo(t, cmd.Start())
	if _, err := stdout.Read(make([]byte, 1)); err != nil { // the demo is ready
		t.Fatal(err)
	}
	mustDo(t, cmd.Process.Signal(syscall.SIGTERM))
	if err := cmd.Wait(); err != nil {
		t.Errorf("the demo ends by a signal with %v", err)
	}
}

// TestMarkdownRenderers: questions that hold whatever Markdown swallows look the same in the
// renderers that editors have.
func TestMarkdownRenderers(t *testing.T) {
	needNode(t, 20)
	dir := installNPM(t, "markdown-14.1.0-16.4.0", filepath.Join("markdown", "package.json"))
	out, err := exec.Command("node", filepath.Join("markdown", "render.mjs"), dir, filepath.Join("..", "questions.json")).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v: %.2000s", err, out)
	}
}
