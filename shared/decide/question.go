package decide

import (
	"context"
	"errors"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
)

// Ask asks those whose request it is a question at a gate under a rule, at the stage that the person saw. What the same
// hand asked in the same words before is not asked again.
func Ask(text string) Act {
	ask := said(circulation.Ask, text, circulation.WhyOpenQuestion)
	return func(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		st := walked(a.GateWith(id))
		if slices.ContainsFunc(st.Questions, func(q circulation.Question) bool {
			return q.Answered != nil && q.Asked.Hand.User == by.ID && q.Asked.Text == aggregate.SeenReason(text)
		}) {
			return aggregate.Change{}, nil
		}
		return ask(a, id, by, p, now)
	}
}

// Dissent objects at a stage whose people are only consulted.
func Dissent(text string) Act { return said(circulation.Dissent, text, circulation.WhyTwice) }

// said makes an act whose words stay on the gate. If the same hand did it before in other words, which then would be
// lost, the *circulation.Refusal has the reason again.
func said(kind circulation.Kind, text string, again circulation.Why) Act {
	return func(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		g := a.GateWith(id)
		if !g.Ruled() {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		var done *circulation.Act
		change, err := along(a, id, kind, text, by, p, now, func(act *circulation.Act) {
			c, st := g.Circulating(), walked(g)
			done = st.Again(&c, act)
		})
		if err == nil && change.Empty() && done != nil && done.Text != aggregate.SeenReason(text) {
			return change, &circulation.Refusal{Why: again, Kind: kind, Stage: done.Stage, People: []circulation.Person{done.Hand}}
		}
		return change, err
	}
}

// walked returns where a gate stands; nil stands nowhere.
func walked(g *aggregate.Gate) circulation.State {
	if g == nil {
		return circulation.State{}
	}
	return circulation.Walk(g.Circulating())
}

// Answer answers the gate's question with this number, counted from 1, in the name of one of those whose request it is.
// An answer to one that was answered otherwise changes nothing and returns WhyAnswered with who did.
func Answer(n int, text string) Act {
	return func(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		g, text := a.GateWith(id), aggregate.SeenReason(text)
		if !g.Ruled() {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		no := &circulation.Refusal{Why: circulation.WhyNotAsker, Kind: circulation.Answer}
		hand := circulation.Person{User: by.ID, Person: by.Person}
		i := slices.IndexFunc(g.Askers, hand.Is)
		if i < 0 {
			return aggregate.Change{}, no
		}
		st := walked(g)
		if n < 1 || n > len(st.Questions) {
			no.Why = circulation.WhyNoQuestion
			return aggregate.Change{}, no
		}
		q := &st.Questions[n-1]
		if given := q.Answered; given != nil {
			if given.Hand.User == by.ID && given.Text == text {
				return aggregate.Change{}, nil
			}
			no.Why, no.People = circulation.WhyAnswered, []circulation.Person{given.Hand}
			return aggregate.Change{}, no
		}
		act := g.Acting(circulation.Answer, by, text)
		act.Stage = q.Asked.Stage
		if act.Hand = hand; g.Organised() {
			act.Found.Org = by.Org
		} else {
			act.Hand.Person = g.Askers[i].Person
		}
		if act.Principal = act.Hand; g.Organised() && (hand.Person == "" || by.Org == "") {
			no.Why, no.Lacks = circulation.WhyFound, circulation.LackOrg
			return aggregate.Change{}, no
		}
		return a.Act(id, act, by, p, now, p.On...)
	}
}

// Addition is whom somebody whose turn it is has asked next, for what, and why.
type Addition struct {
	To     string // user
	As     circulation.As
	Reason string
}

// Adds makes the act of an addition. to is the account as the gate's organisation has it today, and version which
// organisation that is; both are empty without one. It returns aggregate.ErrSettings if another one stands for the
// hand.
func Adds(x Addition, to circulation.Person, version string) Act {
	return func(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		switch g := a.GateWith(id); {
		case !g.Ruled():
			return aggregate.Change{}, aggregate.ErrNotFound
		case g.Organised() && by.Org != version:
			return aggregate.Change{}, aggregate.ErrSettings
		}
		return along(a, id, circulation.Add, x.Reason, by, p, now, func(act *circulation.Act) {
			to.Via = task.ViaAdded
			act.To, act.As, act.Found.Resolved = &to, x.As, to.Via
		})
	}
}

// MayAdd checks whether somebody may add anybody. Its change is never committed.
func MayAdd(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	x := Addition{As: circulation.AsConsult, Reason: untyped}
	return Adds(x, circulation.Person{User: untyped, Person: untyped}, by.Org)(a, id, by, p, now)
}

// MayAsk and MayDissent are MayReject for a question and an objection, MayAnswer for the question that waits.
func MayAsk(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	return Ask(untyped)(a, id, by, p, now)
}

func MayDissent(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	return Dissent(untyped)(a, id, by, p, now)
}

func MayAnswer(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	st := walked(a.GateWith(id))
	n := len(st.Questions)
	if st.Open() == nil {
		n++
	}
	return Answer(n, untyped)(a, id, by, p, now)
}

// Add makes an addition for a click; shown makes an act one on what the person saw. Before that it asks Slack whether
// the person is a full member, and the organisation of the day, where the gate has one, who they are.
func (m Maker) Add(ctx context.Context, c Click, x Addition, shown func(Act) Act) (v Verdict) {
	for range 3 {
		a, err := m.load(ctx, c.Ref)
		if err != nil {
			return Verdict{Err: err}
		}
		add, err := m.adds(ctx, a, c, x)
		if err != nil {
			return Verdict{Subject: a, Err: err}
		}
		if v = m.Decide(ctx, c, shown(add)); !errors.Is(v.Err, aggregate.ErrSettings) {
			break
		}
	}
	return v
}

// adds looks up whom an addition adds. Of somebody who can't be added the act says so, if the hand may add at all.
func (m Maker) adds(ctx context.Context, a Subject, c Click, x Addition) (Act, error) {
	refuse := func(why circulation.Why) Act {
		return func(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
			if _, err := MayAdd(a, id, by, p, now); err != nil {
				return aggregate.Change{}, err
			}
			return aggregate.Change{}, &circulation.Refusal{Why: why, Kind: circulation.Add}
		}
	}
	if x.To == "" {
		return refuse(circulation.WhyNotFull), nil
	}
	full, err := m.full(ctx, a.Origin().Team, x.To)
	if err != nil || !full {
		return refuse(circulation.WhyNotFull), err
	}
	member, err := m.member(ctx, a, c.ID, x.To)
	if err != nil {
		return nil, err
	}
	here := member.Person != ""
	if member.Organisation != nil {
		_, here = m.chart(member).Person(member.Person)
	}
	if g := a.GateWith(c.ID); g != nil && g.Organised() && !here {
		return refuse(circulation.WhyNoRow), nil
	}
	return Adds(x, circulation.Person{User: x.To, Person: member.Person}, member.Version), nil
}
