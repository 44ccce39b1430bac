package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// TestTestsShareOneChromium: while Share runs, until it dies. A test that finds names elsewhere, and one without Share,
// have their own.
func TestTestsShareOneChromium(t *testing.T) {
	var first *Browser
	Share(func() int {
		first = Start(t)
		if Start(t) != first {
			t.Error("a second Chromium was started")
		}
		if Start(t, "elsewhere.example") == first {
			t.Error("names are found elsewhere in everybody's Chromium")
		}
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
	if first.ctx.Err() == nil {
		t.Error("the common Chromium outlives its tests")
	}
	if Start(t) == first {
		t.Error("a test without Share has the common Chromium")
	}
}
