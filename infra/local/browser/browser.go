// Package browser drives a headless Chromium in tests.
package browser

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"ringi/shared/runtime/expect"
)

const (
	lifetime = 20 * time.Minute
	// longer than the minute after which the sweeper repairs lost work
	patience = 100 * time.Second
	pace     = 30 * time.Millisecond
)

// Window describes the window's size and the person's preferences.
type Window struct {
	Width, Height int64
	Phone         bool   // touch input on a high-density screen
	Dark          bool   // the person prefers dark colors
	Calm          bool   // the person prefers reduced motion
	Language      string // the browser's language; "" is "ja"
	Hasty         bool   // the page's intervals are five times shorter
}

// Browser is a running Chromium. Each page that Open returns has its own cookies and storage.
type Browser struct{ ctx context.Context }

type Tab struct {
	t      testing.TB
	ctx    context.Context
	window Window
}

// common is the Chromium that the tests of a package share while Share runs; one is nil until a test asks for it.
var common struct {
	mu  sync.Mutex
	on  bool
	one *Browser
	end func()
}

// Share runs a package's tests with one Chromium, which ends after the last of them.
func Share(run func() int) int {
	common.on = true
	defer func() {
		if common.on = false; common.one != nil {
			common.end()
			common.one = nil
		}
	}()
	return run()
}

// Start starts a Chromium that ends with the test. While Share runs, Start returns the Chromium that Share's tests have
// in common, or a new one if that died. If no Chromium is installed, the test is skipped on a laptop and fails if CI is
// set.
func Start(t testing.TB) *Browser {
	t.Helper()
	expect.Patience(t)
	path := installed(t)
	common.mu.Lock()
	defer common.mu.Unlock()
	if common.one != nil && common.one.ctx.Err() == nil {
		return common.one
	}
	b, end, err := launch(path)
	expect.Must(t, err == nil, "start Chromium: %v", err)
	if common.on {
		common.one, common.end = b, end
	} else {
		t.Cleanup(end)
	}
	return b
}

// installed returns the path of this machine's Chromium.
func installed(t testing.TB) string {
	t.Helper()
	// chromium-headless-shell comes first: without windows to draw it needs two thirds of the others' time.
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome",
		"google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	expect.Must(t, os.Getenv("CI") == "", "no Chromium on this machine: install chromium")
	t.Skip("no Chromium on this machine: install chromium to run the browser tests")
	return ""
}

// launch starts the Chromium at path. It runs until end is called. One that crashes while it starts, as Chromium does
// once in some thousand starts, is started again.
func launch(path string) (b *Browser, end func(), err error) {
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.WSURLReadTimeout(2*time.Minute),
		chromedp.Flag("disable-gpu", true), chromedp.Flag("in-process-gpu", true), // test machines have no GPU
		// All tabs of a person share one process, and Chromium starts no spare process.
		chromedp.Flag("renderer-process-limit", "1"), chromedp.Flag("disable-features",
			"Translate,BlinkGenPropertyTrees,SpareRendererForSitePerProcess"))
	for range 2 {
		ctx, kill := chromedp.NewExecAllocator(context.Background(), opts...)
		ctx, leave := chromedp.NewContext(ctx)
		end = func() { leave(); kill() }
		if err = chromedp.Do(ctx); err == nil {
			return &Browser{ctx}, end, nil
		}
		end()
	}
	return nil, nil, err
}

// Open opens a page without any cookies or storage.
func (b *Browser) Open(t testing.TB, url string, w Window) *Tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, lifetime)
	t.Cleanup(cancel)
	p := &Tab{t: t, ctx: ctx, window: w}
	if w.Hasty {
		p.hurry()
	}
	p.prefer(w)
	if w.Phone {
		p.Do(chromedp.EmulateViewport(w.Width, w.Height, chromedp.EmulateMobile, chromedp.EmulateTouch,
			chromedp.EmulatePortrait, chromedp.EmulateScale(2)))
	} else {
		p.Do(chromedp.EmulateViewport(w.Width, w.Height, chromedp.EmulateScale(1)))
	}
	p.Visit(url)
	return p
}

// Open starts a Chromium and opens a page in it.
func Open(t testing.TB, url string, width, height int64) *Tab {
	t.Helper()
	return Start(t).Open(t, url, Window{Width: width, Height: height})
}

// For returns the same page for another test. Failures then count against that test.
func (p *Tab) For(t testing.TB) *Tab { return &Tab{t: t, ctx: p.ctx, window: p.window} }

