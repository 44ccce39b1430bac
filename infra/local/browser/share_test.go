package browser

import (
	"testing"

	"github.com/chromedp/chromedp"

	"ringi/shared/runtime/expect"
)

// While Share runs, tests share one Chromium until it dies. A test with host names of its own, and a test outside of
// Share, gets its own Chromium.
func TestTestsShareOneChromium(t *testing.T) {
	var first *Browser
	Share(func() int {
		first = Start(t)
		expect.That(t, Start(t) == first, "a second Chromium was started")
		expect.That(t, Start(t, "elsewhere.example") != first, "names are found elsewhere in everybody's Chromium")
		if err := chromedp.Cancel(first.ctx); err != nil {
			t.Fatal(err)
		}
		if again := Start(t); again == first {
			t.Error("a Chromium that is gone is given out")
		} else {
			again.Open(t, "about:blank", Window{Width: 800, Height: 600})
		}
		first = Start(t)
		return 0
	})
	expect.That(t, first.ctx.Err() != nil, "the common Chromium outlives its tests")
	expect.That(t, Start(t) != first, "a test without Share has the common Chromium")
}
