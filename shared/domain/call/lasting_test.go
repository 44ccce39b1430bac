package call

import (
	"errors"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// A call goes no further than its key: it ends once the key is revoked, has ended or lost the tool.
func TestACallEndsWithItsKey(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(k *tenancy.Key, now time.Time)
		why    aggregate.Reason
	}{
		"revoked":       {func(k *tenancy.Key, now time.Time) { k.RevokedAt = &now }, ReasonKey},
		"ended":         {func(k *tenancy.Key, now time.Time) { k.ExpiresAt = now }, ReasonKey},
		"lost the tool": {func(k *tenancy.Key, _ time.Time) { k.Tools = []string{"write_rows"} }, ReasonKeyTool},
		"muted":         {func(k *tenancy.Key, _ time.Time) { k.Muted = true }, ""},
	} {
		for _, stamped := range []bool{false, true} {
			w := asked(t, asking(t, "Bash", `{"command":"rm x"}`))
			if stamped {
				expect.NoError(t, w.act(circulation.Stamp, suzuki, ""))
			}
			tt.change(&w.key, w.now)
			taken := *w
			_, over := errors.AsType[tenancy.ErrKey](taken.take("one"))
			expect.That(t, over == (tt.why != ""), "%s: taken", name)
			for range 2 {
				w.must(func(a *Aggregate) (aggregate.Change, error) { return a.Follow(w.key, w.answers(), w.now) })
			}
			ends := tt.why != ""
			expect.That(t, w.a.Call.CancelReason == tt.why && w.a.Call.Over() == ends && (w.open == 0) == ends,
				"%s: %+v", name, w.a.Call)
		}
	}
	w := asked(t, asking(t, "Bash", `{"command":"rm x"}`))
	w.key.ExpiresAt = w.now.Add(time.Hour)
	w.must(func(a *Aggregate) (aggregate.Change, error) { return a.Follow(w.key, w.answers(), w.now) })
	w.a.Head.ShownRev = w.a.Head.Rev
	expect.That(t, w.a.DueAt(w.now).Equal(w.key.ExpiresAt), "due %s", w.a.DueAt(w.now))
	expect.Fails(t, w.do(func(a *Aggregate) (aggregate.Change, error) { return a.keyEnds(w.now) }), aggregate.ErrNotDue)
	w.now = w.key.ExpiresAt
	w.must(func(a *Aggregate) (aggregate.Change, error) { return a.keyEnds(w.now) })
	expect.Is(t, w.a.Call.CancelReason, ReasonKey)
}

// A call on which nobody acted is forgotten in time; where people acted it stays as long as the audit log.
func TestWhatNobodyActedOnIsForgotten(t *testing.T) {
	cancel := func(a *Aggregate) (aggregate.Change, error) { return a.Cancel("k1", start) }
	for acted, forgotten := range map[bool]bool{false: true, true: false} {
		w := asked(t, asking(t, "write_rows", `{"a":1}`, func(x *Proposal) { x.Keep = 30 }))
		if acted {
			expect.NoError(t, w.act(circulation.Stamp, suzuki, ""))
		}
		w.must(cancel)
		w.a.Head.ShownRev = w.a.Head.Rev
		at := w.a.Call.CompletedAt.AddDate(0, 0, 30)
		expect.That(t, !w.a.Forgotten(at.Add(-1)) && w.a.Forgotten(at) == forgotten &&
			(w.a.Effects(at).Erased != nil) == forgotten && (w.a.DueAt(w.now) != nil) == forgotten, "acted %t", acted)
	}
}

// Whoever answers for the key now stamps no call of it, nor does anybody for them; they may send it back.
func TestWhoAnswersNowIsAnAskerToo(t *testing.T) {
	w := asked(t, asking(t, "write_rows", `{"a":1}`))
	now := policy
	now.Answers.User = suzuki
	act := func(kind circulation.Kind) error {
		return w.do(func(a *Aggregate) (aggregate.Change, error) {
			return a.Act(a.Head.CallID, a.Call.Gate.Acting(kind, person(suzuki), "不要"), person(suzuki), now, w.now)
		})
	}
	expect.Fails(t, act(circulation.Stamp), aggregate.ErrNotAllowed{Rule: aggregate.RuleAnswers})
	expect.NoError(t, act(circulation.SendBack))
}

