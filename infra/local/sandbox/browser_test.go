package sandbox_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
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
