package sandbox_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/slack-go/slack"

	"ringi/infra/local/browser"
	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
)

// cardApp makes the app answer a mention with a card, a rejection with a form, and an approval with a note that only
// the approver sees.
func cardApp(t *testing.T, w *world) {
	confirm := slack.NewConfirmationBlockObject(plain("実行を中止しますか?"), plain("元に戻せません。"), plain("中止する"), plain("キャンセル"))
	cancel := button("cancel_execution", "01E").WithConfirm(confirm).WithStyle(slack.StyleDanger)
	w.app.onEvent = func(_ http.ResponseWriter, _ int, body map[string]any) {
		ts, _ := at(body, "event", "ts").(string)
		_, _, err := w.slack.PostMessage(webapi.HR, slack.MsgOptionTS(ts), slack.MsgOptionText("確認をお願いします", false),
			card("#2196f3", "📝 実行方針 <b>&amp;</b>", button("approve_prompt", "01P"), button("reject_prompt", "01P"), cancel),
			slack.MsgOptionMetadata(slack.SlackMetadata{EventType: "ringi_card",
				EventPayload: map[string]any{"task": "01JSGX7Q3M5V8ZK2R9T4W6Y1AB"}}))
		expect.That(t, err == nil, "app: post card: %v", err)
	}
	w.app.onAction = func(rw http.ResponseWriter, body map[string]any) {
		user, _ := at(body, "user", "id").(string)
		var err error
		switch at(body, "actions", 0, "action_id") {
		case "reject_prompt":
			_, err = w.slack.OpenView(body["trigger_id"].(string), modal())
		case "approve_prompt":
			ts, _ := at(body, "message", "thread_ts").(string)
			_, err = w.slack.PostEphemeral(webapi.HR, user, slack.MsgOptionTS(ts), slack.MsgOptionText("承認できません", false))
		}
		expect.That(t, err == nil, "app: answer: %v", err)
		if body["type"] == "view_submission" && at(body, "view", "state", "values", "rejection_reason_block",
			"rejection_reason_input", "value") == "  " {
			rw.Header().Set("Content-Type", "application/json")
			fmt.Fprint(rw, `{"response_action":"errors","errors":{"rejection_reason_block":"空白だけでは伝わりません"}}`)
		}
	}
}

func TestInTheBrowser(t *testing.T) {
	w := newWorld(t, func(o *sandbox.Options) {
		o.Banner = "デモモデルです"
		o.Links = map[string]string{"https://github.com/local/app/": "http://127.0.0.1:1/github.com/local/app/"}
		o.Run = func(_ context.Context, task string) (any, error) {
			return map[string]any{
				"executions": []any{map[string]any{"name": task + "-1", "status": "RUNNING",
					"waiting": map[string]any{"gate": "PROMPT#0002", "since": "2026-11-20T00:00:02Z"},
					"states":  []any{map[string]any{"name": "AwaitPromptApproval", "entered": "2026-11-20T00:00:02Z"}}}},
				"rows": []any{map[string]any{"key": "HEAD", "rev": 4, "summary": "run 3"}},
				"usage": map[string]any{"calls": 2, "input_tokens": 700, "cached_tokens": 0, "output_tokens": 89,
					"cost_micro_usd": 10000},
			}, nil
		}
	})
	cardApp(t, w)
	p := browser.Open(t, w.url, 1280, 800)
	p.Until(`document.querySelectorAll(".suggestion").length === 3 && document.querySelector("#banner").textContent ` +
		`=== "デモモデルです"`)
	p.Click(".suggestion")
	p.Until(`document.querySelector(".card .b-header")?.textContent === "📝 実行方針 <b>&</b>"`)
	for _, step := range []func(*testing.T, *world, *browser.Tab){mention, form, markup} {
		step(t, w, p)
	}

	p.Click(`.in-thread [data-focus="more"]`)
	p.Until(`document.querySelector('[role="menuitem"][data-id="propose_action"]').textContent === "操作を提案Ringi"`)
	p.Click(`[role="menuitem"][data-id="cancel_task"]`)
	expect.Eventually(t, "the shortcut", func() bool { return w.app.count("message_action") == 1 })

	p.Until(`document.querySelector(".now strong")?.textContent === "実行方針の承認を待つ" && ` +
		`!document.querySelector(".step")?.checkVisibility()`)
	p.Click(".now") // states and rows are folded behind what happens now
	p.Until(`document.querySelector(".step.waiting strong").checkVisibility() && ` +
		`document.querySelector(".row code").textContent === "HEAD"`)
	p.Until(`document.querySelector(".usage").textContent === "AI モデル: 2 回 · 789 トークン · $0.01" && ` +
		`document.querySelector(".task-id code").textContent === "01JSGX7Q3M5V8ZK2R9T4W6Y1AB"`)
	p.Click(`[lang="en"]`)
	p.Until(`document.querySelector("#skip").textContent === "Skip to the message box" && ` +
		`document.documentElement.lang === "en"`)
	p.Until(`document.querySelector(".now strong").textContent === "waits for policy approval"`)

	for _, width := range []int64{390, 320} {
		p.Do(chromedp.EmulateViewport(width, 844))
		p.Until(fmt.Sprintf(`innerWidth === %d && document.documentElement.scrollWidth <= innerWidth && `+
			`document.querySelector("#log").scrollWidth <= innerWidth`, width))
	}
	p.Click(".menu-btn")
	p.Until(`document.querySelector("#sidebar").contains(document.activeElement) && ` +
		`getComputedStyle(document.querySelector("#sidebar")).visibility === "visible"`)
	p.Keys(kb.Escape)
	p.Until(`!document.querySelector(".drawer-open")`)
	p.Until(`failures.length === 0`)
}

