package conversation

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// unrouted returns a conversation with an action of the agent's whose people must be looked up, the next time after
// that long.
func unrouted(t expect.T, after time.Duration) *table {
	t.Helper()
	tb := opened(t)
	p, at := proposal(ShellCommand, tb.now, "test_run"), tb.now.Add(after)
	p.LookUp = &LookUp{Rule: circulation.Rule{ID: "r1", Name: "外部への書き込み", Revision: 3}, At: &at}
	expect.NoError(t, tb.answer(p))
	return tb
}

func (tb *table) opensOn(o *aggregate.Opening) func(a *Aggregate) (aggregate.Change, error) {
	return func(a *Aggregate) (aggregate.Change, error) {
		terms := terms(tb.now)
		terms.ApprovalHours = 72
		on := aggregate.Owned{Key: tenancy.OrganisationKey, Rev: 4, Err: aggregate.ErrSettings}
		return a.OpenOnRoute(a.Head.Run, a.Actions[0].ActionID, o, terms, tb.now, on)
	}
}

func (tb *table) refusesAs(why aggregate.Reason) func(a *Aggregate) (aggregate.Change, error) {
	return func(a *Aggregate) (aggregate.Change, error) {
		no := ErrByRules{Why: why, Rule: circulation.Rule{ID: "r2", Name: "経理"}, Detail: "購買部へ"}
		return a.RefuseByRule(a.Head.Run, a.Actions[0].ActionID, no, "購買部へ。", 3, tb.now)
	}
}

// unroutes has people looked up first for some proposals.
func (w *walk) unroutes(p *Proposal) {
	switch at := w.now.Add(time.Minute); rapid.IntRange(0, 8).Draw(w.rt, "look up") {
	case 0:
		p.LookUp = &LookUp{Rule: circulation.Rule{ID: "r1"}}
	case 1:
		p.LookUp = &LookUp{Rule: circulation.Rule{ID: "r1"}, At: &at}
	}
}

// routes opens an action that waits for its route, puts it off, or ends it.
func (w *walk) routes(run int, id string) {
	how := rapid.IntRange(0, 4).Draw(w.rt, "route")
	_ = w.decide("route", func(a *Aggregate) (aggregate.Change, error) {
		x := a.Unrouted()
		w.require(x == nil || x.ApprovedBy == "" && x.Claim == nil, "route", "%+v goes on without a route", x)
		switch how {
		case 0:
			return a.WaitForRoute(run, id, w.now.Add(time.Minute), w.now)
		case 1:
			return a.RefuseByRule(run, id, ErrByRules{Why: task.ReasonRuleRefuses}, "no", 3, w.now)
		}
		return a.OpenOnRoute(run, id, nil, terms(w.now), w.now)
	})
}

// goesOn opens an action that waits for its route, or else answers what waits.
func (w *walk) goesOn(a *Aggregate) (aggregate.Change, error) {
	if x := a.LooksUp(w.now); x != nil {
		return a.OpenOnRoute(a.Head.Run, x.ActionID, nil, terms(w.now), w.now)
	}
	return a.Answered(a.Head.Run, a.Waiting(), Answer{Text: "ok"}, w.now)
}

// Until an action has its route nobody is asked, and nobody decides on it; no other is proposed.
func TestNobodyIsAskedAboutAnActionBeforeItHasItsRoute(t *testing.T) {
	tb := unrouted(t, time.Minute)
	a := tb.load()
	x := a.Unrouted()
	expect.Must(t, x != nil && a.Pending() == nil && x.Rule == "" && x.Gate.Terms.DecideBy == nil &&
		x.Gate.AskedAt == nil && x.Gate.Terms.Rule.Name == "外部への書き込み", "%+v", a.Actions)
	_, asked := a.Asks()
	expect.That(t, !asked && len(x.Indexes(&a.Head)) == 0 && a.GateWith(x.ActionID).AskedAt == nil, "people are asked")
	expect.Same(t, a.Offers()[0].Act, ActCancel)
	expect.Is(t, len(a.Offers()), 2, "what is offered beside cancelling and closing")
	for _, decide := range []func() (aggregate.Change, error){
		func() (aggregate.Change, error) { return approving(tb, x, person(suzuki), policy) },
		func() (aggregate.Change, error) { return a.Reject(x.ActionID, "no", person(suzuki), policy, tb.now) },
		func() (aggregate.Change, error) { return tb.acting(circulation.Stamp, suzuki)(a) },
		func() (aggregate.Change, error) {
			return a.Propose(*proposal(ShellCommand, start, ""), person(sato), policy, start)
		},
	} {
		_, err := decide()
		expect.That(t, err != nil, "it is decided")
	}
	tb.now = tb.now.AddDate(0, 0, 100)
	_, err := tb.load().Expire(tb.now)
	expect.Fails(t, err, aggregate.ErrNotDue)
}

