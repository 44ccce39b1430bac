package conversation

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// circulating returns a conversation with an action that waits.
func circulating(t expect.T) *table {
	t.Helper()
	tb := opened(t)
	expect.NoError(t, tb.answer(proposal(ShellCommand, tb.now, "")))
	return tb
}

// acting returns what a person does on the newest action, at the stage that is asked or else the first.
func (tb *table) acting(kind circulation.Kind, user string,
	change ...func(act *circulation.Act)) func(a *Aggregate) (aggregate.Change, error) {
	return func(a *Aggregate) (aggregate.Change, error) {
		x := a.Actions[len(a.Actions)-1]
		st := circulation.Walk(x.Gate.Circulating())
		act := circulation.Act{Kind: kind, Hand: circulation.Person{User: user}, Principal: circulation.Person{User: user},
			Stage: max(1, st.Present), Hash: x.Gate.AskedSum}
		if kind != circulation.Stamp {
			act.Text = " 理由 "
		}
		for _, c := range change {
			c(&act)
		}
		return a.Act(x.ActionID, act, person(user), policy, tb.now)
	}
}

// makes asserts that a decision writes these audit entries, and commits it.
func (tb *table) makes(decide func(a *Aggregate) (aggregate.Change, error), entries ...string) {
	tb.t.Helper()
	a := tb.load()
	c, err := decide(a)
	expect.NoError(tb.t, err)
	var got []string
	for _, e := range c.Audit {
		got = append(got, string(e.Action))
	}
	expect.Same(tb.t, got, entries)
	expect.NoError(tb.t, tb.commit(a.Head, c))
}

// The agent has a turn for the reason of what is sent back.
func TestAnActionIsSentBack(t *testing.T) {
	tb := circulating(t)
	said := len(tb.lists)
	tb.makes(tb.acting(circulation.SendBack, tanaka), "action.rejected")
	a := tb.load()
	x := a.Actions[0]
	expect.That(t, x.Status == ActionCancelled && x.CancelReason == ReasonRejected && x.CancelledBy == tanaka &&
		x.ErrorDetail == "理由" &&
		x.Gate.Status == aggregate.Rejected && x.Gate.RejectedBy == tanaka && a.Current() == nil, "%+v", x)
	expect.Is(t, len(tb.lists), said+1, "messages")
	expect.That(t, len(a.Inbox) > 0 && a.Next(tb.now).State == StateAnswer, "the agent has no turn")
	tb.makes(tb.acting(circulation.SendBack, tanaka))
	_, err := tb.acting(circulation.Stamp, tanaka)(a)
	expect.Fails(t, err, aggregate.ErrDecided{Status: "rejected", By: tanaka, At: *x.Gate.RejectedAt})
}

func TestNobodyStampsAnotherPayloadThanIsAsked(t *testing.T) {
	tb := circulating(t)
	tb.forged(func(x *Action) { x.Payload = proposal(ShellCommand, start.AddDate(0, 0, 1), "").Payload })
	expect.Fails(t, expect.Err(tb.acting(circulation.Stamp, suzuki)(tb.load())), aggregate.ErrConflict)
	tb.makes(tb.acting(circulation.SendBack, suzuki), "action.rejected")
}

func TestAnActOnAnActionReliesOnWhatWasLookedUp(t *testing.T) {
	tb := circulating(t)
	x := tb.load().Current()
	on := aggregate.Owned{Key: "DELEGATE", Rev: 4}
	act := x.Gate.Acting(circulation.Stamp, person(suzuki), "")
	c := expect.Value(tb.load().Act(x.ActionID, act, person(suzuki), policy, tb.now, on))(t)
	expect.Same(t, c.Owned, []aggregate.Owned{on})
}

// Whatever anybody tries on an action, each act that counts has one entry in its Change, the action is approved exactly
// when its gate is settled, and only then it is claimed.
func TestNoOrderOfActsExecutesAnActionWithoutItsStamps(t *testing.T) {
	people := []string{sato, suzuki, tanaka, "U_ITO"}
	kinds := []circulation.Kind{circulation.Stamp, circulation.Stamp, circulation.Stamp, circulation.SendBack,
		circulation.Deny, "other"}
	expect.Walks(t, func(reached map[ActionStatus]int) {
		rapid.Check(t, func(rt *rapid.T) {
			tb := circulating(rt)
			for range rapid.IntRange(1, 20).Draw(rt, "acts") {
				a := tb.load()
				was := *a.Actions[0]
				stage := rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(rt, "stage")
				c, err := tb.acting(rapid.SampledFrom(kinds).Draw(rt, "kind"), rapid.SampledFrom(people).Draw(rt, "hand"),
					func(act *circulation.Act) {
						if stage > 0 {
							act.Stage = stage
						}
						if rapid.IntRange(0, 4).Draw(rt, "hash") == 4 {
							act.Hash = "other"
						}
					})(a)
				if err == nil {
					expect.NoError(rt, tb.commit(a.Head, c))
				}
				x := tb.load().Actions[0]
				acted := len(x.Gate.Acts) - len(was.Gate.Acts)
				expect.Must(rt, acted == len(c.Audit) && acted <= 1, "%d acts have %d entries", acted, len(c.Audit))
				st := circulation.Walk(x.Gate.Circulating())
				expect.Must(rt, (x.Status == ActionApproved) == st.Settled &&
					(x.Status == ActionCancelled) == (st.Ended() != ""), "%s: %+v", x.Status, st)
			}
			x := tb.load().Actions[0]
			reached[x.Status]++
			if err := tb.begin(); x.Status != ActionApproved {
				return
			} else if err != nil {
				rt.Fatal(err)
			}
			for i, change := range []func(g *aggregate.Gate){
				func(g *aggregate.Gate) { g.Acts = nil }, func(g *aggregate.Gate) { g.Acts[0].Hash = "other" },
				func(*aggregate.Gate) {},
			} {
				n := *tb.load().Actions[0]
				n.Gate.Acts = slices.Clone(n.Gate.Acts)
				change(&n.Gate)
				a := tb.load()
				a.Add(&n)
				_, err := a.Claim(a.Head.Run, "i1", tb.now, tb.now)
				expect.Must(rt, (err == nil) == (i == 2) && (err == nil || errors.Is(err, aggregate.ErrConflict)),
					"change %d: %v", i, err)
			}
		})
	}, ActionApproved, ActionCancelled, ActionPending)
}
