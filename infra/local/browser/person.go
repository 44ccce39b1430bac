package browser

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"ringi/infra/local/process"
	"ringi/shared/runtime/expect"
)

// spot returns the point where a person would press: the middle of the first visible match, once that has stopped
// moving, is enabled and is covered by nothing. It also records which element receives the pointerdown and the click,
// because the page may still move before or during the press.
const spot = `(() => {
  const selector = %q;
  const el = [...document.querySelectorAll(selector)].find((e) => e.checkVisibility({ visibilityProperty: true }));
  if (!el || el.disabled) return null;
  el.scrollIntoView({ block: "nearest" });
  const r = el.getBoundingClientRect();
  const at = [r.x + r.width / 2, r.y + r.height / 2];
  const still = String(window.lastSpot) === String(at);
  window.lastSpot = at;
  if (!still || !el.contains(document.elementFromPoint(...at))) return null;
  window.press?.done.abort();
  const press = window.press = { done: new AbortController() };
  const heard = { capture: true, signal: press.done.signal };
  for (const kind of ["pointerdown", "click"]) {
    addEventListener(kind, (e) => {
      press[kind] = e.composedPath().includes(el) || !!e.target.closest?.(selector);
    }, heard);
  }
  for (const kind of ["pointerup", "pointercancel"]) {
    addEventListener(kind, () => { press.up = performance.now(); }, heard);
  }
  return at;
})()`

// Press clicks with the mouse, or taps on a phone. Like a person, it presses again if the page moved and another
// element got the press.
func (p *Tab) Press(selector string) {
	p.t.Helper()
	for range 5 {
		at := p.spotOf(selector)
		if p.window.Phone {
			p.Do(chromedp.TapXY(at[0], at[1]))
		} else {
			p.Do(chromedp.MouseClickXY(at[0], at[1]))
		}
		if p.landed() {
			return
		}
		p.t.Logf("%s moved away from under the pointer", selector)
	}
	p.t.Fatalf("it never keeps still: %s", selector)
}

// Point moves the mouse over an element and returns the position.
func (p *Tab) Point(selector string) (at [2]float64) {
	p.t.Helper()
	copy(at[:], p.spotOf(selector))
	p.Do(chromedp.MouseEvent(chromedp.MouseMoved, at[0], at[1]))
	p.Until(fmt.Sprintf(`document.querySelector(%q).matches(":hover")`, selector))
	return at
}

// PressAt clicks at a position, whatever element is there now. It returns once the page has received the click.
func (p *Tab) PressAt(at [2]float64) {
	p.t.Helper()
	p.Eval(`window.heard = false; addEventListener("click", () => { window.heard = true; }, { once: true })`)
	p.Do(chromedp.MouseClickXY(at[0], at[1]))
	p.Until(`window.heard !== false`) // true also if the click left the page
}

// spotOf waits until an element can be pressed, and returns its position.
func (p *Tab) spotOf(selector string) []float64 {
	p.t.Helper()
	var at []float64
	err := p.through(func() (err error) {
		at, err = chromedp.Run(p.ctx, chromedp.Poll[[]float64](fmt.Sprintf(spot, selector),
			chromedp.WithPollingInterval(pace), chromedp.WithPollingTimeout(patience)))
		return err
	})
	expect.Must(p.t, err == nil && len(at) == 2, "nothing that a person could press: %s: %v", selector, err)
	return at
}

// landed reports whether the last press began and ended on its target. An element that is redrawn during a press gets
// no click. If the page navigated, the press counts as landed.
func (p *Tab) landed() bool {
	const came = `((press) => {
		if (press === undefined) return "left";
		if (press.pointerdown === false || press.up < performance.now() - 3000) return String(!!press.click);
		return press.click === undefined ? "" : String(press.click);
	})(window.press)`
	where, err := chromedp.Run(p.ctx,
		chromedp.Poll[string](came, chromedp.WithPollingInterval(pace), chromedp.WithPollingTimeout(patience)))
	return err != nil || where != "false"
}

// Keys types on the keyboard.
func (p *Tab) Keys(text string) {
	p.t.Helper()
	for _, key := range text {
		p.Chord(key, kb.ModifierNone)
	}
}

// Chord presses a key while others are held down. As on a real keyboard, a key that the page handles itself types
// nothing.
func (p *Tab) Chord(key rune, held kb.Modifier) {
	p.t.Helper()
	strokes := kb.Encode(key)
	down, up := strokes[0], strokes[len(strokes)-1]
	if len(strokes) == 3 && held&^kb.ModifierShift == 0 {
		down.Text, down.UnmodifiedText = strokes[1].Text, strokes[1].UnmodifiedText
	}
	for _, stroke := range []*input.DispatchKeyEventParams{down, up} {
		stroke.Modifiers |= int64(held)
		p.Do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, input.DispatchKeyEvent, *stroke)
			return err
		}))
	}
}