func (p *Tab) hurry() {
	p.t.Helper()
	p.Do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
			Source: `{ const every = setInterval; window.setInterval = (what, pause, ...more) => every(what, pause / 5, ` +
				`...more); }`,
		})
		return err
	}))
}

func (p *Tab) prefer(w Window) {
	p.t.Helper()
	features := []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: map[bool]string{false: "light", true: "dark"}[w.Dark]},
		{Name: "prefers-reduced-motion", Value: map[bool]string{false: "no-preference", true: "reduce"}[w.Calm]},
	}
	p.Do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		agent, err := chromedp.Run(ctx, chromedp.Evaluate[string]("navigator.userAgent"))
		if err != nil {
			return err
		}
		if _, err := cdp.Call(ctx, target, emulation.SetUserAgentOverride,
			emulation.SetUserAgentOverrideParams{UserAgent: agent, AcceptLanguage: cmp.Or(w.Language, "ja")}); err != nil {
			return err
		}
		_, err = cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
		return err
	}))
}

func (p *Tab) Visit(url string) {
	p.t.Helper()
	p.Do(chromedp.Navigate(url))
	p.Eval(`window.failures = []; addEventListener("error", (e) => failures.push(e.message)); ` +
		`addEventListener("unhandledrejection", (e) => failures.push(String(e.reason)))`)
}

func (p *Tab) Do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.t.Fatalf("browser: %v", err)
	}
}

func (p *Tab) Eval(js string) {
	p.t.Helper()
	if _, err := chromedp.Run(p.ctx, chromedp.Evaluate[chromedp.Void](js)); err != nil {
		p.t.Fatalf("browser: %s: %v", js, err)
	}
}

// Until waits until a JavaScript condition is true. The page may navigate meanwhile. A condition that throws, for
// instance on a page that is still loading, counts as false.
func (p *Tab) Until(js string) {
	p.t.Helper()
	err := p.through(func() error { return p.poll(js) })
	if err != nil {
		said, _ := chromedp.Run(p.ctx,
			chromedp.Evaluate[string](`[window.unclaimed, location.pathname + location.search, ...[...document.`+
				`querySelectorAll("h1, main > p, .whisper, .toast")].map(n => n.innerText)].join(" | ").slice(0, 600)`))
		p.t.Fatalf("never happened on the page: %s: %v; it says %q", js, err, said)
	}
}

// through repeats ask while it fails because the page navigated.
func (p *Tab) through(ask func() error) error {
	err := ask()
	for began := time.Now(); err != nil && left(err) && time.Since(began) < patience; {
		err = ask()
	}
	return err
}

// left reports whether an error means that the page navigated during a call.
func left(err error) bool {
	return strings.Contains(err.Error(), "Cannot find context") || strings.Contains(err.Error(), "navigated or closed")
}

func (p *Tab) poll(js string) error {
	const claim = `(() => { try { return !!(%s) } catch (e) { window.unclaimed = String(e); return false } })()`
	_, err := chromedp.Run(p.ctx, chromedp.Poll[bool](fmt.Sprintf(claim, js), chromedp.WithPollingInterval(pace),
		chromedp.WithPollingTimeout(patience)))
	return err
}

// Click waits for the first element that matches and clicks it, also where a person couldn't.
func (p *Tab) Click(selector string) {
	p.t.Helper()
	_, err := chromedp.Run(p.ctx, chromedp.Poll[bool](fmt.Sprintf(
		`((el) => { el?.click(); return !!el })(document.querySelector(%q))`, selector),
		chromedp.WithPollingInterval(pace), chromedp.WithPollingTimeout(patience)))
	if err != nil && !left(err) { // the click itself may leave the page
		p.t.Fatalf("browser: press %s: %v", selector, err)
	}
}

// Clean fails the test if a script of the page failed.
func (p *Tab) Clean() {
	p.t.Helper()
	failures, err := chromedp.Run(p.ctx, chromedp.Evaluate[[]string]("window.failures"))
	expect.That(p.t, err == nil && len(failures) == 0, "the page's scripts failed: %q %v", failures, err)
}

// Read returns the value of a JavaScript expression on the page.
func Read[T any](p *Tab, js string) T {
	p.t.Helper()
	var v T
	err := p.through(func() (err error) {
		v, err = chromedp.Run(p.ctx, chromedp.Evaluate[T](js))
		return err
	})
	expect.Must(p.t, err == nil, "browser: %s: %v", js, err)
	return v
}

// Whole saves a PNG of the entire page.
func (p *Tab) Whole(path string) {
	p.t.Helper()
	png, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(path, png, 0o644)
	}
	expect.Must(p.t, err == nil, "screenshot: %v", err)
}
