package chat

import (
	"net/url"
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// ofActions is a rule for the actions of agents: somebody of a user group stamps, then Suzuki.
func ofActions() rules.Rule {
	stage := func(name string, who rules.Who) rules.Stage {
		return rules.Stage{Name: name, Who: who, Need: 1, Empty: rules.EmptyRefuse}
	}
	return rules.Rule{ID: "01KS000000000000000000000A", Name: "エージェントの操作",
		When: rules.Conditions{Kinds: []rules.Kind{rules.KindAction}},
		Outcome: rules.Outcome{Route: &rules.Policy{Stages: []rules.Stage{
			stage("経理", rules.Who{Kind: rules.WhoGroup, Group: webapi.Approvers}),
			stage("部長", rules.Who{Kind: rules.WhoPeople, People: []string{webapi.Suzuki}}),
		}}}}
}

// goesRound has an action that waits stamped by one after the other, and sees that it ran once.
func goesRound(t *testing.T, d *driver.Dialogue, number string) {
	t.Helper()
	for i, who := range []string{webapi.Tanaka, webapi.Suzuki} {
		stage := []string{"経理", "部長"}[i]
		m := d.Shows("操作 #"+number+" の確認", "👉 いま: "+stage)
		driver.UntilTaken(t, "the stamp counts", func() {
			_ = running.Sandbox.Click(who, d.Channel, m.TS, card.ApproveAction)
		}, func() bool {
			x := d.Load().Actions[len(d.Load().Actions)-1]
			return len(x.Gate.Acts) > i
		})
	}
	d.Shows("操作 #"+number+" 完了", "回覧済み")
	a := d.Rests()
	x := a.Actions[len(a.Actions)-1]
	expect.That(t, x.Status == conversation.ActionSucceeded && len(x.Gate.Acts) == 2 &&
		x.Gate.Acts[0].Kind == circulation.Stamp, "%+v", x)
}

// While Slack doesn't say who is in the group, the action waits for its route; then it opens, and goes round. It is the
// first test of these rules: what Slack has said of the group is believed for some time.
func TestAnActionWaitsUntilSlackSaysWhomItsRuleAsks(t *testing.T) {
	driver.Leave(t, running)
	driver.Circulate(t, running, ofActions())
	running.Sandbox.Faults().Add(webapi.Fault{Method: "usergroups.users.list", Kind: webapi.Unavailable, Times: -1})
	d := driver.TalkIn(t, running, webapi.Sato, webapi.HR, "claude", "ファイルを作って")
	d.Shows("操作 #1", "🔎 回覧先を確認しています(ルール「エージェントの操作」)")
	a := d.Rests()
	expect.Must(t, a.Unrouted() != nil && a.Pending() == nil, "%+v", a.Actions)
	desk := driver.SitDown(t, running, webapi.Sato)
	_, page := desk.Get(d.Page())
	expect.Has(t, page, "回覧先を確認しています")

	running.Sandbox.Faults().Clear("")
	d.Eventually("its time comes", func() bool { return d.Load().LooksUp(time.Now()) != nil })
	(&driver.Request{T: t, S: running, Ref: d.Ref()}).Sweep()
	goesRound(t, d, "1")
	expect.Is(t, len(d.Audit(conversation.AuditProposed)), 1, "proposals")
	expect.Is(t, len(d.Audit(conversation.AuditRouted)), 1, "openings")
	expect.Is(t, len(d.Audit(conversation.AuditStarted)), 1, "runs")
}

// An agent's action goes round two stages, a user group's and a person's, and then runs once. What a person proposes is
// looked up by a run; it is sent back, and the agent has a turn for the reason.
func TestAnActionGoesRoundTwoStages(t *testing.T) {
	driver.Leave(t, running)
	driver.Circulate(t, running, ofActions())
	d := driver.TalkIn(t, running, webapi.Sato, webapi.HR, "claude", "ファイルを作って")
	d.Shows("操作 #1 の確認", "回覧 🔵 経理 → ⬜ 部長", "ルール「エージェントの操作」")
	goesRound(t, d, "1")

	status, page := driver.SitDown(t, running, webapi.Sato).Post(d.Page()+"/propose", url.Values{
		"own_type": {"shell_command"}, "own_content": {"ls hello.js"}, "own_summary": {"できたか見る"},
	})
	expect.Must(t, status < 400, "%d %s", status, page)
	d.Reject(webapi.Tanaka, d.Shows("操作 #2 の確認", "👉 いま: 経理"), "もう見ました")
	d.Shows("結果を受け取りました")
	x := d.Rests().Actions[1]
	expect.That(t, x.CancelReason == conversation.ReasonRejected && x.Gate.RejectionReason == "もう見ました", "%+v", x)
}
