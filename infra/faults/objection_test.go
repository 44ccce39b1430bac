package faults

import (
	"testing"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// objects has somebody who is consulted object, take that back and object again, and the next stage add an approver
// and stamp all the same.
func objects() scenario {
	const process = "CARD#process#0001"
	say := func(text string) map[string]any { return map[string]any{card.ReasonBlock: text} }
	return scenario{name: "objected", text: "従業員一覧を取得して", act: func(d *scenarioRun) {
		d.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
		d.fills(webapi.Tanaka, d.Channel, d.Card(process, "dissent_process").TS, "dissent_process", say("要りません"), 1)
		d.Card(process, "👉 いま: 部長")
		d.takesBack(webapi.Tanaka, process, 2)
		d.fills(webapi.Tanaka, d.Channel, d.Card(process, "dissent_process").TS, "dissent_process", say("古い表です"), 3)
		added := say("見てください")
		added[card.AddedBlock], added[card.AddedAsBlock] = webapi.Alex, string(circulation.AsApprove)
		d.fills(webapi.Suzuki, d.Channel, d.Card(process, "add_process").TS, "add_process", added, 4)
		d.stamps(webapi.Suzuki, process, 5)
		d.Card(process, "👉 いま: 追加の承認")
		d.stamps(webapi.Alex, process, 6)
		d.untilCompleted()
	}}
}

// withdrawn has whoever asked withdraw what was given back to them.
func withdrawn() scenario {
	const process = "CARD#process#0001"
	return scenario{name: "withdrawn", text: "従業員一覧を取得して", act: func(d *scenarioRun) {
		d.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
		d.stamps(webapi.Suzuki, process, 1)
		d.Card(process, "👉 いま: 経理")
		d.givesBack(webapi.Tanaka, process)
		d.dialogs.Lock()
		defer d.dialogs.Unlock()
		d.Eventually("it is withdrawn", func() bool {
			return d.Load().Head.Ended != nil || d.TryCancel(webapi.Sato, d.Root) == nil && d.Load().Head.Ended != nil
		})
		d.untilEnded()
	}}
}

// Whatever dies while somebody objects and another one is added, each is done once, and what was asked runs once.
func TestACrashAroundAnObjectionChangesNothing(t *testing.T) {
	b := running
	consulted := desk("経理", 1, webapi.Tanaka)
	consulted.As, consulted.Dissent = circulation.AsConsult, circulation.ObjectionNoted
	rule := always(consulted, desk("部長", 1, webapi.Suzuki))
	rule.ID, rule.Name = "01KS000000000000000000000D", "意見を聞く"
	b.underRules(t, rule)
	s := objects()
	d, base := b.undisturbedRun(t, s)
	p := d.Load().Process()
	st := circulation.Walk(p.Circulating())
	expect.Must(t, p.Status == aggregate.Approved && len(p.Acts) == 6 && len(st.Dissents()) == 1 && len(st.Stages) == 3,
		"it is %s with %+v", p.Status, p.Acts)
	b.survivesAny(t, s, d, base)
}

// So it is while what was given back is withdrawn: it ends once, and nothing runs.
func TestACrashWhileItIsWithdrawnChangesNothing(t *testing.T) {
	b := running
	b.underRules(t)
	s := withdrawn()
	d, base := b.undisturbedRun(t, s)
	a := d.Load()
	expect.Must(t, a.Head.Ended.As == task.TaskCancelled && a.Head.Ended.By == webapi.Sato && a.Processes[0].GivenBack() &&
		a.Execution() == nil, "it ended as %+v", a.Head.Ended)
	b.survivesAny(t, s, d, base)
}
