package journeys

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/tool/mcp"
)

// A reply in a direct message's thread while a policy waits is no request, as in a channel. What people read from
// asking to the end are few words.
func TestADirectMessageInEnglish(t *testing.T) {
	s := start(t)
	driver.Settings(t, s, func(x *tenancy.Settings) { x.Locale = "en" })
	d := driver.AskIn(t, s, webapi.Alex, webapi.DirectMessage(webapi.Alex), "Please give me a list of all employees")
	d.Card(driver.PromptCard, "Approve")
	expect.Value(s.Sandbox.Reply(webapi.Alex, d.Channel, d.Root, "Without a direct message"))(t)
	expect.Eventually(t, "a note", func() bool {
		return strings.Contains(strings.Join(d.Notes(webapi.Alex), ""), "is no request")
	})
	d.Reject(webapi.Alex, driver.PromptCard, "reject_prompt", "Without a direct message")
	d.Click(webapi.Alex, "CARD#prompt#0002", "approve_prompt")
	d.Click(webapi.Alex, driver.ProcessCard, "approve_process")
	d.Card(driver.ExecutionCard, "Completed")
	a := d.Until("completed", func(a *task.Aggregate) bool { return a.Task.Status == task.TaskCompleted })
	expect.That(t, a.Task.Source == task.SourceAgentContainer, "the source is %s", a.Task.Source)
	expect.Is(t, a.Prompts[0].RejectionReason, "Without a direct message")
	d.Until("all is shown", func(a *task.Aggregate) bool { return a.Head.ShownRev == a.Head.Rev })
	told := ""
	for _, m := range s.Sandbox.Messages(d.Channel, d.Root) {
		if m.User == webapi.Bot {
			told += m.Text + "\n" + words(m.Attachments)
		}
	}
	expect.That(t, count(told) <= 300, "it is told in %d words:\n%s", count(told), told)
}

// commands are Slack's forms for people and dates; ids are ULIDs.
var commands, ids, english = regexp.MustCompile(`<[@#!][^>]*>|https?://[^ |>]*`),
	regexp.MustCompile(`\b[0-9A-Z]{26}\b`),
	regexp.MustCompile(`[A-Za-z][A-Za-z_.'’-]*`)

// count counts the English words of a text.
func count(text string) int {
	return len(english.FindAllString(ids.ReplaceAllString(commands.ReplaceAllString(text, ""), ""), -1))
}

// words are the texts of blocks, a line each.
func words(v any) (out string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			out += words(e)
		}
	case map[string]any:
		if text, is := v["text"].(string); is {
			return text + "\n"
		}
		for _, key := range []string{"blocks", "text", "fields", "elements"} {
			out += words(v[key])
		}
	}
	return out
}

// With both approvals switched off nobody is asked but about the write, by its own gate.
func TestApprovalsSwitchedOffAskAboutTheWriteAlone(t *testing.T) {
	s := start(t)
	driver.Settings(t, s, func(x *tenancy.Settings) { x.PromptApprovalRequired, x.ProcessApprovalRequired = false, false })
	d := driver.Ask(t, s, webapi.Sato, "先月の残業時間を確認して。シートには書かないで")
	d.Click(webapi.Suzuki, "CARD#step#0001#001#04", "approve_step")
	d.Card(driver.ExecutionCard, "✅ 実行完了")
	d.Card(driver.PromptCard, "✅ 自動承認")
	d.Card(driver.ProcessCard, "✅ 自動承認")
	want := []string{
		"task.created by system", "prompt.approved by system", "process.approved by system",
		"execution.started by system", "step.approved by " + webapi.Suzuki, "execution.completed by system",
	}
	expect.Same(t, want, d.Audit())
	d.RanOnce()
}