// The Home entry must open the tab of the current person, not that of an earlier one.
func TestHomeIsOfWhoeverLooks(t *testing.T) {
	w := newWorld(t)
	p := browser.Open(t, w.url, 1280, 800)
	p.Until(`document.querySelector('[data-focus="home-tab"]')`)
	as(p, webapi.Tanaka)
	p.Click(`[data-focus="home-tab"]`)
	p.Until(`document.querySelector('[data-focus="home-tab"]').classList.contains("here") && failures.length === 0`)
	expect.Eventually(t, "the app hears whose Home is open", func() bool {
		seen := w.app.events()
		return len(seen) > 0 && at(seen[len(seen)-1].body, "event", "user") == webapi.Tanaka
	})
}

// mention addresses the app by the button for that.
func mention(t *testing.T, w *world, p *browser.Tab) {
	p.Press("#composer .at")
	p.Keys("従業員一覧を取得して")
	p.Keys(kb.Enter)
	p.Until(`document.querySelectorAll(".card").length === 2`)
	all := w.Messages(webapi.HR, "")
	got := all[len(all)-1].Text
	expect.That(t, strings.HasPrefix(got, "<@"+webapi.Bot+"> ") && strings.HasSuffix(got, "従業員一覧を取得して"), "sent %q", got)
}

// form closes with Escape and is not sent without a reason. The app's errors appear next to the field.
func form(t *testing.T, w *world, p *browser.Tab) {
	p.Click(`[data-action="reject_prompt"]`)
	p.Until(`document.querySelector("dialog.modal[open]")`)
	p.Keys(kb.Escape)
	p.Until(`!document.querySelector("dialog.modal")`)
	p.Click(`[data-action="reject_prompt"]`)
	p.Click(`dialog button[type="submit"]`)
	p.Until(`document.querySelector("dialog .error:not([hidden])")`)
	expect.Is(t, w.app.count("view_submission"), 0, "an empty form was sent")
	p.Eval(`document.querySelector("dialog textarea").value = "  "`)
	p.Click(`dialog button[type="submit"]`)
	p.Until(`document.querySelector("dialog .error").textContent.includes("空白だけでは伝わりません")`)
	p.Eval(`document.querySelector("dialog textarea").value = "検証を追加して"`)
	p.Click(`dialog button[type="submit"]`)
	p.Until(`!document.querySelector("dialog.modal")`)
}

