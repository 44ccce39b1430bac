package sandbox_test

import (
	"context"
	"encoding/json"
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

// office returns a world with this many requests. The last three wait for 鈴木, and the others are done.
func office(t *testing.T, requests int) *world {
	t.Helper()
	w := newWorld(t, func(o *sandbox.Options) {
		o.Banner, o.BannerEN, o.Administrator = "デモモデルです", "This is the demo model", webapi.Suzuki
		o.Approvals = everything(webapi.Suzuki)
		o.Run = func(_ context.Context, task string) (any, error) {
			return map[string]any{
				"usage": map[string]any{"calls": 3, "input_tokens": 700, "cached_tokens": 11, "output_tokens": 89,
					"cost_micro_usd": 12000},
				"executions": []any{map[string]any{"name": task + "-1", "status": "SUCCEEDED", "states": []any{
					map[string]any{"name": "DraftPrompt", "entered": "2026-11-20T00:00:02Z", "exited": "2026-11-20T00:00:03Z",
						"input": `{"task":"` + task + `"}`, "output": `{"outcome":"drafted"}`}}}},
				"rows": []any{map[string]any{"key": "USAGE#01J", "type": "usage", "rev": 2,
					"summary": "made PROMPT#0001 · input_tokens 700"}},
			}, nil
		}
		o.Row = func(_ context.Context, task, key string) (any, error) {
			return map[string]any{"SK": key, "sent": map[string]any{"s3_key": "prompts/t/" + task + "/1.json"}}, nil
		}
		o.Object = func(context.Context, string, string) (any, error) {
			return map[string]any{"messages": []any{map[string]any{"role": "user", "content": "今月の勤怠を\nまとめて"}}}, nil
		}
	})
	cardApp(t, w)
	for n := range requests {
		w.request(t, n, n >= requests-3)
	}
	return w
}

// everything says that one person may stamp every task, and Alex for that person.
type everything string

func (e everything) May(_ context.Context, user, _ string) (may bool, instead string, err error) {
	if user == webapi.Alex {
		return true, string(e), nil
	}
	return user == string(e), "", nil
}

func (everything) Asked(context.Context, string) (sandbox.Asked, error) { return asked, nil }

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

func TestAmongFortyRequests(t *testing.T) {
	expect.AtNight(t) // TestInTheBrowser is a sample
	w := office(t, 40)
	b := browser.Start(t)
	p := b.Open(t, w.url, desktop)
	p.Until(`document.querySelectorAll(".log > .msg").length > 40`)

	t.Run("the page opens at its end and follows", func(t *testing.T) { testEndIsFollowed(t, w, p.For(t)) })
	t.Run("what is folded stays folded", func(t *testing.T) { testFoldedStaysFolded(w, p.For(t)) })
	t.Run("what waits for a person is listed", func(t *testing.T) { testWaitsAreListed(t, p.For(t)) })
	t.Run("the run panel keeps the task that was chosen", func(t *testing.T) { testPanelKeepsItsTask(t, w, p.For(t)) })
	t.Run("tabs move by arrow keys", func(t *testing.T) { testTabsByArrowKeys(p.For(t)) })
	t.Run("a copy is named by its request", func(t *testing.T) { testACopyIsNamedByItsRequest(t, w, p.For(t)) })
	t.Run("a stand-in is led to the home tab", func(t *testing.T) { testStandInsList(t, p.For(t)) })
	p.Clean()
}

func testEndIsFollowed(t *testing.T, w *world, p *browser.Tab) {
	p.Until(atEnd + ` && document.querySelector("#composer-main")`)
	last := w.request(t, 40, true)
	p.Until(`document.querySelector('[data-root="` + last + `"] [data-action="approve_prompt"]') && ` + atEnd)
	p.Until(`document.querySelector("#to-end").hidden`)
	// again if news moved it
	p.Until(`(document.querySelector("#scroll").scrollTop = 300, !document.querySelector("#to-end").hidden)`)
	w.request(t, 41, true)
	p.Until(`document.querySelector("#to-end").innerText.includes("新しいメッセージ 1 件") &&
		document.querySelector("#scroll").scrollTop === 300`)
	picture(p, "news")
	p.Press("#to-end")
	p.Until(atEnd + ` && document.querySelector("#to-end").hidden`)
}

func testFoldedStaysFolded(w *world, p *browser.Tab) {
	p.Until(`document.querySelectorAll('[aria-expanded="false"][data-fold]').length >= 30`) // done cards fold themselves
	p.Until(`document.querySelector(".standing")?.innerText === "✅ 実行完了"`)
	p.Press("#fold-all")
	p.Until(`!document.querySelector('[aria-expanded="true"][data-fold]')`)
	p.Press(`.fold:nth-last-child(1 of .fold) button`)
	p.Until(`document.querySelectorAll('[aria-expanded="true"][data-fold]').length === 1`)
	p.Visit(w.url)
	p.Until(`document.querySelectorAll('[aria-expanded="true"][data-fold]').length === 1 &&
		document.querySelectorAll('[aria-expanded="false"][data-fold]').length === 41`)
	p.Until(atEnd)
	picture(p, "folded")
}

func testWaitsAreListed(t *testing.T, p *browser.Tab) {
	p.Until(`document.querySelector("#open-waits .count").innerText === "0"`)
	as(p, webapi.Suzuki)
	p.Until(`document.querySelector("#open-waits .count").innerText === "5"`)
	p.Press("#open-waits")
	p.Until(`document.querySelectorAll(".wait").length === 5`)
	p.Until(`document.querySelector(".wait-facts").innerText.includes("すること: メッセージ ×2") && ` +
		`document.querySelector(".wait-facts time").innerText.startsWith("期限: ")`)
	picture(p, "waits")
	p.Fits()
	p.Accessible(t)
	p.Press(`.wait`) // the oldest message that waits
	p.Until(`document.querySelector(".msg.flash [data-action=approve_prompt]")`)
	p.Press(`.msg.flash [data-action="approve_prompt"]`)
	p.Until(`document.querySelector(".whisper")?.textContent.includes("承認できません")`)
}

func testACopyIsNamedByItsRequest(t *testing.T, w *world, p *browser.Tab) {
	p.Press("#tab-waits")
	from := slack.NewContextBlock("", slack.NewTextBlockObject("mrkdwn",
		"アクメへの発注 · 依頼: <@"+webapi.Sato+"> · <https://example.com/|元のカード>", false, true))
	w.post(t, webapi.HR, slack.MsgOptionAttachments(slack.Attachment{Blocks: slack.Blocks{BlockSet: []slack.Block{from,
		slack.NewHeaderBlock(plain("⚙️ 実行ステップ")), slack.NewActionBlock(taskID(50), button("approve_process", "01P"))}}}))
	p.Until(`/^アクメへの発注 · 依頼: @[^·]+$/.test(document.querySelector(".waits > :last-child .wait-said")?.innerText)`)
}

func testStandInsList(t *testing.T, p *browser.Tab) {
	p.Press("#tab-waits")
	as(p, webapi.Alex) // who is not in the channel
	p.Until(`document.querySelector(".wait strong")?.innerText === "鈴木 一郎さんの代理"`)
	p.Accessible(t)
	picture(p, "instead")
	p.Press(".wait")
	p.Until(`document.querySelector(".home")`)
}

func testPanelKeepsItsTask(t *testing.T, w *world, p *browser.Tab) {
	p.Press("#tab-run")
	p.Until(`document.querySelector(".task-id code")?.innerText === "` + taskID(41) + `"`)
	p.Eval(`(() => { const pick = document.querySelector("#which-task"); pick.value = "` + taskID(3) +
		`"; pick.dispatchEvent(new Event("change", { bubbles: true })); })()`)
	p.Until(`document.querySelector(".task-id code")?.innerText === "` + taskID(3) + `"`)
	talk := "01972f3e-0b6c-8a11-9c2d-3e4f5a6b7c8d" // a conversation with an agent has no run
	w.post(t, webapi.HR, slack.MsgOptionText("会話の回答", false),
		slack.MsgOptionMetadata(slack.SlackMetadata{EventType: "ringi_card", EventPayload: map[string]any{"task": talk}}))
	p.Until(`document.querySelector(".log").innerText.includes("会話の回答")`)
	last := w.request(t, 42, true)
	p.Until(`document.querySelector('[data-root="` + last + `"] [data-action="approve_prompt"]')`)
	p.Until(`document.querySelector("#which-task").value === "` + taskID(3) +
		`" && document.querySelector("#which-task").innerText.includes("依頼 042")`)
	p.Until(`![...document.querySelectorAll("#which-task option")].some((o) => o.value === "` + talk + `")`)
	p.Until(`document.querySelector(".task-id code")?.innerText === "` + taskID(3) +
		`" && document.querySelector(".usage")?.innerText.includes("800 トークン · $0.012")`)
	p.Press(".row summary")
	p.Press(`.row [data-more="whole"]`)
	p.Press(`.row [data-more="object"]`)
	p.Until(`[...document.querySelectorAll("pre.json")].some((x) => x.innerText.includes("今月の勤怠を\nまとめて"))`)
	p.Accessible(t)
	p.Eval(`document.querySelector("#panel-body").scrollTop = 1e6`)
	picture(p, "prompt")
}

func testTabsByArrowKeys(p *browser.Tab) {
	p.Press("#tab-run")
	p.Keys(kb.ArrowRight)
	p.Until(`document.activeElement.id === "tab-waits" && document.activeElement.ariaSelected === "true" &&
		document.querySelector("#panel-body").getAttribute("aria-labelledby") === "tab-waits"`)
	p.Keys(kb.End)
	p.Until(`document.activeElement.id === "tab-deliveries"`)
	p.Press(`.delivery [data-more="payload"]`)
	p.Until(`document.querySelector(".delivery pre.json")?.innerText.includes("api_app_id")`)
	p.Press("#tab-deliveries")
	p.Keys(kb.ArrowRight) // wraps around
	p.Until(`document.activeElement.id === "tab-run" &&
		document.querySelectorAll('[role="tab"][tabindex="0"]').length === 1`)
}

func TestWhatWasTypedIsNotLost(t *testing.T) {
	expect.AtNight(t) // TestInTheBrowser is a sample
	w := office(t, 2)
	b := browser.Start(t)
	p := b.Open(t, w.url, desktop)
	as(p, webapi.Suzuki)

	t.Run("a draft outlives a reload", func(t *testing.T) { testDraftOutlivesReload(w, p.For(t)) })
	t.Run("a modal asks before it closes", func(t *testing.T) { testModalAsksBeforeItCloses(t, p.For(t)) })
	t.Run("the gear leads to the console, and keeps what was typed", func(t *testing.T) { testGear(t, w, p.For(t)) })
	p.Clean()
}

// openModal finds the open form.
const openModal = `document.querySelector("dialog.modal[open]:not(.confirm)")`

func testDraftOutlivesReload(w *world, p *browser.Tab) {
	p.Press("#composer-main")
	p.Keys("あとで送る")
	p.Press(".reply-open")
	p.Until(`document.activeElement.matches(".reply textarea")`)
	p.Keys("返信の下書き")
	p.Visit(w.url)
	p.Until(`document.querySelector("#composer-main")?.value === "あとで送る" &&
		document.querySelector(".reply-open")?.innerText === "下書き 返信の下書き"`)
	as(p, webapi.Tanaka)
	p.Until(`document.querySelector("#composer-main").value === "" &&
		document.querySelector(".reply-open").innerText === "返信する…"`)
	as(p, webapi.Suzuki)
	p.Press(".reply-open")
	p.Until(`document.activeElement.value === "返信の下書き"`)
	p.Keys(kb.Enter)
	p.Until(`[...document.querySelectorAll(".in-thread .text-body")].some((m) => m.innerText === "返信の下書き") &&
		document.activeElement.value === ""`)
}

func testModalAsksBeforeItCloses(t *testing.T, p *browser.Tab) {
	p.Press(`[data-action="reject_prompt"]`)
	p.Until(openModal)
	p.Keys("理由を書きかけ")
	p.Keys(kb.Escape)
	p.Until(`document.querySelector("dialog.confirm[open]")?.innerText.includes("破棄しますか") &&
		document.activeElement.innerText === "入力に戻る"`)
	picture(p, "discard")
	p.Accessible(t)
	p.Keys(kb.Escape) // closes only the question
	p.Until(`!document.querySelector("dialog.confirm") && ` + openModal + `.querySelector("textarea").value === "理由を書きかけ"`)
	p.Press(`dialog:not(.confirm) footer .btn`)
	p.Press(`dialog.confirm .danger`)
	p.Until(`!document.querySelector("dialog")`)
}

func testGear(t *testing.T, w *world, p *browser.Tab) {
	p.Press("#open-settings")
	p.Until(`document.querySelector("#console-settings").innerText === "コンソールの設定を開く" &&
		document.querySelector(".set-note").innerText.includes("鈴木 一郎")`)
	p.Until(`document.querySelector("#console-settings").getAttribute("href") ===
		"/console/language/ja?next=/console/settings"`)
	picture(p, "gear")
	p.Accessible(t)
	p.Type(`dialog.settings input[name="late_seconds"]`, "7")
	p.Keys(kb.Escape) // a field is saved when it loses focus
	p.Until(`!document.querySelector("dialog")`)
	expect.Eventually(t, "events are late", func() bool { return w.Toggles().LateSeconds == 7 })
	expect.NoError(t, w.SetToggles(sandbox.Toggles{}))
}

// view returns a modal's view as an app sends it.
func view(t *testing.T) (spec map[string]any) {
	t.Helper()
	expect.NoError(t, json.Unmarshal(raw(t, modal()), &spec))
	return spec
}

// The page reports that the stack is gone. After a restart it says which data was lost.
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
	p.Until(`document.querySelectorAll(".suggestion").length === 3 && document.querySelector("#gone").hidden &&
		document.querySelector("#anew").hidden`)
	p.Press("#composer-main")
	p.Keys("書きかけ")
	first.Close()
	p.Until(`!document.querySelector("#gone").hidden && document.querySelector("#gone").innerText.includes("接続できません")`)
	picture(p, "gone")
	p.Accessible(t)
	p.Press("#retry") // has no effect: the page retries each second by itself
	serve(expect.Value(net.Listen("tcp", l.Addr().String()))(t))
	p.Until(`document.querySelector("#gone").hidden &&
		/\d\d:\d\d に再起動されました/.test(document.querySelector("#anew").innerText)`)
	p.Until(`document.querySelector("#composer-main").value === "書きかけ"`)
	picture(p, "anew")
	p.Visit("http://" + l.Addr().String())
	p.Until(`document.querySelector("#anew").checkVisibility()`) // shown until it is dismissed
	p.Press("#anew button")
	p.Until(`document.querySelector("#anew").hidden`)
	p.Visit("http://" + l.Addr().String())
	p.Until(`document.querySelectorAll(".suggestion").length === 3 && document.querySelector("#anew").hidden &&
		document.querySelector("#gone").hidden`)
}

// In every language, color scheme and window size, nothing may stick out of the page, and axe must find no serious
// problem.
func TestEveryLookOfTheSandbox(t *testing.T) {
	expect.AtNight(t)
	b := browser.Start(t)
	for _, n := range []int{0, 1, 40} {
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