// Who answered for the key when a call was asked for and who answers now may cancel it, also under a rule, and nobody
// who answered in between.
func TestItsAskersCancelACall(t *testing.T) {
	const between, now = "U_BETWEEN", "U_NOW"
	for _, ruled := range []bool{false, true} {
		for who, may := range map[string]bool{sato: true, between: false, now: true} {
			for _, noted := range []bool{false, true} {
				w := asked(t, asking(t, "Bash", `{"command":"rm x"}`, func(x *Proposal) {
					if ruled {
						x.Opening = &aggregate.Opening{Rule: circulation.Rule{ID: "r", Name: "r", Revision: 1},
							Askers: []circulation.Person{{User: sato}}, Route: circulation.Route{Form: circulation.Form, Hands: 1,
								Stages: []circulation.Stage{{Mode: circulation.ModePeople, Need: 1,
									People: []circulation.Person{{User: suzuki}}}}}}
					}
				}))
				w.key.Answers = between
				w.must(func(a *Aggregate) (aggregate.Change, error) { return a.Follow(w.key, w.answers(), w.now) })
				w.key.Answers = now
				p, by := policy, person(who)
				if by.Member = false; noted { // whoever draws a page knows no more
					w.must(func(a *Aggregate) (aggregate.Change, error) { return a.Follow(w.key, w.answers(), w.now) })
				} else {
					p.Answers = w.answers().Person
				}
				expect.Is(t, w.a.Call.AnsweredBy(who), who == sato || noted == (who == now), who)
				_, err := w.a.End(by, p, w.now)
				_, refused := errors.AsType[aggregate.ErrNotAllowed](err)
				expect.That(t, refused != may && (err == nil) == may, "%s, ruled %t, noted %t: %v", who, ruled, noted, err)
			}
		}
	}
}

// Nobody who answers for the key now has a stamp that counts: not the only one, not one of several, not by another
// account. The call ends, whoever comes first: who takes it, who gives it the next stamp, or who follows the key.
func TestAStampOfWhoAnswersNowDoesNotCount(t *testing.T) {
	people := func(all ...circulation.Person) (stages []circulation.Stage) {
		for _, p := range all {
			stages = append(stages, circulation.Stage{Mode: circulation.ModePeople, Need: 1, People: []circulation.Person{p}})
		}
		return stages
	}
	of, takada := circulation.Person{User: suzuki}, circulation.Person{User: "U_TAKADA"}
	for name, tt := range map[string]struct {
		stages  []circulation.Stage // none: the settings say who stamps
		stamps  []circulation.Person
		answers circulation.Person // who answers for the key after these stamps
		self    bool               // the settings let people stamp what they ask for
		ends    bool
	}{
		"the only stamp":              {nil, []circulation.Person{of}, of, false, true},
		"where the settings allow it": {nil, []circulation.Person{of}, of, true, false},
		"the stamp of somebody else":  {nil, []circulation.Person{of}, takada, false, false},
		"all stamps":                  {people(of, takada), []circulation.Person{of, takada}, of, false, true},
		"the first stamp":             {people(of, takada), []circulation.Person{of}, of, false, true},
		"somebody else on the route":  {people(of), []circulation.Person{of}, takada, false, false},
	} {
		for _, tool := range []string{"Bash", "write_rows"} {
			w := asked(t, asking(t, tool, `{"command":"rm x"}`, func(x *Proposal) {
				if tt.stages != nil {
					x.Opening = &aggregate.Opening{Rule: circulation.Rule{ID: "r", Name: "r", Revision: 1},
						Askers: []circulation.Person{{User: sato}},
						Route:  circulation.Route{Form: circulation.Form, Hands: len(tt.stages), Stages: tt.stages}}
				}
			}))
			stamp := func(p circulation.Person, stage int) error {
				return w.do(func(a *Aggregate) (aggregate.Change, error) {
					now, by := policy, person(p.User)
					now.AllowSelf, now.Answers, by.Stage = tt.self, w.answers().Person, stage
					act := a.Call.Gate.Acting(circulation.Stamp, by, "")
					return a.Act(a.Head.CallID, act, by, now, w.now)
				})
			}
			for i, p := range tt.stamps {
				expect.NoError(t, stamp(p, i+1))
			}
			w.key.Answers, w.as = tt.answers.User, tt.answers.Person
			followed := *w
			followed.must(func(a *Aggregate) (aggregate.Change, error) { return a.Follow(w.key, w.answers(), w.now) })
			expect.Is(t, followed.a.Call.CancelReason == ReasonKeySelf && followed.open == 0, tt.ends, name+" followed")
			if left := len(tt.stages) - len(tt.stamps); left > 0 {
				expect.NoError(t, stamp(takada, 2))
				expect.Is(t, w.a.Call.CancelReason, ReasonKeySelf, name)
				continue
			}
			begins := map[string]func(a *Aggregate) (aggregate.Change, error){
				"Bash": func(a *Aggregate) (aggregate.Change, error) {
					return a.Numbering(task.Series{Year: 2026}).Take(w.key, w.answers(), "one", w.now)
				},
				"write_rows": func(a *Aggregate) (aggregate.Change, error) {
					return a.Numbering(task.Series{Year: 2026}).Claim(a.Head.Run, "one", w.answers(), w.now.Add(time.Minute), w.now)
				}}[tool]
			if err := w.do(begins); tt.ends {
				expect.Fails(t, err, ErrSelf, name)
			} else {
				expect.NoError(t, err)
			}
		}
	}
}