// The conversation rests until it is tried again, and what people write meanwhile is answered.
func TestARunLooksUpWhomARuleAsksOnceItsTimeHasCome(t *testing.T) {
	tb := unrouted(t, time.Minute)
	a := tb.load()
	expect.That(t, a.Head.Resting && a.Effects(tb.now).Begin == nil && a.LooksUp(tb.now) == nil, "it is looked up at once")
	expect.Is(t, *a.DueAt(tb.now), tb.now.Add(time.Minute), "due")
	tb.toldBy(sato, "and?")
	expect.NoError(t, tb.begin())
	a = tb.load()
	expect.That(t, a.Next(tb.now).State == StateAnswer && a.LooksUp(tb.now) == nil, "people have to wait for Slack")
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.Answered(a.Head.Run, a.Waiting(), Answer{Text: "ok", Usage: tb.used()}, tb.now)
	})
	expect.That(t, tb.head.Resting, "it goes on")

	tb.now = tb.now.Add(2 * time.Minute)
	a = tb.load()
	expect.That(t, a.Next(tb.now).State == StateAnswer && a.Effects(tb.now).Begin != nil, "nobody is looked up")
	expect.NoError(t, tb.begin())
	wait := func(a *Aggregate) (aggregate.Change, error) {
		return a.WaitForRoute(a.Head.Run, a.Actions[0].ActionID, tb.now.Add(5*time.Minute), tb.now)
	}
	tb.makes(wait)
	expect.That(t, tb.head.Resting && tb.load().LooksUp(tb.now) == nil, "it doesn't rest")
	expect.Is(t, *tb.load().DueAt(tb.now), tb.now.Add(5*time.Minute), "due")
	tb.now = tb.load().Actions[0].CreatedAt.Add(MostLookingUp)
	expect.NoError(t, tb.begin())
	_, err := wait(tb.load())
	expect.Fails(t, err, ErrAged)
}

// The gate opens once, with its route, under the settings of that moment.
func TestAnActionOpensAlongTheRouteThatWasLookedUp(t *testing.T) {
	tb := unrouted(t, 0)
	expect.That(t, !tb.head.Resting, "the run rests although it has to look people up")
	tb.now = tb.now.Add(time.Hour)
	_, err := tb.opensOn(&aggregate.Opening{Rule: circulation.Rule{ID: "r1"}, Route: along(desk(suzuki)).Route,
		Askers: []circulation.Person{{User: tanaka}}})(tb.load())
	expect.Fails(t, err, aggregate.ErrOnRoute)
	c := expect.Value(tb.opensOn(along(desk(suzuki)))(tb.load()))(t)
	expect.That(t, len(c.Owned) == 2 && c.Owned[0].Key == tenancy.SettingsKey && c.Owned[1].Rev == 4, "%+v", c.Owned)
	other := tb.load()
	_, err = other.OpenOnRoute(tb.head.Run+1, other.Actions[0].ActionID, along(desk(suzuki)), terms(tb.now), tb.now)
	expect.Fails(t, err, aggregate.ErrSuperseded)

	tb.makes(tb.opensOn(along(desk(suzuki))), "action.routed")
	x := tb.load().Pending()
	expect.Must(t, x != nil && x.LookUpAt == nil && x.Gate.AskedAt.Equal(tb.head.ChangedAt) && x.Gate.AskedSum == x.Sum(),
		"%+v", x)
	expect.That(t, x.Gate.Terms.DecideBy != nil && tb.head.Resting,
		"%+v", x.Gate)
	_, err = tb.opensOn(along(desk(suzuki)))(tb.load())
	expect.Fails(t, err, aggregate.ErrSuperseded)
	tb.makes(tb.acting(circulation.Stamp, suzuki), "action.approved")
	expect.NoError(t, tb.begin())
	expect.NoError(t, tb.claim("i1"))
}

// Where the rules have ended meanwhile, people are asked as the settings say.
func TestAnActionOpensWithoutARuleWhereThereIsNoneAnyMore(t *testing.T) {
	tb := unrouted(t, 0)
	tb.makes(tb.opensOn(nil))
	x := tb.load().Pending()
	expect.Must(t, x != nil && !x.Gate.Ruled() && x.Gate.Terms.DecideBy != nil, "%+v", x)
	expect.NoError(t, tb.approve(x, suzuki))
}

