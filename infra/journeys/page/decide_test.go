package page

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/browser"
	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// filled returns the form of an act from the task's page.
func filled(t *testing.T, d *driver.Request, act aggregate.Act, reason string) url.Values {
	t.Helper()
	all := d.Load().Offers()
	i := slices.IndexFunc(all, func(x aggregate.Offer) bool { return x.Act == act })
	if i < 0 {
		t.Fatalf("%s is not offered\n%s", act, d.Summary())
	}
	x := all[i]
	return url.Values{"act": {string(x.Act)}, "id": {x.ID}, "kind": {string(x.Kind)}, "hash": {x.Hash}, "reason": {reason}}
}

func send(at driver.Desk, d *driver.Request, form url.Values) (status int) {
	at.T.Helper()
	status, _ = at.Post("/console/tasks/"+d.Ref.ID+"/act", form)
	return status
}

// copyOf waits until a person's direct messages have a card of a row with this text.
func copyOf(t *testing.T, user, row, says string) {
	t.Helper()
	expect.Eventually(t, "the copy of "+user+" says "+says, func() bool {
		return slices.ContainsFunc(running.Sandbox.Messages(webapi.DirectMessage(user), ""), func(m webapi.Message) bool {
			all := string(expect.Value(json.Marshal(m))(t))
			return strings.Contains(all, row) && strings.Contains(all, says)
		})
	})
}

// TestTwoPeopleInTwoPlacesMakeOneDecision: the second person learns who was first, and the card and all copies show the
// same.
func TestTwoPeopleInTwoPlacesMakeOneDecision(t *testing.T) {
	driver.Leave(t, running)
	approvers := []string{webapi.Suzuki, webapi.Tanaka}
	driver.Ask(t, running, webapi.Sato, "従業員一覧を取得して").Card(driver.PromptCard,
		"approve_prompt") // by which the workspace is known
	driver.Settings(t, running, func(x *tenancy.Settings) {
		x.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: approvers, Usergroups: []string{}}
	})
	d := driver.Ask(t, running, webapi.Sato, "従業員一覧を取得して")
	card := d.Card(driver.PromptCard, "approve_prompt")
	for _, user := range approvers {
		copyOf(t, user, d.Load().Prompt().ID, "approve_prompt")
	}
	p, reject := driver.SitDown(t, running, webapi.Suzuki), filled(t, d, aggregate.ActReject, "コンソールから")
	status := 0
	var both sync.WaitGroup
	both.Go(func() { status = send(p, d, reject) })
	both.Go(func() { _ = running.Sandbox.Click(webapi.Tanaka, d.Channel, card.TS, "approve_prompt") })
	both.Wait()
	a := d.Until("it is decided",
		func(a *task.Aggregate) bool { return a.Prompts[0].Status != aggregate.PendingApproval })
	n := 0
	for _, e := range d.AuditRows() {
		if e.Action == task.AuditPromptApproved || e.ResourceID == reject.Get("id") && e.Action == task.AuditPromptRejected {
			n++
		}
	}
	first := a.Prompts[0]
	expect.That(t, n == 1 && (status == http.StatusSeeOther) == (first.Status == aggregate.Rejected),
		"%d decisions; the console was told %d, and the policy is %s", n, status, first.Status)
	shows, line := "✅ 承認:", "承認済み"
	if first.Status == aggregate.Rejected {
		shows, line = "コンソールから", "却下"
	}
	d.Card(driver.PromptCard, shows)
	for _, user := range approvers {
		copyOf(t, user, d.Ref.ID, line)
	}
	if status := send(p, d, filled(t, d, task.ActCancelTask, "")); status != http.StatusSeeOther &&
		status != http.StatusConflict {
		t.Errorf("a cancellation is answered %d", status)
	}
}