// misfits lists what a person could not read or reach in a window of this width: elements that stick out or scroll
// sideways, buttons and titles with cut words, and buttons too small for a finger. A table of the console may scroll
// within its frame, if that can have keyboard focus.
const misfits = `((width, phone) => {
  const found = [];
  const name = (el) => el.tagName.toLowerCase() + (el.className ? "." + el.className : "") + " " +
    JSON.stringify((el.innerText || "").slice(0, 40));
  for (const el of document.querySelectorAll("body *")) {
    if (!el.checkVisibility({ visibilityProperty: true })) continue;
    if (el.closest(".sr, .skip, :is(.stacked, .list, .glance) thead, .scroll[tabindex] table")) continue;
    const r = el.getBoundingClientRect();
    const style = getComputedStyle(el);
    if (r.width && (r.left < -1 || r.right > width + 1)) found.push("sticks out: " + name(el));
    const wider = el.scrollWidth > el.clientWidth + 1;
    const scrolls = /auto|scroll/.test(style.overflowX) && !el.matches(".scroll[tabindex]");
    if (scrolls && wider) found.push("scrolls sideways: " + name(el));
    if (el.matches("button, h1, h2, h3") && wider) found.push("is cut: " + name(el));
    if (phone && el.matches("dialog[open]") && r.width < width) found.push("leaves a gap beside it: " + name(el));
    const pressed = phone && el.matches(".btn, [role=menuitem], .icon-btn, .suggestion");
    if (pressed && r.height < 32) found.push("is too small for a finger: " + name(el));
  }
  return found;
})(%d, %t)`

// Fits fails the test if a person could not read or reach something on the page.
func (p *Tab) Fits() {
	p.t.Helper()
	p.Until(`document.readyState === "complete"`)
	for _, what := range Read[[]string](p, fmt.Sprintf(misfits, p.window.Width, p.window.Phone)) {
		p.t.Errorf("at %d px %s", p.window.Width, what)
	}
}

// Quote returns a text as a JavaScript string literal.
func Quote(s string) string {
	b, _ := json.Marshal(s) // marshaling a string cannot fail
	return string(b)
}

// Type replaces a field's text, as an input method does.
func (p *Tab) Type(selector, text string) {
	p.t.Helper()
	p.Press(selector)
	p.Eval(fmt.Sprintf("document.querySelector(%q).select()", selector))
	if text == "" {
		p.Keys("\b")
		return
	}
	p.Do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, input.InsertText, input.InsertTextParams{Text: text})
		return err
	}))
}

// Agree presses a button, confirms the page's question and returns that question.
func (p *Tab) Agree(selector string) string {
	p.t.Helper()
	p.Eval(`window.confirm = (question) => { sessionStorage.asked = question; return true; }; sessionStorage.asked = ""`)
	p.Press(selector)
	p.Until(`sessionStorage.asked !== ""`)
	return Read[string](p, `sessionStorage.asked`)
}

// axe locks the npm package axe-core, which is under the Mozilla Public License 2.0.
//
//go:embed axe/package.json axe/package-lock.json axe/.npmrc
var axe embed.FS

// axeScript installs axe-core, and returns "" where tests do without Node.
func axeScript(t testing.TB) string {
	t.Helper()
	dir := process.Try(t, "axe", expect.Value(fs.Sub(axe, "axe"))(t))
	if dir == "" {
		return ""
	}
	return string(expect.Value(os.ReadFile(filepath.Join(dir, "node_modules", "axe-core", "axe.min.js")))(t))
}

// findings asks axe for serious and critical problems, and for headings out of order: the rule, its text, and at most
// five elements. It ends animations first, because axe would measure the wrong color of an element that still fades in.
const findings = `(async () => {
  for (const a of document.getAnimations()) if (Number.isFinite(a.effect.getComputedTiming().endTime)) a.finish();
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  const least = (v) => v.impact === "serious" || v.impact === "critical" || v.id === "heading-order";
  return violations.filter(least).map((v) => ({
    rule: v.id, says: v.help,
    at: v.nodes.slice(0, 5).map((n) => n.target.join(" ") + ": " + (n.any[0] || n.all[0] || n.none[0] || {}).message),
    more: Math.max(0, v.nodes.length - 5),
  }));
})()`

// Finding is a rule of axe that a page breaks.
type Finding struct {
	Rule string   `json:"rule"`
	Says string   `json:"says"`
	At   []string `json:"at"`
	More int      `json:"more"`
}

// mostByDay is how many pages of a test binary axe looks at by day.
const mostByDay = 6

var looked atomic.Int32

// Accessible fails the test when axe-core finds a serious problem on the page. By day axe looks at the
// first pages alone.
func (p *Tab) Accessible(t testing.TB) {
	t.Helper()
	if !expect.Long() && looked.Add(1) > mostByDay {
		return
	}
	found, _ := p.Violations(t)
	for _, f := range found {
		t.Errorf("axe: %s: %s, at\n\t%s (and %d more)", f.Rule, f.Says, strings.Join(f.At, "\n\t"), f.More)
	}
}

// Violations returns what axe finds on the page. Where there is no Node, axe does not look.
func (p *Tab) Violations(t testing.TB) (found []Finding, looked bool) {
	t.Helper()
	p.Until(`document.readyState === "complete"`)
	there, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool]("!!window.axe"))
	if err == nil && !there {
		script := axeScript(t)
		if script == "" {
			t.Log("axe looks at no page: ", process.ErrNode)
			return nil, false
		}
		_, err = chromedp.Run(p.ctx, chromedp.Evaluate[chromedp.Void](script+"; undefined"))
	}
	expect.Must(t, err == nil, "browser: load axe-core: %v", err)
	found, err = chromedp.Run(p.ctx, chromedp.Evaluate[[]Finding](findings, chromedp.EvalAwaitPromise))
	expect.Must(t, err == nil, "browser: run axe-core: %v", err)
	return found, true
}