// What the rules refuse ends with a word to the agent, who has a turn for it; of Slack's silence it has none.
func TestAnActionAboutWhichNobodyIsAskedEnds(t *testing.T) {
	for why, turns := range map[aggregate.Reason]bool{task.ReasonRuleRefuses: true, ReasonSilent: false} {
		tb := unrouted(t, 0)
		tb.makes(tb.refusesAs(why), "action.cancelled")
		a := tb.load()
		x := a.Actions[0]
		expect.That(t, a.Current() == nil && x.Status == ActionCancelled && x.CancelReason == why &&
			a.Conversation.Refused == 1 && x.Gate.Terms.Rule.Name == "経理" && x.ErrorDetail == "購買部へ" &&
			a.Conversation.PendingActionID == "", "%+v", x)
		expect.Is(t, len(a.Inbox) == 1, turns, why)
		expect.Is(t, a.Head.Resting, !turns, why)
		for locale, want := range map[string]string{
			"ja": "操作 #1 は、だれにも承認を依頼できなかったため、取り消されました。理由: 購買部へ。",
			"en": "Action #1 was cancelled because nobody could be asked about it. Reason: 購買部へ。",
		} {
			said := *x
			said.whyRefused = "購買部へ。"
			expect.Is(t, said.told(locale).Content, want)
		}
	}
}

// An agent whose proposals are refused again and again is not asked for another.
func TestProposalsThatAreRefusedLaterCountAsRefused(t *testing.T) {
	tb := unrouted(t, 0)
	for n := 1; n <= mostRefused+1; n++ {
		tb.must(func(a *Aggregate) (aggregate.Change, error) {
			no := ErrByRules{Why: task.ReasonRuleRefuses}
			return a.RefuseByRule(a.Head.Run, a.Current().ActionID, no, "no", 3, tb.now)
		})
		expect.That(t, tb.head.Resting == (n > mostRefused), "%d: %+v", n, tb.head)
		if n <= mostRefused {
			p := proposal(ShellCommand, tb.now, "")
			p.LookUp = &LookUp{Rule: circulation.Rule{ID: "r1"}}
			tb.turn("", Answer{Proposal: p})
		}
	}
}

// What a person proposes is looked up by a run, and is no business of the agent's when it is refused.
func TestWhatAPersonProposesIsLookedUpByARun(t *testing.T) {
	tb := opened(t)
	tb.turn("", Answer{})
	p := *proposal(ShellCommand, tb.now, "")
	p.LookUp = &LookUp{Rule: circulation.Rule{ID: "r1", Name: "経理"}}
	propose := func(a *Aggregate) (aggregate.Change, error) { return a.Propose(p, person(suzuki), policy, tb.now) }
	tb.makes(propose, "action.proposed")
	expect.That(t, expect.Value(propose(tb.load()))(t).Empty(), "the same form makes another")
	a := tb.load()
	expect.That(t, a.LooksUp(tb.now) != nil && a.Effects(tb.now).Begin != nil, "no run begins")
	expect.NoError(t, tb.begin())
	tb.makes(tb.refusesAs(task.ReasonNoRoute), "action.cancelled")
	expect.That(t, len(tb.load().Inbox) == 0 && tb.load().Conversation.Refused == 0, "the agent has a turn")
}

// Stopping, cancelling and closing end it, and so does a run that fails again and again.
func TestAnActionThatWaitsForItsRouteCanBeEnded(t *testing.T) {
	for name, end := range map[string]func(tb *table, a *Aggregate) (aggregate.Change, error){
		"stop":  func(tb *table, a *Aggregate) (aggregate.Change, error) { return a.Stop(person(sato), policy, tb.now) },
		"close": func(tb *table, a *Aggregate) (aggregate.Change, error) { return a.End(person(sato), policy, tb.now) },
		"failed": func(tb *table, a *Aggregate) (aggregate.Change, error) {
			return a.GiveUp(a.Head.Run, ReasonRunFailed, tb.now)
		},
		"cancel": func(tb *table, a *Aggregate) (aggregate.Change, error) {
			return a.Cancel(a.Current().ActionID, person(sato), policy, tb.now)
		},
	} {
		tb := unrouted(t, 0)
		tb.must(func(a *Aggregate) (aggregate.Change, error) { return end(tb, a) })
		a := tb.load()
		expect.That(t, a.Current() == nil && a.Actions[0].Status == ActionCancelled && a.LooksUp(tb.now) == nil,
			"%s: %+v", name, a.Actions[0])
		_, err := tb.opensOn(along(desk(suzuki)))(a)
		expect.That(t, err != nil, "%s: it opens after that", name)
	}
}

