package peers

import (
	"context"
	"fmt"
	"os"
	"os/exec"
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
