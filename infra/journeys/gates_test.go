package journeys

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

func TestAReasonMakesTheNextVersionAtBothGates(t *testing.T) {
	s := start(t)
	d := driver.Ask(t, s, webapi.Sato, "今月の勤怠をまとめて")
	d.Reject(webapi.Suzuki, "CARD#prompt#0001", "reject_prompt", "もっと簡潔にしてください")
	old := d.Card("CARD#prompt#0001", "➡️ 新しいバージョン v2 が生成されました")
	expect.That(t, driver.Color(old) == "e01e5a" && strings.Contains(driver.Face(old), "もっと簡潔にしてください") &&
		!strings.Contains(driver.Face(old), "approve_prompt"), "the rejected policy's card: %s %s", driver.Color(old),
		driver.Face(old))
	if fresh := d.Card("CARD#prompt#0002", "approve_prompt"); !strings.Contains(driver.Face(fresh), "もっと簡潔にしてください") {
		t.Errorf("version 2 does not take the reason up: %s", driver.Face(fresh))
	}
	d.Click(webapi.Suzuki, "CARD#prompt#0002", "approve_prompt")

	before := len(stepsShown(d, "CARD#process#0001"))
	d.Reject(webapi.Tanaka, "CARD#process#0001", "reject_process", "データの検証を追加して")
	old = d.Card("CARD#process#0001", "➡️ 新しいバージョン v2 が生成されました")
	expect.That(t, driver.Color(old) == "e01e5a", "the rejected steps' card is %s", driver.Color(old))
	after := len(stepsShown(d, "CARD#process#0002"))
	expect.That(t, after == before+1, "version 2 has %d steps, version 1 had %d", after, before)
	d.Click(webapi.Tanaka, "CARD#process#0002", "approve_process")
	d.Card("CARD#execution", "✅ 実行完了")
	want := []string{
		"task.created by system", "prompt.rejected by " + webapi.Suzuki, "prompt.approved by " + webapi.Suzuki,
		"process.rejected by " + webapi.Tanaka, "process.approved by " + webapi.Tanaka,
		"execution.started by system", "execution.completed by system",
	}
	expect.Same(t, want, d.Audit())
}

func stepsShown(d *driver.Request, key string) []string {
	d.T.Helper()
	var out []string
	for _, line := range strings.Split(driver.Face(d.Card(key, "— `")), "\n") {
		if strings.Contains(line, "— `") {
			out = append(out, line)
		}
	}
	return out
}

func TestWhoMayNotStampIsToldWhy(t *testing.T) {
	s := start(t)
	driver.Settings(t, s, func(x *tenancy.Settings) {
		x.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{webapi.Suzuki}, Usergroups: []string{}}
	})
	d := driver.Ask(t, s, webapi.Sato, "従業員一覧を取得して")
	for _, user := range []string{webapi.Tanaka, webapi.Guest} {
		d.Click(user, "CARD#prompt#0001", "approve_prompt")
		if notes := d.Told(user); len(notes) != 1 || !strings.Contains(notes[0], "👥 承認・却下できる人: <@"+webapi.Suzuki+">") {
			t.Errorf("%s got the notes %q", user, notes)
		}
	}
	until := fmt.Sprintf("⌛ 期限: <!date^%d^", d.Load().Prompt().Terms.DecideBy.Unix())
	face := driver.Face(d.Card("CARD#prompt#0001", "👉 いま:* <@"+webapi.Suzuki+">"))
	expect.That(t, strings.Contains(face, until), "the card does not say %s: %s", until, face)
	driver.Settings(t, s, func(x *tenancy.Settings) { x.Approvers.Users = []string{} })
	d.Card("CARD#prompt#0001", "なし (承認者が登録されていません") // without a click
	d.Click(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
	notes := d.Told(webapi.Suzuki)
	expect.That(t, len(notes) == 1, "an empty list of approvers: notes %q", notes)
	driver.Settings(t, s, func(x *tenancy.Settings) { x.Approvers.Usergroups = []string{webapi.Approvers} })
	d.Click(webapi.Tanaka, "CARD#prompt#0001", "approve_prompt")
	a := d.Until("a member of the group stamps",
		func(a *task.Aggregate) bool { return a.Prompt().Status == aggregate.Approved })
	expect.That(t, a.Prompt().ApprovedBy == webapi.Tanaka, "approved by %s", a.Prompt().ApprovedBy)
}

func TestAnApprovalExpires(t *testing.T) {
	s := start(t)
	d := driver.Ask(t, s, webapi.Sato, "従業員一覧を取得して")
	d.Card("CARD#prompt#0001", "approve_prompt")
	d.Sweep() // not yet: time never approves, and nothing ends early
	if a := d.Load(); a.Head.Ended != nil {
		t.Fatalf("ended as %s before its time", a.Head.Ended.As)
	}
	d.SetRow("PROMPT#0001", "SET terms.decide_by = :v", time.Now().Add(-time.Minute))
	d.Sweep()
	card := d.Card("CARD#prompt#0001", "期限切れ")
	expect.That(t, driver.Color(card) == "888888" && !strings.Contains(driver.Face(card), "approve_prompt"),
		"the expired card: %s %s", driver.Color(card), driver.Face(card))
	expect.Same(t, []string{"task.created by system", "task.expired by system"}, d.Audit())
	d.RunsEnd()
}

