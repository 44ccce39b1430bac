package browser

import (
	"fmt"
	"os"
	"path/filepath"
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

// A Chromium that crashes while it starts is started again, once.
func TestACrashAtTheStartIsNotTheEnd(t *testing.T) {
	path, dir := installed(t), t.TempDir()
	crashes := func(times int) string {
		script := filepath.Join(dir, fmt.Sprint("chromium", times))
		text := fmt.Sprintf("#!/bin/sh\nn=$(cat %[1]s.n 2>/dev/null || echo 0)\necho $((n + 1)) > %[1]s.n\n"+
			"[ $n -lt %[2]d ] && kill -SEGV $$\nexec %[3]s \"$@\"\n", script, times, path)
		expect.NoError(t, os.WriteFile(script, []byte(text), 0o755))
		return script
	}
	_, end, err := launch(crashes(1), nil)
	expect.Must(t, err == nil, "after one crash: %v", err)
	end()
	_, _, err = launch(crashes(2), nil)
	expect.That(t, err != nil, "two crashes are no error")
}