// markup in an app's texts must not become HTML of the page.
func markup(t *testing.T, w *world, p *browser.Tab) {
	hostile := "*bold* `<b>` <javascript:alert(1)|press> <img src=x onerror=failures.push(1)> " +
		"<https://example.com/?a=1&amp;b=2|link> &lt;script&gt; <!date^1795132800^{date_num}|then>"
	w.post(t, webapi.HR, slack.MsgOptionText(hostile, false))
	p.Until(`document.querySelector('.text-body a[href="https://example.com/?a=1&b=2"]')?.textContent === "link" && ` +
		`document.querySelector(".text-body strong")?.textContent === "bold"`)
	w.post(t, webapi.HR, slack.MsgOptionText("<https://github.com/local/app/pull/1|local/app#1> "+
		"<https://github.com/local/apple/pull/1|other> <!subteam^"+webapi.Approvers+">", false))
	p.Until(`[...document.querySelectorAll(".mention")].at(-1).textContent === "@hr-approvers"`)
	p.Until(`[...document.querySelectorAll(".text-body a, .text a")].slice(-2).map((a) => a.href).join() === ` +
		`"http://127.0.0.1:1/github.com/local/app/pull/1,https://github.com/local/apple/pull/1"`)
	p.Until(`!document.querySelector('.log a[href^="javascript"], .log script, .log img[src="x"]') && ` +
		`document.querySelector(".log time[title=then]").textContent.startsWith("2026-11-")`)
}

// count returns how many interactions of a kind the app received.
func (a *app) count(kind string) int {
	n := 0
	for _, r := range a.actions() {
		if r.body["type"] == kind {
			n++
		}
	}
	return n
}

func TestALinkLeadsToAMessage(t *testing.T) {
	w := newWorld(t)
	root := w.post(t, webapi.General, slack.MsgOptionText("request", false))
	reply := w.post(t, webapi.General, slack.MsgOptionTS(root), slack.MsgOptionText("reply", false))
	p := browser.Open(t, w.url+"/archives/"+webapi.General+"/p"+strings.ReplaceAll(reply, ".", ""), 1280, 800)
	p.Until(fmt.Sprintf(`document.querySelector('.msg.flash[data-ts="%s"]') && location.pathname === "/"`, reply))
}

// A message is posted after the page's state was read, but before the page receives that state.
func TestWhatIsSaidWhileThePageLoadsIsShown(t *testing.T) {
	w := newWorld(t)
	written, sent, once := make(chan struct{}), make(chan struct{}), sync.Once{}
	slow := "/sandbox/state?user=" + webapi.Tanaka
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.RequestURI() != slow {
			w.Handler().ServeHTTP(out, r)
			return
		}
		answer := httptest.NewRecorder()
		w.Handler().ServeHTTP(answer, r)
		once.Do(func() { close(written) })
		select {
		case <-sent:
		case <-t.Context().Done():
		}
		_, _ = out.Write(answer.Body.Bytes())
	}))
	t.Cleanup(server.Close)
	p := browser.Open(t, server.URL, 1200, 800)
	p.Until(`document.querySelector("#composer-main")`)
	p.Eval(`window.heard = 0; new EventSource("/sandbox/stream").onmessage = () => heard++`)
	p.Press(`[data-person="` + webapi.Tanaka + `"]`)
	select {
	case <-written:
	case <-time.After(time.Minute):
		t.Fatal("the page asks for nothing")
	}
	expect.Value(w.Say(webapi.Sato, webapi.HR, "間に合いますか"))(t)
	p.Until(`heard > 0`)
	close(sent)
	p.Until(fmt.Sprintf(`document.querySelector(".person.here")?.dataset.person === %q`, webapi.Tanaka))
	p.Until(`document.querySelector("#log").innerText.includes("間に合いますか") && failures.length === 0`)
}

// A page whose first load failed must load again: its stream works, but does not repeat earlier changes.
func TestAPageThatCouldNotLoadLoadsAgain(t *testing.T) {
	w := newWorld(t)
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/sandbox/state" && asked.Add(1) == 1 {
			http.Error(out, "not now", http.StatusServiceUnavailable)
			return
		}
		w.Handler().ServeHTTP(out, r)
	}))
	t.Cleanup(server.Close)
	p := browser.Open(t, server.URL, 1200, 800)
	p.Until(`document.querySelector("#composer-main") && !document.querySelector("#retry") && failures.length === 0`)
	expect.Is(t, asked.Load(), 2, "the page was asked for")
}

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
