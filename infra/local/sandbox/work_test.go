package sandbox_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/slack-go/slack"

	"ringi/infra/local/browser"
	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
)

// taskID returns the id of the n-th task.
func taskID(n int) string { return fmt.Sprintf("01JSGX7Q3M5V8ZK2R9T4W6Y%03d", n) }

// office returns a world with this many requests. The last three wait for a stamp, and the others are done.
func office(t *testing.T, requests int) *world {
	t.Helper()
	w := newWorld(t, func(o *sandbox.Options) {
		o.Banner, o.BannerEN, o.Console = "デモモデルです", "This is the demo model", true
		o.Run = func(_ context.Context, task string) (any, error) {
			return map[string]any{
				"usage": map[string]any{"calls": 3, "input_tokens": 700, "cached_tokens": 11, "output_tokens": 89,
					"cost_micro_usd": 12000},
				"executions": []any{map[string]any{"name": task + "-1", "status": "SUCCEEDED", "states": []any{
					map[string]any{"name": "DraftPrompt", "entered": "2026-11-20T00:00:02Z", "exited": "2026-11-20T00:00:03Z"}}}},
				"rows": []any{map[string]any{"key": "USAGE#01J", "rev": 2, "summary": "made PROMPT#0001 · input_tokens 700"}},
			}, nil
		}
	})
	cardApp(t, w)
	for n := range requests {
		w.request(t, n, n >= requests-3)
	}
	return w
}

// request posts a request and a card, which either is done or waits for a stamp.
func (w *world) request(t *testing.T, n int, waits bool) (root string) {
	t.Helper()
	root = expect.Value(w.Say(webapi.Sato, webapi.HR, fmt.Sprintf("依頼 %03d: 部署別の残業時間をまとめてください %s", n,
		strings.Repeat("x", 3*n))))(t)
	about := slack.MsgOptionMetadata(slack.SlackMetadata{EventType: "ringi_card",
		EventPayload: map[string]any{"task": taskID(n)}})
	show := func(title string, more ...slack.Block) {
		blocks := append([]slack.Block{slack.NewHeaderBlock(plain(title)),
			slack.NewSectionBlock(slack.NewTextBlockObject("mrkdwn", strings.Repeat("・勤怠を取得し、部署別に集計します。\n", 8), false, false),
				nil, nil)}, more...)
		w.post(t, webapi.HR, slack.MsgOptionTS(root), about, slack.MsgOptionAttachments(slack.Attachment{Color: "#2196f3",
			Blocks: slack.Blocks{BlockSet: blocks}}))
	}
	if waits {
		show("📝 実行方針", slack.NewActionBlock(taskID(n), button("approve_prompt", "01P"), button("reject_prompt", "01P")))
		return root
	}
	show("📝 実行方針 (承認済み)")
	show("✅ 実行完了")
	return root
}

// picture saves a screenshot if RINGI_SCREENSHOTS names a folder.
func picture(p *browser.Tab, name string) {
	if folder := os.Getenv("RINGI_SCREENSHOTS"); folder != "" {
		p.Screenshot(filepath.Join(folder, "sandbox-"+name+".png"))
	}
}

var desktop = browser.Window{Width: 1200, Height: 800}

const atEnd = `(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight < 2)(
	document.querySelector("#scroll"))`

// as switches the page to another person.
func as(p *browser.Tab, user string) {
	p.Press(`[data-person="` + user + `"]`)
	p.Until(`document.querySelector(".person.here")?.dataset.person === "` + user + `"`)
}

func TestThePageFollowsItsEnd(t *testing.T) {
	expect.AtNight(t) // TestInTheBrowser is a sample
	w := office(t, 40)
	p := browser.Start(t).Open(t, w.url, desktop)
	p.Until(`document.querySelectorAll(".log > .msg").length > 40`)
	p.Until(atEnd + ` && document.querySelector("#composer-main")`)
	last := w.request(t, 40, true)
	p.Until(`document.querySelector('[data-root="` + last + `"] [data-action="approve_prompt"]') && ` + atEnd)
	p.Until(`((s) => { const kept = s.scrollTop === 300; s.scrollTop = 300; return kept; })(
		document.querySelector("#scroll"))`)
	w.request(t, 41, true)
	p.Until(`document.querySelector("#log").innerText.includes("依頼 041") &&
		document.querySelector("#scroll").scrollTop === 300`)
	picture(p, "news")
	p.Clean()
}

