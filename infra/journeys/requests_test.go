package journeys

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

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
			expect.NoError(t, s.Sandbox.Open(webapi.Suzuki, "home"))
			v, ok := s.Sandbox.Home(webapi.Suzuki)
			return ok && strings.Contains(string(expect.Value(json.Marshal(v.Blocks))(t)), "thread_ts="+d.Root) == want
		})
	}
	listed(true)
	im := webapi.DirectMessage(webapi.Tanaka)
	copied := holds(im, d.Load().Prompt().ID)
	d.UntilTaken("the policy is stamped", func() {
		_ = s.Sandbox.Click(webapi.Tanaka, im, copied.TS, "approve_prompt")
	}, func() bool { return d.Shows(driver.PromptCard, "✅ 承認: <@"+webapi.Tanaka+">") })
	d.Card(driver.ProcessCard, "approve_process")
	d.Cancel(webapi.Sato, d.Root)
	d.Until("it is cancelled", ended)
	listed(false)
}

var administrator = aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki}

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
	d.Card(driver.ProcessCard, "回覧 🔵 課長 → ⬜ 経理 (3 人のうち 2 人の承認が必要 · <@U0SANDSUZU> さんの承認はここでも数えます) → ⬜ 部長")
	d.Click(webapi.Tanaka, driver.ProcessCard, "approve_process")
	expect.Has(t, strings.Join(d.Told(webapi.Tanaka), "\n"), "いまは 課長", "Tanaka is told")
	before := s.Vendors.Calls(vendors.PlaceOrder)
	for i, at := range [][2]string{{"課長", webapi.Suzuki}, {"経理", webapi.Tanaka}, {"部長", webapi.Alex}} {
		d.Card(driver.ProcessCard, "👉 承認待ち: "+at[0])
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