// TestAPersonDecidesOnThePageOfATask: with the keyboard and without, in both languages, and the page refreshes itself.
func TestAPersonDecidesOnThePageOfATask(t *testing.T) {
	t.Parallel()
	d := driver.Ask(t, running, webapi.Sato, "今月の勤怠をまとめて")
	d.Card(driver.PromptCard, "approve_prompt")
	b := browser.Start(t)
	path := "/console/tasks/" + d.Ref.ID
	tab := signIn(t, b, desk, webapi.Suzuki, path)
	form := `form:has([name="act"][value="reject"])`
	reason := form + ` textarea[name="reason"]`
	tab.Until(fmt.Sprintf(`document.querySelector(%q)`, reason))
	looks(t, tab, "story-waiting")
	tab.Click(`.ways details:has([name="act"][value="reject"]) summary`)
	tab.Eval(fmt.Sprintf(`document.querySelector(%q).value = "部署ごとに分けてください"`, reason))
	tab.Click(form + ` [value="reject"]`)
	tab.Until(`document.querySelector(".notice")`)
	d.Card(driver.PromptCard, "部署ごとに分けてください")
	reads(tab, "true") // which came without reloading
	tab.Until(`document.querySelector("#asked .diff")`)
	tab.Until(`[...document.querySelectorAll(".acts button")].some((b) => b.textContent.includes("承認"))`)
	tab.Click(`form:has(input[name="act"][value="approve"]) button`)
	reads(tab, `document.querySelector("#plan-1")`)
	tab.Until(`document.querySelector(".gate .does") && ` +
		`document.querySelector('form input[name="kind"][value="process"]')`)
	looks(t, tab, "story-steps")
	tab.Click(`form:has(input[name="act"][value="approve"]) button`)
	d.Card(driver.ExecutionCard, "実行完了")
	tab.Until(`document.querySelector("#run-1-1 .run li") && !document.querySelector("[data-live]")`)
	tab.Eval(`document.querySelectorAll("details").forEach((d) => d.open = true)`)
	looks(t, tab, "story-done")
	tab.Visit(running.URL + path)
	tab.Click(`#entries summary`)
	tab.Until(`document.querySelector('a[href$="/sent"][download]')`)
	withdraws(t, b)
}

// reads waits until the page offers the next decision, and opens it; the page must not show it by itself.
func reads(tab *browser.Tab, js string) {
	tab.Until(js + ` && document.querySelector(".since").innerText.includes("承認待ち") && ` +
		`!document.querySelector('input[value="approve"]')`)
	tab.Click(".since a")
	tab.Until(`document.querySelector('input[value="approve"]')`)
}

// withdraws cancels a request on its page, on a phone in English, after confirming.
func withdraws(t *testing.T, b *browser.Browser) {
	t.Helper()
	d := driver.Ask(t, running, webapi.Sato, "従業員一覧を取得して")
	d.Card(driver.PromptCard, "approve_prompt")
	tab := signIn(t, b, phone, webapi.Sato, "/console/tasks/"+d.Ref.ID)
	tab.Click("#others summary")
	if question := tab.Agree(`form:has(input[name="act"][value="` + string(task.ActCancelTask) +
		`"]) button`); !strings.Contains(question, "?") {
		t.Errorf("it asks %q", question)
	}
	tab.Until(`document.querySelector(".notice:not([hidden])") && !document.querySelector(".acts button")`)
	looks(t, tab, "story-cancelled")
	d.Until("it is cancelled", func(a *task.Aggregate) bool { return a.Task.Status == task.TaskCancelled })
	d.Card(driver.PromptCard, "キャンセル")
}

// talk makes a conversation in #人事 in which the demo agent proposes to write files after this many messages.
func talk(t *testing.T, messages int) aggregate.Ref {
	t.Helper()
	all := store.ConversationsOf(store.New(dynamodb.NewFromConfig(running.AWS), running.TableName, store.Kinds()...))
	now := time.Now()
	ts := fmt.Sprintf("%d.%06d", now.Unix(), now.UnixMicro()%1_000_000)
	in := conversation.Inbound{Team: running.Sandbox.TeamID(), Channel: webapi.HR, ChannelType: "channel", Thread: ts,
		TS: ts, User: webapi.Sato, Text: "ファイルを作って"}
	ref := in.Ref()
	for from := 0; from < messages; from += 25 {
		var rows []aggregate.Row
		for n := from; n < from+25; n++ {
			rows = append(rows, &conversation.Message{MessageID: conversation.MessageID("T", ref.ID, fmt.Sprint(n)),
				SessionID: ref.ID, Sender: conversation.FromUser, User: webapi.Sato,
				Content:   fmt.Sprintf("%d 番目の、集計のしかたを相談するメッセージ", n),
				CreatedAt: now.Add(time.Duration(n-messages-10) * time.Second)})
		}
		expect.NoError(t, all.PutListed(t.Context(), ref.Tenant, conversation.MessagesList, ref.ID, rows, nil))
	}
	c := expect.Value(conversation.Begin(in, conversation.Opening{AgentID: agent.Codex, Locale: "ja"}, now))(t)
	expect.NoError(t, all.Begin(t.Context(), c))
	expect.Eventually(t, "the agent proposes to write files", func() bool {
		a, err := all.Load(t.Context(), ref)
		return err == nil && a.Conversation.PendingActionID != ""
	})
	return ref
}