func TestWhatWasTypedIsNotLost(t *testing.T) {
	expect.AtNight(t) // TestInTheBrowser is a sample
	w := office(t, 2)
	p := browser.Start(t).Open(t, w.url, desktop)
	as(p, webapi.Suzuki)
	p.Press("#composer-main")
	p.Keys("あとで送る")
	as(p, webapi.Tanaka)
	p.Until(`document.querySelector("#composer-main").value === ""`)
	as(p, webapi.Suzuki)
	p.Until(`document.querySelector("#composer-main").value === "あとで送る"`)
	p.Press(".reply-open")
	p.Until(`document.activeElement.matches(".reply textarea")`)
	p.Keys("返信")
	p.Keys(kb.Enter)
	p.Until(`[...document.querySelectorAll(".in-thread .text-body")].some((m) => m.innerText === "返信") &&
		document.activeElement.value === ""`)
	p.Press("#open-faults")
	p.Accessible(t)
	p.Press(`dialog.faults .switch:has([name="twice"])`)
	expect.Eventually(t, "events come twice", func() bool { return w.Toggles().Twice })
	p.Keys(kb.Escape)
	p.Until(`!document.querySelector("dialog") && document.querySelector(".pill")`)
	w.SetToggles(sandbox.Toggles{})
	p.Until(`!document.querySelector(".pill")`)
	p.Clean()
}

// The page reports that the stack is gone, and connects again after a restart.
func TestAStackThatIsGone(t *testing.T) {
	expect.AtNight(t) // TestInTheBrowser is a sample
	l := expect.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	serve := func(l net.Listener) *http.Server {
		s := sandbox.New(sandbox.Options{SigningSecret: secret, BotToken: botToken})
		t.Cleanup(s.Close)
		server := &http.Server{Handler: s.Handler()}
		go server.Serve(l) // ends when the server is closed
		t.Cleanup(func() { server.Close() })
		return server
	}
	first := serve(l)
	p := browser.Open(t, "http://"+l.Addr().String(), 1200, 800)
	p.Until(`document.querySelectorAll(".suggestion").length === 3 && document.querySelector("#gone").hidden`)
	p.Press("#composer-main")
	p.Keys("書きかけ")
	first.Close()
	p.Until(`!document.querySelector("#gone").hidden && document.querySelector("#gone").innerText.includes("接続できません")`)
	picture(p, "gone")
	p.Accessible(t)
	serve(expect.Value(net.Listen("tcp", l.Addr().String()))(t))
	p.Until(`document.querySelector("#gone").hidden && document.querySelector("#composer-main").value === "書きかけ"`)
}

// In every language, color scheme and window size, nothing may stick out of the page, and axe must find no serious
// problem.
func TestEveryLookOfTheSandbox(t *testing.T) {
	expect.AtNight(t)
	b := browser.Start(t)
	for _, n := range []int{0, 40} {
		w := office(t, n)
		w.app.onEvent = nil // the app does not answer when the direct messages are opened
		for look, window := range map[string]browser.Window{
			"ja": desktop, "en-dark": {Width: 1200, Height: 800, Language: "en", Dark: true},
			"ja-dark-phone": {Width: 390, Height: 844, Phone: true, Dark: true}, "en-phone": {Width: 390, Height: 844,
				Phone: true, Language: "en-GB"},
		} {
			t.Run(fmt.Sprintf("%d %s", n, look), func(t *testing.T) {
				p := b.Open(t, w.url, window)
				p.Until(fmt.Sprintf(`document.querySelectorAll(".log > .msg:not(.in-thread)").length === %d &&
					document.documentElement.lang === %q && document.querySelector("#composer-main")`, n, look[:2]))
				p.Until(atEnd)
				p.Until(`document.getAnimations().every((a) =>
					a.effect.getComputedTiming().iterations === Infinity || a.playState !== "running")`)
				name := fmt.Sprintf("%d-%s", n, look)
				picture(p, name)
				p.Fits()
				p.Accessible(t)
				if window.Phone {
					top := browser.Read[float64](p, `document.querySelector("#scroll").getBoundingClientRect().top / innerHeight`)
					expect.That(t, top <= 0.2, "messages begin at %.2f of the screen", top)
					p.Press(".menu-btn")
				}
				p.Press(`[data-focus="` + webapi.DirectMessage(webapi.Sato) + `"]`)
				p.Until(`document.querySelectorAll(".suggestion").length === 3 && !document.querySelector(".drawer-open") &&
					!document.getAnimations().length`)
				picture(p, name+"-dm")
				p.Fits()
				p.Accessible(t)
				p.Clean()
			})
		}
	}
}
