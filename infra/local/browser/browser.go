// Package browser drives a headless Chromium in tests.
package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

const (
	lifetime = 3 * time.Minute
	patience = 45 * time.Second
)

// Tab is one page.
type Tab struct {
	t   testing.TB
	ctx context.Context
}

// Open shows a page in a window of this size. Without a Chromium the test is
// skipped on a laptop, and fails where CI is set.
func Open(t testing.TB, url string, width, height int) *Tab {
	t.Helper()
	found := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			found = path
			break
		}
	}
	if found == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("no Chromium on this machine: install chromium")
		}
		t.Skip("no Chromium on this machine: install chromium to run the browser tests")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(found), chromedp.NoSandbox)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, lifetime)
	t.Cleanup(cancel)
	p := &Tab{t: t, ctx: ctx}
	p.Do(chromedp.EmulateViewport(int64(width), int64(height)), chromedp.Navigate(url))
	p.Eval(`window.failures = []; addEventListener("error", (e) => failures.push(e.message)); addEventListener("unhandledrejection", (e) => failures.push(String(e.reason)))`)
	return p
}

// Do runs steps of chromedp.
func (p *Tab) Do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.t.Fatalf("browser: %v", err)
	}
}

// Eval runs JavaScript in the page.
func (p *Tab) Eval(js string) {
	p.t.Helper()
	if _, err := chromedp.Run(p.ctx, chromedp.Evaluate[chromedp.Void](js)); err != nil {
		p.t.Fatalf("browser: %s: %v", js, err)
	}
}

// Until waits for a claim about the page, in JavaScript.
func (p *Tab) Until(js string) {
	p.t.Helper()
	if _, err := chromedp.Run(p.ctx, chromedp.Poll[bool]("!!("+js+")", chromedp.WithPollingTimeout(patience))); err != nil {
		p.t.Fatalf("never happened on the page: %s: %v", js, err)
	}
}

// Click presses the first element that matches, once it is there.
func (p *Tab) Click(selector string) {
	p.t.Helper()
	p.Until(fmt.Sprintf("document.querySelector(%q)", selector))
	p.Eval(fmt.Sprintf("document.querySelector(%q).click()", selector))
}

// Keys types on the keyboard.
func (p *Tab) Keys(text string) {
	p.t.Helper()
	p.Do(chromedp.KeyEvent(text))
}

// Clean fails the test when a script of the page failed.
func (p *Tab) Clean() {
	p.t.Helper()
	failures, err := chromedp.Run(p.ctx, chromedp.Evaluate[[]string]("window.failures"))
	if err != nil || len(failures) > 0 {
		p.t.Errorf("the page's scripts failed: %q %v", failures, err)
	}
}

// Screenshot writes the page as a PNG file.
func (p *Tab) Screenshot(path string) {
	p.t.Helper()
	png, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(path, png, 0o644)
	}
	if err != nil {
		p.t.Fatalf("screenshot: %v", err)
	}
}
