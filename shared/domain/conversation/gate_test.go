package conversation

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

func desk(users ...string) circulation.Stage {
	s := circulation.Stage{Name: strings.Join(users, "・"), Mode: circulation.ModePeople, Need: 1}
	for _, user := range users {
		s.People = append(s.People, circulation.Person{User: user, Via: "group @keiri"})
	}
	return s
}

// along returns an opening that asks these stages for what Sato's message led to.
func along(stages ...circulation.Stage) *aggregate.Opening {
	return &aggregate.Opening{
		Rule: circulation.Rule{ID: "r1", Name: "外部への書き込み", Revision: 3}, Askers: []circulation.Person{{User: sato}},
		Route: circulation.Route{Form: circulation.Form, Hands: len(stages), Stages: stages},
	}
}

// circulating returns a conversation with an action that waits under a rule.
func circulating(t expect.T, o *aggregate.Opening) *table {
	t.Helper()
	tb := opened(t)
	p := proposal(ShellCommand, tb.now, "")
	p.Terms.ApprovalHours, p.Opening = 72, o
	expect.NoError(t, tb.answer(p))
	return tb
}

// acting returns what a person does on the newest action, at the stage that is asked or else the first.
func (tb *table) acting(kind circulation.Kind, user string,
	change ...func(act *circulation.Act)) func(a *Aggregate) (aggregate.Change, error) {
	return func(a *Aggregate) (aggregate.Change, error) {
		x := a.Actions[len(a.Actions)-1]
		st := circulation.Walk(x.Gate.Circulating())
		act := circulation.Act{Kind: kind, Hand: circulation.Person{User: user},
			Principal: circulation.Person{User: user},
			Stage:     max(1, st.Present), Hash: x.Gate.AskedSum}
		if kind != circulation.Stamp {
			act.Text = " 理由 "
		}
		for _, c := range change {
			c(&act)
		}
		return a.Act(x.ActionID, act, person(user), policy, tb.now)
	}
}

