package peers

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// browserTime bounds a test in the browser.
const browserTime = 5 * time.Minute

// A browser is a tab of a headless Chromium, and its errors.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu     sync.Mutex
	errors []string
	asked  []string // URLs
}

// browse starts a browser, which is ended with the test. Without Chromium the test
// is skipped.
func browse(t *testing.T) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("the page needs chromium, which is not here")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-sync", true))
	ctx, cancel := context.WithTimeout(context.Background(), browserTime)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &browser{t: t, ctx: ctx}
	console, requests := chromedp.Console(ctx), chromedp.Events(ctx, network.RequestWillBeSent)
	go func() { // ends with the browser
		for m, err := range console {
			if err != nil {
				return
			}
			// These include refusals of the content security policy.
			if m.Type == chromedp.ConsoleError || m.Type == chromedp.ConsoleException || m.Type == chromedp.ConsoleWarning {
				b.mu.Lock()
				b.errors = append(b.errors, m.Text)
				b.mu.Unlock()
			}
		}
	}()
	go func() { // ends with the browser
		for ev, err := range requests {
			if err != nil {
				return
			}
			b.mu.Lock()
			b.asked = append(b.asked, ev.Request.URL)
			b.mu.Unlock()
		}
	}()
	return b
}

func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	mustDo(b.t, chromedp.Do(b.ctx, actions...))
}

// open opens a page and waits until it has its trace.
func (b *browser) open(url string, width, height int64) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, height), chromedp.Navigate("about:blank"), chromedp.Navigate(url))
	b.until(`document.documentElement.dataset.ready === "yes"`)
}

// eval is what an expression is in the page.
func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// js runs a statement in the page.
func (b *browser) js(statement string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void]("(() => {" + statement + "})()"))
}

// until waits for an expression to be true.
func (b *browser) until(expression string) {
	b.t.Helper()
	for {
		_, err := chromedp.Run(b.ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(time.Minute)))
		if err == nil {
			return
		}
		// A page that is replaced does not answer.
		if b.ctx.Err() != nil || !strings.Contains(err.Error(), "Cannot find context") && !strings.Contains(err.Error(), "context was destroyed") {
			b.t.Fatalf("%s: %v", expression, err)
		}
	}
}

func (b *browser) press(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.do(chromedp.KeyEvent(k))
	}
}

// clean demands that there were no errors, and no requests but to the page's own URLs.
func (b *browser) clean(own ...string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.errors {
		b.t.Errorf("the page: %s", e)
	}
	for _, url := range b.asked {
		if !slices.ContainsFunc(own, func(prefix string) bool { return strings.HasPrefix(url, prefix) }) && url != "about:blank" {
			b.t.Errorf("the page asks for %s", url)
		}
	}
}

// serveTrace runs trace serve until the test ends, and returns its URL.
func serveTrace(t *testing.T, trace string) string {
	t.Helper()
	return serving(t, exec.Command(binary, "trace", "serve", trace))
}

// A pageScene is what a script has begun in a browser.
type pageScene struct{ tab *browser }

// pageCommands are those of scripts about pages.
//
//	browse            a browser. Without Chromium the script is skipped
//	tour URL FILE     goes through the steps of the file, at a page
//	clean URL...      there were no errors, and no requests but to these
//
// The steps are lines, with JavaScript that is evaluated in the page:
//
//	open FRAGMENT WIDTH HEIGHT  opens the page in a window of this size
//	do STATEMENT      runs it
//	until EXPRESSION  waits for it to be true
//	press KEY...      presses keys
var pageCommands = map[string]sceneCommand{
	"browse": func(s *scene, _ []string) { s.tab = browse(s.t) },
	"tour": func(s *scene, args []string) {
		for line := range strings.Lines(os.Expand(s.ts.ReadFile(args[1]), s.ts.Getenv)) {
			switch step, rest, _ := strings.Cut(strings.TrimSpace(line), " "); step {
			case "open":
				var fragment string
				var width, height int64
				mustGet(fmt.Sscan(rest, &fragment, &width, &height))(s.t)
				s.tab.open(args[0]+fragment, width, height)
			case "do":
				s.tab.js(rest)
			case "until":
				s.tab.until(rest)
			case "press":
				s.tab.press(strings.Fields(strings.ReplaceAll(rest, "Escape", kb.Escape))...)
			}
		}
	},
	"clean": func(s *scene, args []string) { s.tab.clean(args...) },
}

// The page of a trace shows a conversation, in a real browser: script/page_*.txtar.
func TestTracePage(t *testing.T) { play(t, "page_") }

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	return mustGet(os.ReadFile(path))(t)
}

// TestTracePageLarge: the list has a hundred thousand events, of which only the visible
// ones are drawn: drawing does not slow down with the trace.
func TestTracePageLarge(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("not with -short")
	}
	b := browse(t)
	median := map[int]float64{}
	for _, n := range []int{1000, 100_000} {
		trace := filepath.Join(t.TempDir(), "t.jsonl")
		f := mustGet(os.Create(trace))(t)
		w := bufio.NewWriter(f)
		fmt.Fprintf(w, `{"n":1,"t":"2026-01-02T03:04:05.000000Z","us":0,"wire":"bridge","kind":"start","format":2,"run":"r","part":1,"limit":1048576,"mode":"bridge"}`+"\n")
		for i := 2; i <= n; i += 2 {
			fmt.Fprintf(w, `{"n":%d,"t":"2026-01-02T03:04:05.000000Z","us":%d,"wire":"agent","dir":"in","kind":"event","x":1,"e":%d,"json":{"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_WORKING","message":{"messageId":"m","parts":[{"text":"word %d "}]}}}}}}`+"\n", i, i*1000, i/2, i)
			fmt.Fprintf(w, `{"n":%d,"t":"2026-01-02T03:04:05.000000Z","us":%d,"wire":"editor","dir":"out","kind":"message","method":"session/update","json":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"word %d "}}}}}`+"\n", i+1, i*1000+200, i)
		}
		mustDo(t, w.Flush())
		f.Close()
		b.open(serveTrace(t, trace), 1440, 900)
		b.until(fmt.Sprintf(`Data.rows.length >= %d && List.shown.length === Data.rows.length`, n))
		median[n] = eval[float64](b, `(() => { const times = []; for (let i = 0; i < 200; i++) { List.view.scrollTop = (i * 7919 % 200) / 200 * List.shown.length * List.height; const t = performance.now(); List.draw(); times.push(performance.now() - t); } times.sort((a, b) => a - b); return times[100]; })()`)
		if nodes := eval[int](b, `document.querySelectorAll("*").length`); nodes > 2500 {
			t.Errorf("%d elements for %d events", nodes, n)
		}
		b.press("G")
		b.until(`List.selected === Data.rows.length - 1 && document.querySelector(".row.sel") !== null`)
	}
	if median[100_000] > 5*median[1000]+2 {
		t.Errorf("a drawing takes %.2f ms with 1,000 events, %.2f ms with 100,000", median[1000], median[100_000])
	}
}
