package console_test

import (
	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

// turnLooks are pages of gates under a rule as Suzuki reads them: at their turn, at others', and after they acted.
func turnLooks(w *consoletest.World) []look {
	two := consoletest.Desk("経理", 2, workspace.Tanaka, workspace.Alex, workspace.Suzuki)
	act := func(user string, do aggregate.Act, reason string) {
		w.T.Helper()
		b := w.As(user)
		w.Later(60e9)
		b.Post(w.TaskPage()+"/act", b.Get(w.TaskPage()).FormOf(w.T, do, reason))
	}
	opened := func(stages ...circulation.Stage) string {
		w.Ask()
		w.PlannedOnRoute(tenancy.DefaultSettings(), consoletest.Along(stages...), steps()...)
		return w.TaskPage()
	}
	mine := opened(consoletest.ThreeStages()...)
	others := opened(consoletest.Desk("課長", 1, workspace.Tanaka), two, consoletest.Desk("部長", 1, workspace.Alex))
	stamped := opened(two, consoletest.Desk("部長", 1, workspace.Alex))
	act(workspace.Tanaka, aggregate.ActApprove, "")
	back := opened(consoletest.ThreeStages()...)
	act(workspace.Suzuki, aggregate.ActApprove, "")
	round := opened(consoletest.Desk("課長", 1, workspace.Tanaka), two)
	act(workspace.Tanaka, aggregate.ActApprove, "")
	act(workspace.Alex, aggregate.ActReject, "宛名が違います。部署ごとに分けて、営業部の分だけを先に送ってください。")
	s := w.SettingsNow()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginProcess(a.Head.Run, w.Now()) })
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		o := consoletest.Along(consoletest.Desk("課長", 1, workspace.Suzuki), two)
		return a.FinishProcessOnRoute(a.Head.Run, steps(), "宛名を直しました。", o, s, w.Now())
	})
	denied := opened(consoletest.ThreeStages()...)
	act(workspace.Suzuki, aggregate.ActDeny, "この依頼は、来期の予算で出し直してください。")
	k := w.Talked(workspace.Sato, workspace.HR, "channel", "テストを走らせて")
	k.ProposesAlong(two)
	return []look{
		{name: "turn-mine", path: mine}, {name: "turn-others", path: others}, {name: "turn-two-of-three", path: stamped},
		{name: "turn-take-back", path: back + "?done=act_stamp"}, {name: "turn-round", path: round},
		{name: "turn-denied", path: denied + "?done=act_deny"}, {name: "turn-action", path: k.Page()},
	}
}