// A request of the command's dialog is stamped in a copy, which all places show. The Home tab lists it while it waits.
func TestACommandIsStampedInACopyAndListedOnTheHomeTab(t *testing.T) {
	s := start(t)
	driver.Settings(t, s, func(x *tenancy.Settings) {
		x.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{webapi.Suzuki, webapi.Tanaka},
			Usergroups: []string{}}
	})
	expect.NoError(t, s.Sandbox.Command(webapi.Sato, webapi.HR, "/ringi"))
	views := s.Sandbox.Views(webapi.Sato)
	expect.Must(t, len(views) == 1, "%d dialogs are open", len(views))
	wrong, err := s.Sandbox.Submit(webapi.Sato, views[0].ID, map[string]any{card.RequestTextBlock: "従業員一覧を取得して",
		card.RequestAtBlock: webapi.HR})
	expect.Must(t, err == nil && len(wrong) == 0, "%v, %v", wrong, err)
	holds := func(channel, text string) (found webapi.Message) {
		expect.Eventually(t, channel+" has "+text, func() bool {
			for _, m := range s.Sandbox.Messages(channel, "") {
				all := string(expect.Value(json.Marshal(m))(t))
				if m.User == webapi.Bot && strings.Contains(all, text) {
					found = m
				}
			}
			return found.TS != ""
		})
		return found
	}
	d := driver.At(t, s, webapi.HR, holds(webapi.HR, `\u003e 従業員一覧を取得して`).TS)
	d.Card(driver.PromptCard, "approve_prompt")
	listed := func(want bool) {
		expect.Eventually(t, fmt.Sprint("the Home tab lists it: ", want), func() bool {
			expect.NoError(t, s.Sandbox.OpenHome(webapi.Suzuki))
			v, ok := s.Sandbox.Home(webapi.Suzuki)
			return ok && strings.Contains(string(expect.Value(json.Marshal(v.Blocks))(t)), "thread_ts="+d.Root) == want
		})
	}
	listed(true)
	im := webapi.DirectMessage(webapi.Tanaka)
	copied := holds(im, d.Load().Prompt().ID)
	driver.UntilTaken(t, "the policy is stamped", func() {
		_ = s.Sandbox.Click(webapi.Tanaka, im, copied.TS, "approve_prompt")
	}, func() bool { return d.Shows(driver.PromptCard, "✅ 承認: <@"+webapi.Tanaka+">") })
	d.Card(driver.ProcessCard, "approve_process")
	d.Cancel(webapi.Sato, d.Root)
	d.Until("it is cancelled", ended)
	listed(false)
}

var administrator = aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki}

// allows has an administrator allow a tool of the MCP server for a test.
func allows(t *testing.T, s *stack.Stack, name string, access aggregate.Access) {
	t.Helper()
	office, tenant := driver.MCPAdmin(s), aggregate.TenantID(s.Sandbox.TeamID())
	all := expect.Value(office.Tools(t.Context(), tenant, vendors.RoomsServer))(t)
	at := slices.IndexFunc(all, func(x mcp.Listed) bool { return x.Name == name })
	expect.Must(t, at >= 0, "the server has no %s", name)
	expect.NoError(t, office.Allow(t.Context(), tenant, name, all[at].Hash, access, administrator))
	t.Cleanup(func() { expect.NoError(t, office.Forbid(context.Background(), tenant, name, administrator)) })
}

func TestAnMCPServersToolIsAllowedAskedForApprovedAndCalledOnce(t *testing.T) {
	s := beside(t)
	d := driver.Ask(t, s, webapi.Sato, "会議室を予約して")
	a := d.Until("it is answered", func(a *task.Aggregate) bool { return a.Answer != nil })
	expect.Has(t, a.Answer.Sentence, "会議室のツールが許可されていないため")
	allows(t, s, "rooms.list_rooms", aggregate.Read)
	allows(t, s, vendors.BookRoom, aggregate.Write)

	d = driver.Ask(t, s, webapi.Sato, "会議室を予約してください")
	d.Approve(webapi.Suzuki)
	const gate = "CARD#step#0001#001#02"
	asks := driver.Face(d.Card(gate, "approve_step"))
	before, booked := s.Vendors.Calls(vendors.BookRoom), len(s.Vendors.Rooms().Bookings())
	d.Click(webapi.Tanaka, gate, "approve_step")
	done := driver.Face(d.Card(driver.ExecutionCard, "✅ 実行完了"))
	bookings := s.Vendors.Rooms().Bookings()[booked:]
	n := s.Vendors.Calls(vendors.BookRoom) - before
	expect.Must(t, n == 1 && len(bookings) == 1 && bookings[0].Title == "会議", "%d calls, bookings %+v", n, bookings)
	expect.Has(t, asks, bookings[0].Room, "the gate's room")
	expect.Has(t, done, "会議室 "+bookings[0].Name+" を", "the summary")
}

func desk(name string, need int, users ...string) rules.Stage {
	return rules.Stage{Name: name, Need: need, Who: rules.Who{People: users}}
}