// TestAPersonDecidesOnThePageOfAConversation: among a thousand messages a person reads the complete proposal and
// approves it, and its result appears without reloading.
func TestAPersonDecidesOnThePageOfAConversation(t *testing.T) {
	driver.Leave(t, running)
	driver.Ask(t, running, webapi.Sato, "従業員一覧を取得して").Card(driver.PromptCard,
		"approve_prompt") // by which the workspace is known
	b := browser.Start(t)
	empty := signIn(t, b, browser.Window{Width: 390, Height: 844, Phone: true, Language: "en", Calm: true}, webapi.Alex,
		"/console/agents")
	empty.Until(`document.querySelector(".empty")?.innerText.includes("No conversations yet")`)
	looks(t, empty, "agents-phone-empty")
	ref := talk(t, 1000)
	page := "/console/sessions/" + ref.ID
	tab := signIn(t, b, browser.Window{Width: 1280, Height: 900, Calm: true}, webapi.Suzuki, "/console/agents")
	tab.Until(fmt.Sprintf(`document.querySelector('#talks a[href="%s"]')`, page))
	looks(t, tab, "agents")
	tab.Click(fmt.Sprintf(`#talks a[href="%s"]`, page))
	tab.Until(`document.querySelector("#asked-1")?.innerText.includes("hello.test.js") && ` +
		`document.querySelectorAll(".said > li").length >= 99 && document.querySelector("#summary")`)
	tab.Until(`[...document.querySelectorAll("[hidden]")].every((e) => getComputedStyle(e).display === "none")`)
	looks(t, tab, "session-waits")
	tab.Click(`form:has(input[value="approve"]) button`)
	tab.Until(`location.search.includes("done=act_approve") && ` +
		`document.querySelector("#older-1 > summary")?.innerText.includes("完了")`)
	looks(t, tab, "session-done")
	tab.Click(`a[rel=prev]`)
	tab.Until(`location.search.includes("before=") && document.querySelectorAll(".said > li").length >= 99`)
	looks(t, tab, "session-earlier")
}

// administering is an administrator at the console, on a desktop or a phone.
type administering struct {
	t   *testing.T
	tab *browser.Tab
	at  string // the window's name, for screenshots
}

// visit opens a page by its address, and waits until it has loaded.
func (a administering) visit(path string) {
	a.t.Helper()
	a.tab.Visit(running.URL + path)
	a.tab.Until(`document.querySelector("main h1")`)
}

// look checks that people can read the page.
func (a administering) look(name string) {
	a.t.Helper()
	looks(a.t, a.tab, a.at+"-"+name)
}

// shows waits until an element has each of these texts.
func (a administering) shows(selector string, texts ...string) {
	a.t.Helper()
	for _, text := range texts {
		a.tab.Until(fmt.Sprintf(`[...document.querySelectorAll(%q)].some((e) => e.innerText.includes(%s))`, selector,
			browser.Quote(text)))
	}
}

// TestAnAdministratorChangesWhatHolds: each act of the administrators' pages, done and refused, on a desktop in
// Japanese and on a phone in English.
func TestAnAdministratorChangesWhatHolds(t *testing.T) {
	driver.Leave(t, running)
	t.Parallel()
	b := browser.Start(t)
	for i, w := range windows {
		t.Run(w.name, func(t *testing.T) {
			if i > 0 {
				expect.AtNight(t)
			}
			tab := signIn(t, b, w.Window, webapi.Suzuki, "/console/settings")
			t.Run("settings", func(t *testing.T) { changesSettings(administering{t, tab.For(t), w.name}, i) })
			t.Run("tools", func(t *testing.T) { limitsTools(administering{t, tab.For(t), w.name}, i) })
		})
	}
}