// Who answers for the key now puts nobody in who stamps its calls, before or after they answer for it.
func TestWhoAnswersNowPutsInNobodyWhoStamps(t *testing.T) {
	const admin, friend = "U_ADMIN", "U_FRIEND"
	hand := circulation.Person{User: admin}
	for name, put := range map[string]string{"": "", "once they answer": admin, "before": sato} {
		w := asked(t, asking(t, "Bash", `{"command":"rm x"}`, func(x *Proposal) {
			x.Opening = &aggregate.Opening{Rule: circulation.Rule{ID: "r", Name: "r", Revision: 1},
				Askers: []circulation.Person{{User: sato}},
				Route: circulation.Route{Form: circulation.Form, Hands: 1, Stages: []circulation.Stage{
					{Mode: circulation.ModePeople, Need: 1, People: []circulation.Person{{User: suzuki}}}}}}
		}))
		if w.key.Answers = put; put == "" {
			w.key.Answers = sato
		}
		p := policy
		p.Answers = w.answers().Person
		err := w.do(func(a *Aggregate) (aggregate.Change, error) {
			return a.Act(a.Head.CallID, circulation.Act{Kind: circulation.Stand, Hand: hand, Principal: hand, Stage: 1,
				Hash: a.Call.Gate.AskedSum, Text: "異動", For: &circulation.Person{User: suzuki},
				To:    &circulation.Person{User: friend, Via: "named"},
				Found: circulation.Found{Resolved: "named", Admin: &circulation.Admin{Key: "TENANT", Rev: 7}}},
				person(admin), p, w.now)
		})
		if put == admin {
			refused, _ := errors.AsType[*circulation.Refusal](err)
			expect.That(t, refused != nil && refused.Why == circulation.WhySelf, "%s: %v", name, err)
			continue
		}
		expect.NoError(t, err)
		if put == sato {
			w.key.Answers = admin
		}
		expect.NoError(t, w.act(circulation.Stamp, friend, ""))
		expect.Is(t, w.a.Call.CancelReason == ReasonKeySelf, put == sato, name)
	}
}

// A stamp by a delegation that who answers for the key now set, or whose hand reports to them, ends the call.
func TestAStampOfAStandInThatWhoAnswersNowChoseDoesNotCount(t *testing.T) {
	const key = "U_FRIEND#U_SUZUKI#2026-11-25"
	for unfit, ends := range map[string]bool{"other": false, key: true} {
		w := asked(t, asking(t, "Bash", `{"command":"rm x"}`, func(x *Proposal) {
			x.Opening = &aggregate.Opening{Rule: circulation.Rule{ID: "r", Name: "r", Revision: 1},
				Askers: []circulation.Person{{User: sato}},
				Route: circulation.Route{Form: circulation.Form, Hands: 1, Stages: []circulation.Stage{
					{Mode: circulation.ModePeople, Need: 1, People: []circulation.Person{{User: suzuki}}}}}}
		}))
		w.must(func(a *Aggregate) (aggregate.Change, error) {
			act := a.Call.Gate.Acting(circulation.Stamp, person("U_FRIEND"), "")
			act.Principal.User, act.Stage = suzuki, 1
			act.Found.Delegation = &circulation.Delegation{Key: "U_FRIEND#" + suzuki + "#2026-11-25", Rev: 1}
			return a.Act(a.Head.CallID, act, person("U_FRIEND"), policy, w.now)
		})
		if w.key.Answers = "U_ADMIN"; unfit == key {
			unfit = w.a.Call.Gate.Acts[0].Found.Delegation.Key
		}
		w.unfit = []string{unfit}
		if err := w.take("one"); ends {
			expect.Fails(t, err, ErrSelf)
		} else {
			expect.NoError(t, err)
		}
	}
}
