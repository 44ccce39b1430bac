package conversation

import (
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// routed puts the current action under a rule whose route asks Suzuki and then Tanaka.
func (tb *table) routed() {
	desk := func(user string) circulation.Stage {
		return circulation.Stage{Name: user, Mode: circulation.ModePeople, People: []circulation.Person{{User: user}}, Need: 1}
	}
	tb.forged(func(x *Action) {
		x.Gate.Terms.Rule = &circulation.Rule{ID: "r1", Name: "すべて", Revision: 1}
		x.Gate.Route = &circulation.Route{Form: circulation.Form, Hands: 2, Stages: []circulation.Stage{desk(suzuki), desk(tanaka)}}
		x.Gate.Terms.ApprovalHours, x.Gate.Asked = 72, x.sum()
		tb.head.Routes = nil
		tb.head.Opens(x.Key(), &x.Gate)
	})
}

func TestAClaimLooksAgainAtAnActionUnderARule(t *testing.T) {
	settled := func(t *testing.T) *table {
		tb, x := pending(t, ShellCommand)
		expect.NoError(t, tb.approve(x, suzuki))
		expect.NoError(t, tb.begin())
		tb.routed()
		tb.forged(func(x *Action) {
			x.Gate.Acts, x.Gate.Verdict = nil, aggregate.Verdict{}
			for i, user := range []string{suzuki, tanaka} {
				who := circulation.Person{User: user}
				x.Gate = expect.Value(x.Gate.Acted(circulation.Act{Form: circulation.Form, Kind: circulation.Stamp, Hand: who,
					Principal: who, At: tb.now, Stage: i + 1, Hash: x.Gate.Asked, Surface: "slack"}))(t)
			}
			expect.NoError(t, tb.head.Settle(x.Key(), &x.Gate))
		})
		return tb
	}
	expect.NoError(t, settled(t).claim("i1"))
	for name, change := range map[string]func(x *Action){
		"another payload": func(x *Action) { x.Payload = proposal(ShellCommand, start.Add(time.Hour), "").Payload },
		"a stamp is gone": func(x *Action) { x.Gate.Acts = x.Gate.Acts[:1] },
		"another's act":   func(x *Action) { x.Gate.Acts[0].Text = "other" },
		"as ever": func(x *Action) {
			x.Gate = aggregate.Gate{Status: aggregate.Approved}
		},
		"a rule approved it": func(x *Action) { x.ApprovedBy, x.Rule, x.ActionType = ApprovedByAuto, "test_run", TestRun },
	} {
		tb := settled(t)
		tb.forged(change)
		expect.Fails(t, tb.claim("i1"), aggregate.ErrConflict, "%s is executed", name)
	}
	tb := settled(t)
	tb.head.Routes = nil
	expect.Fails(t, tb.claim("i1"), aggregate.ErrConflict, "what the head doesn't know is executed")
}

func TestAnActionIsApprovedOnlyAsItsRouteSays(t *testing.T) {
	tb, _ := pending(t, ShellCommand)
	tb.routed()
	a := tb.load()
	c := a.begin(tb.now)
	c.move(a.Current(), ActionApproved, func(n *Action) { n.settle(aggregate.Approved) })
	_, err := c.done()
	expect.Fails(t, err, aggregate.ErrOnRoute)
}

func TestAnActionSaysSinceWhenItAsks(t *testing.T) {
	_, x := pending(t, ShellCommand)
	expect.That(t, x.Gate.AskedAt != nil && x.Gate.AskedAt.Equal(x.CreatedAt), "it asks since %v", x.Gate.AskedAt)
}