// changesSettings types two invalid values and sees an error at each field, then two valid ones, and another one
// by itself.
func changesSettings(a administering, i int) {
	versions, days, kept := fmt.Sprint(4+i), fmt.Sprint(30+i), fmt.Sprint(60+i)
	const save = ".save .button-primary"
	a.visit("/console/settings")
	a.tab.Until(`!!document.getElementById("s-max-versions")`)
	a.tab.Type("#s-max-versions", "0")
	a.tab.Type("#s-approval-timeout-hours", "two")
	a.tab.Press(save)
	a.tab.Until(`document.querySelectorAll("#problems li").length === 2`)
	for field, says := range map[string][2]string{
		"s-max-versions":           {"1〜50 を入力してください。", "Enter 1–50."},
		"s-approval-timeout-hours": {"整数を入力してください。", "whole number"},
	} {
		a.shows(`.setting:has(#`+field+`) .problem`, says[i])
		a.tab.Until(fmt.Sprintf(`document.getElementById(%q).matches("[aria-invalid=true]") && `+
			`document.querySelector('#problems a[href$="#%s"]')`, field, field))
	}
	a.tab.Until(`document.getElementById("s-max-versions").value === "0" && ` +
		`document.getElementById("s-approval-timeout-hours").value === "two"`)
	a.look("settings-refused")
	a.tab.Press(`#problems a[href$="#s-approval-timeout-hours"]`)
	a.tab.Until(`location.hash === "#s-approval-timeout-hours"`)
	a.tab.Type("#s-max-versions", versions)
	a.tab.Type("#s-approval-timeout-hours", days)
	a.tab.Press(save)
	a.shows(".notice", [2]string{"保存しました。", "Saved."}[i])
	a.tab.Until(fmt.Sprintf(`document.getElementById("s-max-versions").value === %q && `+
		`document.getElementById("s-approval-timeout-hours").value === %q`, versions, days))
	a.visit("/console/settings")
	a.tab.Type("#s-retain-results-days", kept)
	a.tab.Press(save)
	a.shows(".notice", [2]string{"保存しました。", "Saved."}[i])
	a.tab.Press(`a[href="/console/audit?action=settings.updated"]`)
	a.tab.Until(`location.pathname === "/console/audit" && document.querySelector("table.audit details")`)
	a.tab.Press("table.audit tbody tr:first-child summary")
	a.shows("table.audit tbody tr:first-child", "鈴木", "→ "+kept, [2]string{"結果の保存期間", "Keep results for"}[i])
	a.tab.Press("table.audit tbody tr:nth-child(2) summary")
	a.shows("table.audit tbody tr:nth-child(2)", "鈴木", "→ "+versions, "→ "+days)
	a.look("settings-in-the-log")
}

// limitsTools forbids a tool that no running request needs, and limits another after trying an invalid limit.
func limitsTools(a administering, i int) {
	tool, allowed := `details[id="list_departments"] `, [2]string{"false", "true"}[i]
	a.visit("/console/tools")
	a.tab.Press(tool + "summary")
	a.tab.Press(tool + fmt.Sprintf(`input[name="allowed"][value="%s"]`, allowed))
	a.tab.Press(tool + "button[type=submit]")
	a.tab.Until(`location.hash === "#list_departments" && document.querySelector(".notice:not([hidden])")`)
	a.shows(tool+"summary", [2]string{"許可しない", "Allowed"}[i])

	tool = `details[id="send_slack_dm"] `
	bound := `[id="b-send_slack_dm-recipients"]`
	a.tab.Press(tool + "summary")
	a.tab.Type(bound, "somebody")
	a.tab.Press(tool + "button[type=submit]")
	a.tab.Until(fmt.Sprintf(`document.querySelector('%s[open] [role=alert]') && `+
		`document.querySelector('%s[aria-invalid=true]').value === "somebody"`, strings.TrimSpace(tool), bound))
	a.look("tools-refused")
	recipients := webapi.Sato + [2]string{"\n" + webapi.Tanaka, ""}[i]
	a.tab.Type(bound, recipients)
	a.tab.Press(tool + "button[type=submit]")
	a.tab.Until(`location.hash === "#send_slack_dm" && document.querySelector(".notice:not([hidden])")`)
	a.tab.Until(fmt.Sprintf(`document.querySelector('%s').value === %s`, bound, browser.Quote(recipients)))
	a.tab.Press(tool + "summary")
	a.tab.Type(bound, "")
	a.tab.Press(tool + "button[type=submit]")
	a.tab.Until(fmt.Sprintf(`!document.querySelector('%s[open]') && document.querySelector('%s').value === ""`,
		strings.TrimSpace(tool), bound))
}

// reader reads pages without JavaScript.
type reader struct {
	t    *testing.T
	http *http.Client
}

// read signs a person in without JavaScript.
func read(t *testing.T, user string) reader {
	t.Helper()
	r := reader{t, &http.Client{Jar: expect.Value(cookiejar.New(nil))(t)}}
	page := r.get("/console/signin/begin?next=/console/audit")
	link := regexp.MustCompile(`href="([^"]*user=` + user + `[^"]*)"`).FindStringSubmatch(page)
	expect.Must(t, link != nil, "nobody is %s at %s", user, page)
	r.get(html.UnescapeString(link[1]))
	return r
}

func (r reader) get(path string) string {
	r.t.Helper()
	to := expect.Value(url.Parse(running.URL))(r.t)
	return r.text(expect.Value(r.http.Get(expect.Value(to.Parse(path))(r.t).String()))(r.t))
}

func (r reader) text(a *http.Response) string {
	r.t.Helper()
	defer a.Body.Close()
	body := string(expect.Value(io.ReadAll(a.Body))(r.t))
	expect.Must(r.t, a.StatusCode == http.StatusOK, "%s: %d %s", a.Request.URL, a.StatusCode, body)
	return body
}
