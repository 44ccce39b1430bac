package page

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/chromedp/chromedp/kb"

	"ringi/infra/local/browser"
	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

var (
	desk  = browser.Window{Width: 1280, Height: 900, Hasty: true, Calm: true}
	phone = browser.Window{Width: 390, Height: 844, Phone: true, Dark: true, Language: "en", Hasty: true, Calm: true}
)

// signIn opens a page as a person who first has to sign in with Slack.
func signIn(t *testing.T, b *browser.Browser, w browser.Window, user, path string) *browser.Tab {
	t.Helper()
	tab := b.Open(t, running.URL+path, w)
	tab.Until(`location.pathname === "/console/signin"`)
	tab.Fits()
	tab.Accessible(t)
	tab.Click(`a.button-primary`)
	tab.Until(`location.pathname === "/openid/connect/authorize"`)
	tab.Fits()
	tab.Accessible(t)
	tab.Click(fmt.Sprintf(`a[href*="user=%s"]`, user))
	tab.Until(fmt.Sprintf(`location.pathname === %q`, path))
	return tab
}

// looks checks that people can read the page, and takes a screenshot if RINGI_SCREENSHOTS names a folder.
func looks(t *testing.T, tab *browser.Tab, name string) {
	t.Helper()
	tab.Fits()
	tab.Accessible(t)
	tab.Clean()
	if dir := os.Getenv("RINGI_SCREENSHOTS"); dir != "" {
		tab.Whole(filepath.Join(dir, name+".png"))
	}
}

// TestADecisionInTheConsole: a person sees requests come and go in the lists, decides about one and takes another back,
// and decides about what an agent proposes. Pages refresh themselves, but never put the next decision in the place of
// the one that was read.
func TestADecisionInTheConsole(t *testing.T) {
	driver.Leave(t, running)
	nothingWaits(t, driver.Ask(t, running, webapi.Sato, "今月の勤怠をまとめて"))
	b := browser.Start(t)
	tab := signIn(t, b, desk, webapi.Suzuki, "/console/tasks")
	d := driver.Ask(t, running, webapi.Sato, "今月の勤怠をまとめて")
	at := "/console/tasks/" + d.Ref.ID
	tab.Until(fmt.Sprintf(`document.querySelector('#requests a[href=%q]')`, at))
	tab.Visit(running.URL + "/console")
	tab.Until(fmt.Sprintf(`document.querySelector('#waiting a[href=%q]')`, at))
	d.Card(driver.PromptCard, "approve_prompt")
	tab.Visit(running.URL + at)
	form := `form:has([name="act"][value="reject"])`
	reason := form + ` textarea[name="reason"]`
	tab.Until(fmt.Sprintf(`document.querySelector(%q)`, reason))
	tab.Click(`.ways details:has([name="act"][value="reject"]) summary`)
	tab.Eval(fmt.Sprintf(`document.querySelector(%q).value = "営業部だけにしてください"`, reason))
	tab.Click(form + ` [value="reject"]`)
	tab.Until(`document.querySelector(".notice")`)
	d.Card(driver.PromptCard, "営業部だけにしてください")
	reads(tab, "true") // which came without reloading
	tab.Until(`document.querySelector("#asked .diff")`)
	tab.Click(`form:has(input[name="act"][value="approve"]) button`)
	reads(tab, `document.querySelector("#plan-1")`)
	tab.Until(`document.querySelector(".gate .does") && ` +
		`document.querySelector('form input[name="kind"][value="process"]')`)
	looks(t, tab, "story-steps")
	tab.Click(`form:has(input[name="act"][value="approve"]) button`)
	d.Card(driver.ExecutionCard, "実行完了")
	tab.Until(`document.querySelector("#run-1-1 .run li") && !document.querySelector("[data-live]")`)
	looks(t, tab, "story-done")
	withdraws(t, b)

	ref := talk(t)
	tab.Visit(running.URL + "/console/agents")
	tab.Click(fmt.Sprintf(`#talks a[href="/console/sessions/%s"]`, ref.ID))
	tab.Until(`document.querySelector("#asked-1")?.innerText.includes("hello.test.js")`)
	tab.Click(`form:has(input[value="approve"]) button`)
	tab.Until(`location.search.includes("done=act_approve") && ` +
		`document.querySelector("#older-1 > summary")?.innerText.includes("完了")`)
	looks(t, tab, "session-done")
	tab.Clean()
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
	tab.Press(".burger") // the menu covers the page until Escape
	tab.Until(`document.querySelector("#nav").matches(":popover-open")`)
	tab.Accessible(t)
	tab.Keys(kb.Escape)
	tab.Until(`!document.querySelector("#nav").matches(":popover-open")`)
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

// nothingWaits ends everything that other tests left waiting: the lists show only a few items, longest waiting first.
func nothingWaits(t *testing.T, d *driver.Request) {
	t.Helper()
	team := running.Sandbox.TeamID()
	for _, x := range expect.Value(d.Store.Waiting(t.Context(), aggregate.TenantID(team), "", 100))(t).Items {
		expect.Value(d.Store.Decide(t.Context(), x.Ref, func(a *task.Aggregate) (aggregate.Change, error) {
			by := aggregate.Actor{Type: aggregate.ActorUser, ID: a.Request.User, Team: team, Member: true}
			return a.End(by, aggregate.Policy{Team: team, Mode: aggregate.ApproversChannel, AllowSelf: true}, time.Now())
		}))(t)
	}
}

// talk makes a conversation in #人事 in which the demo agent proposes to write files.
func talk(t *testing.T) aggregate.Ref {
	t.Helper()
	all := store.ConversationsOf(store.New(dynamodb.NewFromConfig(running.AWS), running.TableName, store.Kinds()...))
	now := time.Now()
	ts := fmt.Sprintf("%d.%06d", now.Unix(), now.UnixMicro()%1_000_000)
	in := conversation.Inbound{Team: running.Sandbox.TeamID(), Channel: webapi.HR, ChannelType: "channel", Thread: ts,
		TS: ts, User: webapi.Sato, Text: "ファイルを作って"}
	c := expect.Value(conversation.Begin(in, conversation.Opening{AgentID: tenancy.Codex, Locale: "ja"}, now))(t)
	expect.NoError(t, all.Begin(t.Context(), c))
	expect.Eventually(t, "the agent proposes to write files", func() bool {
		a, err := all.Load(t.Context(), in.Ref())
		return err == nil && a.Conversation.PendingActionID != ""
	})
	return in.Ref()
}
