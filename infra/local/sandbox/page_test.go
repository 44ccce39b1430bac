package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/slack-go/slack"

	"ringi/infra/local/browser"
	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
)

// send calls the page's own API and decodes the answer.
func (w *world) send(t *testing.T, method, path, kind, body string) (int, map[string]any) {
	t.Helper()
	req := expect.Value(http.NewRequestWithContext(context.Background(), method, w.url+"/sandbox/"+path,
		strings.NewReader(body)))(t)
	req.Header.Set("Content-Type", kind)
	resp := expect.Value(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	text := expect.Value(io.ReadAll(resp.Body))(t)
	var out map[string]any
	// Some errors are plain text, of which only the status is compared.
	_ = json.Unmarshal(text, &out)
	return resp.StatusCode, out
}

func TestPageSays(t *testing.T) {
	w := newWorld(t)
	says := func(user, text string) string {
		return string(raw(t, map[string]any{"user": user, "channel": webapi.HR, "text": text}))
	}
	for name, tt := range map[string]struct {
		kind, body string
		status     int
	}{
		"a form of another site": {"text/plain", says(webapi.Sato, "x"), 415},
		"nothing":                {"application/json", says(webapi.Sato, "  "), 422},
		"too much":               {"application/json", says(webapi.Sato, strings.Repeat("あ", 12001)), 422},
		"outside of the channel": {"application/json", says(webapi.Stranger, "x"), 409},
		"nonsense":               {"application/json", `[`, 400},
	} {
		status, answer := w.send(t, http.MethodPost, "say", tt.kind, tt.body)
		expect.That(t, status == tt.status && len(w.Messages(webapi.HR, "")) == 0, "%s: %d %v", name, status, answer)
	}
	// What a person types reaches the app as Slack's clients send it, by messages that users of public clients recorded.
	for typed, text := range map[string]string{
		" @Ringi a<b & @鈴木 一郎 ": "<@" + webapi.Bot + "> a&lt;b &amp; <@" + webapi.Suzuki + ">",
		"sato@example.com に(h@h.pl)": "<mailto:sato@example.com|sato@example.com> " +
			"に(<mailto:h@h.pl|h@h.pl>)",
		"x@sato.example.com":    "<mailto:x@sato.example.com|x@sato.example.com>",
		"*対象*:\n- 営業 🙏\n> `人事`": "*対象*:\n- 営業 🙏\n&gt; `人事`",
		"https://e.example/a_b_c?x=1&y=2。 and https://e.example/.": "<https://e.example/a_b_c?x=1&amp;y=2>。 and " +
			"<https://e.example/>.",
		"@佐藤 花子さん @sato #人事 @satonaka": "<@" + webapi.Sato + ">さん <@" + webapi.Sato + "> <#" + webapi.HR +
			"|人事> @satonaka",
	} {
		status, answer := w.send(t, http.MethodPost, "say", "application/json", says(webapi.Sato, typed))
		expect.Must(t, status == http.StatusOK, "status %d: %v", status, answer)
		all := w.Messages(webapi.HR, "")
		expect.Is(t, all[len(all)-1].Text, text)
	}
}

// speaks tells the sandbox a page's language.
func (w *world) speaks(t *testing.T, user, language string) {
	t.Helper()
	status, answer := w.send(t, http.MethodPut, "language", "application/json",
		`{"user":"`+user+`","language":"`+language+`"}`)
	expect.Must(t, status == 200, "%d %v", status, answer)
}

// What the app or a person shared can be saved. It is never shown as a page of the sandbox's.
func TestSharedFilesCanBeSaved(t *testing.T) {
	w := newWorld(t)
	ts := expect.Value(w.Attach(webapi.Sato, webapi.HR, "", "x",
		webapi.File{Name: "表 1.html", Body: []byte("<script>")}))(t)
	m := expect.Value(w.Workspace.Message(webapi.HR, ts, ""))(t)
	res := expect.Value(http.Get(w.url + "/sandbox/files/" + m.Files[0].ID))(t)
	defer res.Body.Close()
	expect.Is(t, string(expect.Value(io.ReadAll(res.Body))(t)), "<script>")
	expect.Is(t, res.Header.Get("Content-Type"), "application/octet-stream")
	expect.Is(t, res.Header.Get("Content-Disposition"), "attachment; filename*=utf-8''%E8%A1%A8%201.html")
	none := expect.Value(http.Get(w.url + "/sandbox/files/F0NONE"))(t)
	none.Body.Close()
	expect.Is(t, none.StatusCode, http.StatusNotFound)
}

// Apps get names, and everybody's language, as somebody looks at the page now, whatever the first page was in; unless a
// language was chosen at the start.
func TestNamesFollowWhoLooks(t *testing.T) {
	var spoken []string
	w := newWorld(t, func(o *sandbox.Options) {
		o.Company, o.Speak = true, func(language string) { spoken = append(spoken, language) }
	})
	named := func() string {
		names := expect.Value(w.slack.GetUserInfo(webapi.Sato))(t).RealName
		for _, u := range expect.Value(w.slack.GetUsers())(t) {
			names += u.RealName + u.Profile.Title
		}
		for _, g := range expect.Value(w.slack.GetUserGroups())(t) {
			names += g.Name
		}
		channels, _, err := w.slack.GetConversationsForUser(&slack.GetConversationsForUserParameters{UserID: webapi.Sato})
		expect.NoError(t, err)
		for _, c := range channels {
			names += c.Name + c.Purpose.Value
		}
		return names
	}
	w.speaks(t, webapi.Sato, "ja")
	expect.Has(t, named(), "佐藤 花子")
	w.speaks(t, webapi.Sato, "en")
	expect.Is(t, expect.Value(w.slack.GetUserInfo(webapi.Suzuki))(t).Locale, "en-US")
	expect.That(t, !expect.Japanese(named()), "not in Latin letters: %s", named())
	expect.Same(t, []string{"ja", "en"}, spoken)
	w = newWorld(t, func(o *sandbox.Options) { o.Language = "ja" })
	w.speaks(t, webapi.Sato, "en")
	expect.Is(t, expect.Value(w.slack.GetUserInfo(webapi.Suzuki))(t).Locale, "ja-JP", "the language that was chosen")
}

// What people do with cards and forms is lived in journeys/page. Here is what they don't meet there.
func TestInTheBrowser(t *testing.T) {
	w := newWorld(t, func(o *sandbox.Options) {
		o.Links = map[string]string{"https://github.com/local/app/": "http://127.0.0.1:1/github.com/local/app/"}
	})
	root := w.post(t, webapi.General, slack.MsgOptionText("request", false))
	reply := w.post(t, webapi.General, slack.MsgOptionTS(root), slack.MsgOptionText("reply", false))
	p := browser.Open(t, w.url+"/archives/"+webapi.General+"/p"+strings.ReplaceAll(reply, ".", ""), 1280, 800)
	p.Until(fmt.Sprintf(`document.querySelector('.msg.flash[data-ts="%s"]') && location.pathname === "/"`, reply))
	as(p, webapi.Tanaka)
	p.Click(`[data-focus="home-tab"]`)
	p.Until(`document.querySelector('[data-focus="home-tab"]').classList.contains("here") && failures.length === 0`)
	expect.Eventually(t, "the app hears whose Home is open", func() bool {
		seen := w.app.events()
		return len(seen) > 0 && at(seen[len(seen)-1].body, "event", "user") == webapi.Tanaka
	})
	p.Click(`[data-focus="` + webapi.HR + `"]`)
	p.Press("#composer .at") // addresses the app
	p.Keys("従業員一覧を取得して")
	p.Keys(kb.Enter)
	expect.Eventually(t, "it is sent", func() bool {
		all := w.Messages(webapi.HR, "")
		return len(all) == 1 && all[0].Text == sandbox.Mention("従業員一覧を取得して")
	})
	markup(t, w, p)
	for _, width := range []int64{390, 320} {
		p.Do(chromedp.EmulateViewport(width, 844))
		p.Until(fmt.Sprintf(`innerWidth === %d && document.documentElement.scrollWidth <= innerWidth && `+
			`document.querySelector("#log").scrollWidth <= innerWidth`, width))
	}
	p.Until(`failures.length === 0`)
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

// taskID returns the id of the n-th task.
func taskID(n int) string { return fmt.Sprintf("01JSGX7Q3M5V8ZK2R9T4W6Y%03d", n) }

// office returns a world with this many requests. The last three wait for a stamp, and the others are done.
func office(t *testing.T, requests int) *world {
	t.Helper()
	w := newWorld(t, func(o *sandbox.Options) {
		o.Banner, o.BannerEN = "デモモデルです", "This is the demo model"
	})
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

var desktop = browser.Window{Width: 1200, Height: 800}

const atEnd = `(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight < 2)(
	document.querySelector("#scroll"))`

// as switches the page to another person.
func as(p *browser.Tab, user string) {
	p.Press(`[data-person="` + user + `"]`)
	p.Until(`document.querySelector(".person.here")?.dataset.person === "` + user + `"`)
}

func TestThePageFollowsItsEndAndLosesNothingThatWasTyped(t *testing.T) {
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
	p.Press("#composer-main")
	p.Keys("あとで送る")
	for _, x := range [][2]string{{webapi.Tanaka, ""}, {webapi.Sato, "あとで送る"}} {
		as(p, x[0])
		p.Until(`document.querySelector("#composer-main").value === "` + x[1] + `"`)
	}
	p.Clean()
}

// In every language, color scheme and window size, nothing may stick out of the page, and axe must find no serious
// problem.
func TestEveryLookOfTheSandbox(t *testing.T) {
	expect.AtNight(t)
	b := browser.Start(t)
	for _, n := range []int{0, 40} {
		w := office(t, n)
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
				p.Fits()
				p.Accessible(t)
				p.Clean()
			})
		}
	}
}
