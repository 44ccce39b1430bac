package browser

import (
	"embed"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"ringi/infra/local/process"
	"ringi/shared/runtime/expect"
)

// axe locks the npm package axe-core, which is under the Mozilla Public License 2.0.
//
//go:embed axe/package.json axe/package-lock.json axe/.npmrc
var axe embed.FS

// axeScript installs axe-core, and returns "" where tests do without Node.
func axeScript(t testing.TB) string {
	t.Helper()
	_, dir := process.Try(t, "axe", expect.Value(fs.Sub(axe, "axe"))(t))
	if dir == "" {
		return ""
	}
	return string(expect.Value(os.ReadFile(filepath.Join(dir, "node_modules", "axe-core", "axe.min.js")))(t))
}

// findings asks axe for serious and critical problems: the rule, its text, and at most five elements. It ends
// animations first, because axe would measure the wrong color of an element that still fades in.
const findings = `(async () => {
  for (const a of document.getAnimations()) if (Number.isFinite(a.effect.getComputedTiming().endTime)) a.finish();
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) => ({
    rule: v.id, says: v.help, at: v.nodes.slice(0, 5).map((n) => n.target.join(" ") + ": " + (n.any[0] || n.all[0] || n.none[0] || {}).message), more: Math.max(0, v.nodes.length - 5),
  }));
})()`

type finding struct {
	Rule string   `json:"rule"`
	Says string   `json:"says"`
	At   []string `json:"at"`
	More int      `json:"more"`
}

// Accessible fails the test when axe-core finds a serious or critical problem on the page.
func (p *Tab) Accessible(t testing.TB) {
	t.Helper()
	for _, f := range p.violations(t) {
		t.Errorf("axe: %s: %s, at\n\t%s (and %d more)", f.Rule, f.Says, strings.Join(f.At, "\n\t"), f.More)
	}
}

func (p *Tab) violations(t testing.TB) []finding {
	t.Helper()
	p.loaded()
	there, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool]("!!window.axe"))
	if err == nil && !there {
		script := axeScript(t)
		if script == "" {
			t.Log("axe looks at no page: ", process.ErrNode)
			return nil
		}
		_, err = chromedp.Run(p.ctx, chromedp.Evaluate[chromedp.Void](script+"; undefined"))
	}
	expect.Must(t, err == nil, "browser: load axe-core: %v", err)
	found, err := chromedp.Run(p.ctx, chromedp.Evaluate[[]finding](findings, chromedp.EvalAwaitPromise))
	expect.Must(t, err == nil, "browser: run axe-core: %v", err)
	return found
}