func at(stage int) func(act *circulation.Act) {
	return func(act *circulation.Act) { act.Stage = stage }
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

func (tb *table) why(decide func(a *Aggregate) (aggregate.Change, error), want circulation.Why) {
	tb.t.Helper()
	_, err := decide(tb.load())
	refused, _ := errors.AsType[*circulation.Refusal](err)
	expect.That(tb.t, refused != nil && refused.Why == want, "%v, want %s", err, want)
}

func TestAnActionIsSettledAlongItsRoute(t *testing.T) {
	tb := circulating(t, along(desk(suzuki), desk(tanaka)))
	x := tb.load().Current()
	expect.That(t, x.Gate.Ruled() && x.Gate.Status == aggregate.PendingApproval &&
		x.Gate.Terms.DecideBy.Equal(x.Gate.AskedAt.AddDate(0, 0, 3)), "%+v", x.Gate)
	tb.why(tb.acting(circulation.Stamp, tanaka), circulation.WhyTurn)
	tb.why(tb.acting(circulation.Stamp, sato), circulation.WhySelf)
	tb.makes(tb.acting(circulation.Stamp, suzuki), "action.stamped")
	tb.makes(tb.acting(circulation.Stamp, suzuki, at(1)))
	expect.That(t, tb.load().Current().Status == ActionPending, "one of two is enough")
	tb.makes(tb.acting(circulation.Stamp, tanaka), "action.approved")
	x = tb.load().Current()
	expect.That(t, x.Status == ActionApproved && x.ApprovedBy == ApprovedByUser && x.Gate.ApprovedBy == tanaka &&
		len(x.Gate.Acts) == 2, "%+v", x.Gate)
	tb.makes(tb.acting(circulation.Stamp, tanaka, at(2)))
	expect.NoError(t, errors.Join(tb.begin(), tb.claim("i1")))
	_, err := tb.load().Cancel(x.ActionID, person(sato), policy, tb.now)
	expect.NoError(t, err)
}

// The agent has a turn for the reason of what is sent back, and of what is denied it is only told.
func TestAnActionIsSentBackOrDenied(t *testing.T) {
	for kind, c := range map[circulation.Kind]struct {
		entry string
		why   aggregate.Reason
		turn  bool
	}{circulation.SendBack: {"action.rejected", ReasonRejected, true}, circulation.Deny: {"action.denied",
		ReasonDenied, false}} {
		tb := circulating(t, along(desk(suzuki), desk(tanaka)))
		tb.makes(tb.acting(circulation.Stamp, suzuki), "action.stamped")
		said := len(tb.lists)
		tb.makes(tb.acting(kind, tanaka), c.entry)
		a := tb.load()
		x := a.Actions[0]
		expect.That(t, x.Status == ActionCancelled && x.CancelReason == c.why && x.CancelledBy == tanaka &&
			x.ErrorDetail == "理由" &&
			x.Gate.Status == aggregate.Rejected && x.Gate.RejectedBy == tanaka && a.Current() == nil, "%s: %+v", kind,
			x)
		expect.Is(t, len(tb.lists), said+1, kind, "messages")
		expect.Is(t, len(a.Inbox) > 0, c.turn, kind, "the agent has a turn")
		expect.Is(t, a.Next(tb.now).State == StateAnswer, c.turn, kind)
		tb.makes(tb.acting(kind, tanaka, at(2)))
		_, err := tb.acting(circulation.Deny, tanaka, at(1))(a)
		expect.Fails(t, err, aggregate.ErrDecided{Status: "rejected", By: tanaka, At: *x.Gate.RejectedAt})
	}
}

func succeeds(replaced, by string) func(act *circulation.Act) {
	return func(act *circulation.Act) {
		act.For, act.To = &circulation.Person{User: replaced}, &circulation.Person{User: by, Via: "group S1"}
		act.Found.Admin, act.Found.Resolved = &circulation.Admin{Key: "TENANT", Rev: 7}, act.To.Via
	}
}

func TestASuccessorIsPutInByAnAdministrator(t *testing.T) {
	tb := circulating(t, along(desk(suzuki), desk(tanaka)))
	tb.makes(tb.acting(circulation.Stand, "U_ADMIN", succeeds(suzuki, "U_KATO")), "action.reassigned")
	tb.why(tb.acting(circulation.Stamp, suzuki), circulation.WhyRoute)
	tb.makes(tb.acting(circulation.Stamp, "U_KATO"), "action.stamped")
}

// No rule of the settings approves what goes along a route, and it opens only with one that can be walked.
func TestAnActionOpensOnlyWithItsRoute(t *testing.T) {
	tb := opened(t)
	p := proposal(TestRun, tb.now, "test_run")
	p.Payload.JSON = `{"argv":["make"],"timeout_seconds":60}`
	p.Terms.ApprovalHours, p.Opening = 72, along(desk(suzuki))
	a := tb.load()
	c := expect.Value(a.Answered(a.Head.Run, a.Waiting(), Answer{Text: "ok", Usage: tb.used(), Proposal: p}, tb.now))(t)
	var entries []string
	for _, e := range c.Audit {
		if strings.HasPrefix(string(e.Action), "action.") {
			entries = append(entries, string(e.Action))
		}
	}
	expect.Same(t, entries, []string{"action.proposed", "action.routed"})
	for name, change := range map[string]func(o *aggregate.Opening){
		"no asker":          func(o *aggregate.Opening) { o.Askers = nil },
		"another asker":     func(o *aggregate.Opening) { o.Askers[0].User = tanaka },
		"nobody":            func(o *aggregate.Opening) { o.Route.Stages = nil },
		"too many hands":    func(o *aggregate.Opening) { o.Route.Hands = 2 },
		"only whoever asks": func(o *aggregate.Opening) { o.Route.Stages[0] = desk(sato) },
	} {
		p.Opening = along(desk(suzuki))
		change(p.Opening)
		_, err := a.Answered(a.Head.Run, a.Waiting(), Answer{Text: "ok", Usage: tb.used(), Proposal: p}, tb.now)
		expect.Fails(t, err, aggregate.ErrOnRoute, name)
	}
}

func TestNobodyStampsAnotherPayloadThanIsAsked(t *testing.T) {
	tb := circulating(t, along(desk(suzuki)))
	tb.forged(func(x *Action) { x.Payload = proposal(ShellCommand, start.AddDate(0, 0, 1), "").Payload })
	_, err := tb.acting(circulation.Stamp, suzuki)(tb.load())
	expect.Fails(t, err, aggregate.ErrConflict)
	tb.makes(tb.acting(circulation.Deny, suzuki), "action.denied")
}

func TestWhoIsNoHandDoesNothingOnAnAction(t *testing.T) {
	tb := circulating(t, along(desk(suzuki)))
	x := tb.load().Current()
	act := circulation.Act{Kind: circulation.Stamp, Hand: circulation.Person{User: suzuki},
		Principal: circulation.Person{User: suzuki}, Stage: 1, Hash: x.Gate.AskedSum}
	on := aggregate.Owned{Key: "DELEGATE", Rev: 4}
	c := expect.Value(tb.load().Act(x.ActionID, act, person(suzuki), policy, tb.now, on))(t)
	expect.Same(t, c.Owned, []aggregate.Owned{on})
	guest := person(suzuki)
	guest.Guest = true
	for _, by := range []aggregate.Actor{guest, person(tanaka), aggregate.System()} {
		_, err := tb.load().Act(x.ActionID, act, by, policy, tb.now)
		_, refused := errors.AsType[aggregate.ErrNotAllowed](err)
		expect.That(t, refused, "%+v: %v", by, err)
	}
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.Cancel(x.ActionID, person(sato), policy, tb.now)
	})
	_, err := tb.acting(circulation.Stamp, suzuki)(tb.load())
	_, decided := errors.AsType[aggregate.ErrDecided](err)
	expect.That(t, decided, "%v", err)
}