// Whatever the settings would let go by themselves, an action that a rule of the tenant takes waits for its people. The
// system, the agent and a click approve nothing there.
func TestWhatTheSettingsApproveWaitsUnderARule(t *testing.T) {
	for _, typ := range []ActionType{CodeGenerate, TestRun, ShellCommand} {
		for _, rule := range []string{"", "tests run by themselves"} {
			tb := opened(t)
			p := proposal(typ, tb.now, rule)
			p.Terms.ApprovalHours, p.Terms.ApprovalRequired, p.Opening = 72, false, along(desk(suzuki))
			expect.NoError(t, tb.answer(p))
			x := tb.load().Current()
			expect.Must(t, x != nil && x.Status == ActionPending && x.Waits() && x.Rule == "" && x.ApprovedBy == "" &&
				x.Gate.Terms.ApprovalRequired, "%s, by %q: %+v", typ, rule, x)
			for _, by := range []aggregate.Actor{aggregate.System(), {Type: aggregate.ActorAgent, ID: "codex"}, person(suzuki)} {
				_, err := approving(tb, x, by, policy)
				expect.That(t, err != nil, "%s: %s approves it", typ, by.Type)
				act := circulation.Act{Kind: circulation.Stamp, Hand: circulation.Person{User: by.ID},
					Principal: circulation.Person{User: by.ID}, Stage: 1, Hash: x.Gate.AskedSum}
				_, err = tb.load().Act(x.ActionID, act, by, policy, tb.now)
				expect.That(t, (err == nil) == (by.Type == aggregate.ActorUser), "%s: %s stamps it: %v", typ, by.Type, err)
			}
			_, err := tb.load().Claim(tb.head.Run, "i1", tb.now.Add(time.Minute), tb.now)
			expect.That(t, err != nil, "%s: it is claimed", typ)
		}
	}
}

// It is known later that some of them are apps: whom they pushed out is forgotten all the same, so nothing is asked
// along a route, neither an action nor what is offered.
func TestNobodyIsForgottenBehindApps(t *testing.T) {
	tb := opened(t)
	tb.turn(suzuki, Answer{})
	var apps []string
	for i := range rules.MaxAskers + 1 {
		id := fmt.Sprintf("U_%03d", i)
		if i%2 == 0 {
			apps = append(apps, id)
		}
		tb.turn(id, Answer{})
	}
	tb.toldBy(tanaka, "please")
	expect.NoError(t, tb.begin())
	tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.LeaveOut(a.Head.Run, apps, tb.now) })
	a := tb.load()
	expect.That(t, len(a.RouteAskersAfter(a.Waiting(), "")) > rules.MaxAskers, "a route opens without Suzuki")
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.Answered(a.Head.Run, a.Waiting(), Answer{Text: "ok", Request: "pay", Usage: tb.used()}, tb.now)
	})
	made, _ := tb.makesRequest(tanaka)
	r := task.Request{User: made.MadeBy, EventID: task.OfferedIn("x"), RouteAskers: made.RouteAskers, Apps: apps}
	r.AddRouteAskers()
	expect.That(t, len(r.RouteAskers) >= rules.MaxAskers, "a route opens without Suzuki: %d", len(r.RouteAskers))
	few := task.Request{User: tanaka, EventID: task.OfferedIn("x"), RouteAskers: apps, Apps: apps}
	few.AddRouteAskers()
	expect.Is(t, len(few.RouteAskers), 0)
}

// An action whose row and head are of different moments, as a read may have them, is not claimed.
func TestAClaimOverATornReadOfARouteRunsNothing(t *testing.T) {
	tb := circulating(t, along(desk(suzuki), desk(tanaka)))
	tb.makes(tb.acting(circulation.Stamp, suzuki), "action.stamped")
	tb.makes(tb.acting(circulation.Stamp, tanaka), "action.approved")
	expect.NoError(t, tb.begin())
	key, torn := tb.load().Current().Key(), 0
	for head := range tb.images {
		for row := range tb.images {
			was := tb.images[head]
			if tb.images[row].rows[key] == was.rows[key] {
				continue
			}
			a := &Aggregate{Head: was.head}
			for k, r := range was.rows {
				if k != key {
					a.Add(r)
				}
			}
			if x := tb.images[row].rows[key]; x != nil {
				a.Add(x)
			}
			torn++
			c, err := a.Claim(a.Head.Run, "i1", tb.now.Add(time.Minute), tb.now)
			if err == nil {
				err = tb.commit(a.Head, c)
			}
			expect.That(t, err != nil, "the head of %d with the action of %d: it is claimed", head, row)
		}
	}
	expect.That(t, torn > 8, "only %d torn reads", torn)
	_, err := tb.load().Claim(tb.head.Run, "i1", tb.now.Add(time.Minute), tb.now)
	expect.NoError(t, err)
}
