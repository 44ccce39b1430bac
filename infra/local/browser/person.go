package browser

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"ringi/shared/runtime/expect"
)

// spot is where a person would put the pointer: the middle of the first visible
// match, once it has stopped moving, can be pressed and lies under nothing else. What the pointer goes
// down on, and what is clicked, is noted: the page may still move before the finger is there, or under it.
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
  for (const kind of ["pointerdown", "click"]) {
    addEventListener(kind, (e) => { press[kind] = e.composedPath().includes(el) || !!e.target.closest?.(selector); }, { capture: true, signal: press.done.signal });
  }
  for (const kind of ["pointerup", "pointercancel"]) addEventListener(kind, () => { press.up = performance.now(); }, { capture: true, signal: press.done.signal });
  return at;
})()`

// Press clicks with the mouse, or taps on a phone, where a person would; and again, as a person
// would, when the page moved and something else was under the pointer, before the press or during it.
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

// Point lets the mouse's pointer rest on something, and is where that is.
func (p *Tab) Point(selector string) (at [2]float64) {
	p.t.Helper()
	copy(at[:], p.spotOf(selector))
	p.Do(chromedp.MouseEvent(chromedp.MouseMoved, at[0], at[1]))
	p.Until(fmt.Sprintf(`document.querySelector(%q).matches(":hover")`, selector))
	return at
}

// PointAway moves the mouse to a corner in which there is nothing.
func (p *Tab) PointAway() {
	p.t.Helper()
	p.Do(chromedp.MouseEvent(chromedp.MouseMoved, 1, 1))
}

// PressAt clicks with the mouse where it rests, on whatever is there by now, and returns once the page has heard it.
func (p *Tab) PressAt(at [2]float64) {
	p.t.Helper()
	p.Eval(`window.heard = false; addEventListener("click", () => { window.heard = true; }, { once: true })`)
	p.Do(chromedp.MouseClickXY(at[0], at[1]))
	p.Until(`window.heard !== false`) // a page that was left has heard it, too
}

// spotOf waits until something can be pressed, and is where.
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

// landed reports whether the last press was on what it was meant for, from its beginning to its
// end: what is drawn anew during a press is clicked by nobody. A page that was left has taken it.
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

// Chord presses one key with others held down. As on a real keyboard, a key that the
// page takes for itself writes nothing.
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

// misfits lists what a person could not read or reach in a window this wide: what
// sticks out of it or scrolls sideways, buttons and titles whose words are cut, and
// buttons too small for a finger. A table of a message scrolls within its frame, as in Slack; so does
// one of the console, whose frame the keyboard reaches.
const misfits = `((width, phone) => {
  const found = [];
  const name = (el) => el.tagName.toLowerCase() + (el.className ? "." + el.className : "") + " " + JSON.stringify((el.innerText || "").slice(0, 40));
  for (const el of document.querySelectorAll("body *")) {
    if (!el.checkVisibility({ visibilityProperty: true }) || el.closest(".sr, .skip, .stacked thead, .b-table table, .scroll[tabindex] table")) continue;
    const r = el.getBoundingClientRect();
    const style = getComputedStyle(el);
    if (r.width && (r.left < -1 || r.right > width + 1)) found.push("sticks out: " + name(el));
    if (!el.matches(".b-table, .scroll[tabindex]") && /auto|scroll/.test(style.overflowX) && el.scrollWidth > el.clientWidth + 1) found.push("scrolls sideways: " + name(el));
    if (el.matches("button, h1, h2, h3") && el.scrollWidth > el.clientWidth + 1) found.push("is cut: " + name(el));
    if (phone && el.matches("dialog[open]") && r.width < width) found.push("leaves a gap beside it: " + name(el));
    if (phone && el.matches(".btn, [role=menuitem], .icon-btn, .suggestion") && r.height < 32) found.push("is too small for a finger: " + name(el));
  }
  return found;
})(%d, %t)`

// Fits fails the test when something on the page can't be read or reached.
func (p *Tab) Fits() {
	p.t.Helper()
	p.loaded()
	for _, what := range Read[[]string](p, fmt.Sprintf(misfits, p.window.Width, p.window.Phone)) {
		p.t.Errorf("at %d px %s", p.window.Width, what)
	}
}

// Quote is a text as JavaScript writes it.
func Quote(s string) string {
	b, _ := json.Marshal(s) // of a string it cannot fail
	return string(b)
}