// Whatever anybody tries on an action under a rule, each act that counts has one entry in its Change, the action is
// approved exactly when its route is settled, and only then it is claimed.
func TestNoOrderOfActsExecutesAnActionWithoutItsStamps(t *testing.T) {
	people := []string{sato, suzuki, tanaka, "U_ITO"}
	kinds := []circulation.Kind{circulation.Stamp, circulation.Stamp, circulation.Stamp, circulation.Stand,
		circulation.SendBack, circulation.Deny, "other"}
	expect.Walks(t, func(reached map[ActionStatus]int) {
		rapid.Check(t, func(rt *rapid.T) {
			first := desk(rapid.SliceOfNDistinct(rapid.SampledFrom(people[1:]), 2, 3, rapid.ID[string]).Draw(rt,
				"people")...)
			first.Need = rapid.IntRange(1, 2).Draw(rt, "need")
			o := along(first, desk(tanaka, suzuki))
			o.Route.Hands = rapid.IntRange(1, 2).Draw(rt, "hands")
			tb := circulating(rt, o)
			for range rapid.IntRange(1, 20).Draw(rt, "acts") {
				a := tb.load()
				was := *a.Actions[0]
				stage := rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(rt, "stage")
				c, err := tb.acting(rapid.SampledFrom(kinds).Draw(rt, "kind"), rapid.SampledFrom(people).Draw(rt, "hand"),
					func(act *circulation.Act) {
						if stage > 0 {
							act.Stage = stage
						}
						if act.Kind == circulation.Stand {
							succeeds(rapid.SampledFrom(people).Draw(rt, "for"), rapid.SampledFrom(people).Draw(rt, "to"))(act)
						} else if rapid.IntRange(0, 4).Draw(rt, "instead") == 4 {
							act.Principal.User = rapid.SampledFrom(people).Draw(rt, "principal")
							act.Found.Delegation = &circulation.Delegation{Key: act.Hand.User + "#" + act.Principal.User + "#2026-04-01",
								Rev: 1}
						}
					})(a)
				if err == nil {
					expect.NoError(rt, tb.commit(a.Head, c))
				}
				x := tb.load().Actions[0]
				acted := len(x.Gate.Acts) - len(was.Gate.Acts)
				expect.Must(rt, acted == len(c.Audit) && acted <= 1, "%d acts have %d entries", acted, len(c.Audit))
				if acted == 1 {
					expect.Must(rt, strings.Contains(string(c.Audit[0].Details), circulation.Hash(x.Gate.Acts)),
						"its entry doesn't seal it")
				}
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
				func(g *aggregate.Gate) { g.Acts = g.Acts[1:] }, func(g *aggregate.Gate) { g.Acts[0].Hash = "other" },
				func(g *aggregate.Gate) { g.Route.Hands = 0 }, func(g *aggregate.Gate) { g.Terms.Rule.Revision++ },
				func(*aggregate.Gate) {},
			} {
				forged := tb.load().Actions[0]
				n := *forged
				route, rule := *n.Gate.Route, *n.Gate.Terms.Rule
				n.Gate.Acts, n.Gate.Route, n.Gate.Terms.Rule = slices.Clone(n.Gate.Acts), &route, &rule
				change(&n.Gate)
				a := tb.load()
				a.Add(&n)
				_, err := a.Claim(a.Head.Run, "i1", tb.now, tb.now)
				expect.Must(rt, (err == nil) == (i == 4) && (err == nil || errors.Is(err, aggregate.ErrConflict)),
					"change %d: %v", i, err)
			}
		})
	}, ActionApproved, ActionCancelled, ActionPending)
}

// routed puts the current action under a rule whose route asks Suzuki and then Tanaka.
func (tb *table) routed() {
	desk := func(user string) circulation.Stage {
		return circulation.Stage{Name: user, Mode: circulation.ModePeople, People: []circulation.Person{{User: user}},
			Need: 1}
	}
	tb.forged(func(x *Action) {
		x.Gate.Terms.Rule = &circulation.Rule{ID: "r1", Name: "すべて", Revision: 1}
		x.Gate.Route = &circulation.Route{Form: circulation.Form, Hands: 2,
			Stages: []circulation.Stage{desk(suzuki), desk(tanaka)}}
		x.Gate.Terms.ApprovalHours, x.Gate.AskedSum = 72, x.Sum()
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
					Principal: who, At: tb.now, Stage: i + 1, Hash: x.Gate.AskedSum, Surface: "slack"}))(t)
			}
		})
		return tb
	}
	expect.NoError(t, settled(t).claim("i1"))
	for name, change := range map[string]func(x *Action){
		"another payload": func(x *Action) { x.Payload = proposal(ShellCommand, start.Add(time.Hour), "").Payload },
		"a stamp is gone": func(x *Action) { x.Gate.Acts = x.Gate.Acts[:1] },
		"another's act":   func(x *Action) { x.Gate.Acts[0].Hand.User = sato },
		"as ever": func(x *Action) {
			x.Gate = aggregate.Gate{Status: aggregate.Approved}
		},
		"a rule approved it": func(x *Action) { x.ApprovedBy, x.Rule, x.ActionType = ApprovedByAuto, "test_run", TestRun },
	} {
		tb := settled(t)
		tb.forged(change)
		expect.Fails(t, tb.claim("i1"), aggregate.ErrConflict, "%s is executed", name)
	}
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