// Three stages, one after the other; whoever stamped counts at a later one, too, and isn't asked there.
func TestAnOrderGoesRoundThreeStages(t *testing.T) {
	s := start(t)
	tenant := aggregate.TenantID(s.Sandbox.TeamID())
	expect.NoError(t, driver.ConnectOrdering(t.Context(), s, tenant))
	t.Cleanup(func() {
		expect.NoError(t, driver.MCPAdmin(s).Forbid(context.Background(), tenant, vendors.PlaceOrder, administrator))
	})
	driver.Circulate(t, s, rules.Rule{ID: "01KS000000000000000000000A", Name: "10万円以上の外部書き込み",
		Conditions: rules.Conditions{From: "100000", Currency: "JPY"},
		Outcome: rules.Outcome{Stages: []rules.Stage{desk("課長", 1, webapi.Suzuki),
			desk("経理", 2, webapi.Suzuki, webapi.Tanaka, webapi.Alex), desk("部長", 1, webapi.Alex)}}},
		rules.Rule{ID: "01KS000000000000000000000B", Name: "そのほかの外部書き込み",
			Outcome: rules.Outcome{Stages: []rules.Stage{desk("課長", 1, webapi.Tanaka)}}})
	d := driver.Ask(t, s, webapi.Sato, "取引先アクメに、PC 3台 447,000円を発注してください")
	d.Click(webapi.Suzuki, driver.PromptCard, "approve_prompt")
	d.Card(driver.ProcessCard, "回覧 🔵 課長 → ⬜ 経理 (2 人のうち 1 人の承認が必要) → ⬜ 部長")
	d.Click(webapi.Tanaka, driver.ProcessCard, "approve_process")
	expect.Has(t, strings.Join(d.Told(webapi.Tanaka), "\n"), "いまは 課長", "Tanaka is told")
	before := s.Vendors.Calls(vendors.PlaceOrder)
	for i, at := range [][2]string{{"課長", webapi.Suzuki}, {"経理", webapi.Tanaka}, {"部長", webapi.Alex}} {
		d.Card(driver.ProcessCard, "👉 いま: "+at[0])
		d.Click(at[1], driver.ProcessCard, "approve_process")
		d.Until("the stamp counts", func(a *task.Aggregate) bool { return len(a.Process().Acts) == i+1 })
	}
	d.Card(driver.ExecutionCard, "✅ 実行完了")
	d.Card(driver.ProcessCard, "回覧済み")
	expect.Is(t, s.Vendors.Calls(vendors.PlaceOrder)-before, 1, "orders")

	small := driver.Ask(t, s, webapi.Sato, "取引先アクメに、マウス 1個 2,000円を発注してください")
	small.Click(webapi.Suzuki, driver.PromptCard, "approve_prompt")
	small.Card(driver.ProcessCard, "ルール「そのほかの外部書き込み」")
	small.Reject(webapi.Tanaka, driver.ProcessCard, "reject_process", "まだ要りません")
	small.Card("CARD#process#0002", "2 回目の回覧")
}

// Whoever is asked, and whoever gets the message, read people and channels as names in what somebody typed, and emoji
// as characters.
func TestWhatIsTypedNamesPeopleAndChannels(t *testing.T) {
	s := start(t)
	const typed = "詳しくは <@" + webapi.Suzuki + "> か <#" + webapi.HR + "|> へ :bow:"
	d := driver.Ask(t, s, webapi.Sato, "<@"+webapi.Tanaka+">に「"+typed+"」とDMを送って")
	const shown = "詳しくは <@" + webapi.Suzuki + "> (" + webapi.Suzuki + ") か <#" + webapi.HR + "> へ 🙇"
	d.Card(driver.TaskCard, "DM の送信: 詳しくは @鈴木 一郎 か #人事 へ 🙇")
	d.Card(driver.PromptCard, shown)
	d.Click(webapi.Suzuki, driver.PromptCard, "approve_prompt")
	d.Card(driver.ProcessCard, "> "+shown)
	d.Click(webapi.Suzuki, driver.ProcessCard, "approve_process")
	d.Until("completed", func(a *task.Aggregate) bool { return a.Task.Status == task.TaskCompleted })
	got := expect.JSON(s.Sandbox.Messages(webapi.DirectMessage(webapi.Tanaka), ""))
	expect.Has(t, got, `"user_id":"`+webapi.Suzuki+`"`, `"channel_id":"`+webapi.HR+`"`, "🙇")
	expect.That(t, !strings.Contains(got, "&lt;"), "a code is shown: %s", got)
}