func TestATaskIsWithdrawnWhileItWaits(t *testing.T) {
	s := start(t)
	d := driver.Ask(t, s, webapi.Sato, "従業員一覧を取得して")
	m := d.Card("CARD#prompt#0001", "approve_prompt")
	driver.UntilTaken(t, "a dialog asks whether that is meant", func() {
		_ = s.Sandbox.Shortcut(webapi.Sato, d.Channel, m.TS, "cancel_task")
	}, func() bool { return len(s.Sandbox.Views(webapi.Sato)) == 1 })
	expect.That(t, d.Load().Head.Ended == nil, "it is ended without an answer")
	expect.NoError(t, s.Sandbox.CloseView(webapi.Sato, s.Sandbox.Views(webapi.Sato)[0].ID)) // not yet
	d.Cancel(webapi.Sato, m.TS)
	card := d.Card("CARD#prompt#0001", "キャンセルされました")
	d.Card("CARD#task", "⏹️ <@"+webapi.Sato+"> によりキャンセルされました")
	told := func() string { return strings.Join(d.Told(webapi.Sato), "\n") }
	driver.UntilTaken(t, "who cancels again is told", func() {
		_ = s.Sandbox.Shortcut(webapi.Sato, d.Channel, m.TS, "cancel_task")
	}, func() bool { return strings.Contains(told(), "にこのタスクをキャンセルしました") })
	expect.That(t, !strings.Contains(driver.Face(card), "approve_prompt"),
		"the withdrawn card still has its buttons: %s", driver.Face(card))
	expect.Same(t, []string{"task.created by system", "task.cancelled by " + webapi.Sato}, d.Audit())
	d.RunsEnd()
}

func TestAGenerationFailsAndIsTriedAgain(t *testing.T) {
	for _, tt := range []struct{ layer, key, approve string }{
		{"extract", "CARD#task", ""}, {"draft", "CARD#prompt#0001", ""}, {"plan", "CARD#process#0001", "approve_prompt"},
	} {
		t.Run(tt.layer, func(t *testing.T) {
			if tt.layer == "extract" {
				expect.AtNight(t)
			}
			s := start(t)
			d := driver.Ask(t, s, webapi.Sato, "従業員一覧を取得して demo: fail "+tt.layer)
			if tt.approve != "" {
				d.Click(webapi.Suzuki, "CARD#prompt#0001", tt.approve)
			}
			card := d.Card(tt.key, "retry_generation")
			expect.That(t, driver.Color(card) == "e01e5a", "the failed generation's card is %s", driver.Color(card))
			d.Click(webapi.Sato, tt.key, "retry_generation")
			if tt.approve == "" {
				d.Click(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
			}
			d.Card("CARD#process#0001", "approve_process")
			d.Cancel(webapi.Sato, d.Root) // or it would wait in the lists that other tests read
		})
	}
}

// An edit of the message changes nothing, which its author alone is told; a deletion cancels what waits.
func TestAnEditOfTheMessageChangesNothingAndADeletionCancels(t *testing.T) {
	s := start(t)
	d := driver.Ask(t, s, webapi.Sato, "今月の勤怠をまとめて")
	d.Card("CARD#prompt#0001", "approve_prompt")
	expect.NoError(t, s.Sandbox.Edit(webapi.Sato, d.Channel, d.Root, sandbox.Mention("営業部の今月の勤怠をまとめて")))
	expect.Eventually(t, "a note", func() bool {
		return slices.ContainsFunc(s.Sandbox.Ephemerals(webapi.Sato), func(m webapi.Message) bool {
			return m.Channel == d.Channel && strings.Contains(m.Text, "依頼は変わりません")
		})
	})
	expect.That(t, !strings.Contains(driver.Face(d.Card("CARD#prompt#0001", "approve_prompt")), "営業部"),
		"it is drafted anew")
	expect.NoError(t, s.Sandbox.Remove(webapi.Sato, d.Channel, d.Root))
	d.Card("CARD#prompt#0001", "キャンセルされました")
	a := d.Load()
	expect.That(t, a.Head.Ended != nil && a.Head.Ended.Reason == task.ReasonDeleted && len(a.Prompts) == 1, "%+v",
		a.Head.Ended)
}

// A form that is returned is filled in again by whoever asked, is asked about anew under its number, and what people
// stamp is what has the number of the decision.
func TestAReturnedFormIsDecidedAsItsAskerFillsItInAgain(t *testing.T) {
	s := start(t)
	under(t, s, numbered(desk("課長", 1, webapi.Suzuki), desk("経理", 1, webapi.Tanaka)))
	d := driver.AskWithFiles(t, s, webapi.Sato, "複合機の入れ替え")
	d.Card(driver.TaskCard, "👉 いま: 課長")
	d.Click(webapi.Suzuki, driver.TaskCard, "approve_process")
	d.Card(driver.TaskCard, "👉 いま: 経理")
	d.FillUntilTaken(webapi.Tanaka, driver.TaskCard, "reject_process", map[string]any{card.ReasonBlock: "賃借にしてください"})
	d.Card(driver.TaskCard, "差し戻し: 依頼者の書き直し待ち")
	d.FillUntilTaken(webapi.Sato, driver.TaskCard, "refill_process", map[string]any{"title": "複合機の賃借", "amount": "90万"})
	d.Card(driver.TaskCard, "賃借にしてください")
	d.Card(driver.TaskCard, "複合機の入れ替え") // what it was
	for i, stamp := range [][2]string{{"課長", webapi.Suzuki}, {"経理", webapi.Tanaka}} {
		d.Card(driver.TaskCard, "👉 いま: "+stamp[0])
		d.Click(stamp[1], driver.TaskCard, "approve_process")
		d.Until("the stamp counts", func(a *task.Aggregate) bool { return len(a.Process().Acts) == i+1 })
	}
	a := agree(t, d, "賃借にしてください", "複合機の賃借")
	expect.That(t, a.Process().Version == 2 && a.Head.Glance.Number != "" &&
		a.Matter().Amount == "900000" && len(a.Uses) == 0, "%+v", a.Head)
	expect.Has(t, string(a.Process().Steps[0].ToolInput), `"title":"複合機の賃借"`)
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
