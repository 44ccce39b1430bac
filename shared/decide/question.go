package decide

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"ringi/shared/explain"
	"ringi/shared/slack/people"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/slack/card"
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
			if err = g.Decided(); err != nil {
				return change, err
			}
			return change, &circulation.Refusal{Why: again, Kind: kind, Stage: done.Stage,
				People: []circulation.Person{done.Hand}}
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

// Answer answers the gate's question with this number, counted from 1, in the name of one of those whose request it is,
// or of who answers now for the key by which an outside agent asked. An answer to one that was answered otherwise
// changes nothing and returns WhyAnswered with who did.
func Answer(n int, text string) Act {
	return func(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		g, text := a.GateWith(id), aggregate.SeenReason(text)
		if !g.Ruled() {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		no := &circulation.Refusal{Why: circulation.WhyNotAsker, Kind: circulation.Answer}
		hand := circulation.Person{User: by.ID}
		askers := append(slices.Clip(g.Askers), p.Answers)
		if !slices.ContainsFunc(askers, hand.Is) {
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
		act.Hand, act.Principal = hand, hand
		change, err := a.Act(id, act, by, p, now, p.On...)
		if refused, is := errors.AsType[*circulation.Refusal](err); is {
			refused.Kind = circulation.Answer
		}
		return change, err
	}
}

// RouteAct makes an act along a route that needs words, of a form in Slack or on a page. An answer is to a question,
// whatever else has changed since; the other acts are on what the person saw.
func (m Maker) RouteAct(ctx context.Context, c Click, x card.RouteAct) Verdict {
	var act Act
	switch x.Kind {
	case circulation.Answer:
		return m.Decide(ctx, c, Gate(x.Type, Answer(x.Question, x.Text)))
	case circulation.Ask:
		act = Ask(x.Text)
	case circulation.Dissent:
		act = Dissent(x.Text)
	case card.Minutes:
		if v := m.Check(ctx, c, Shown(x.Type, x.Hash, minuted(x))); v.Err != nil || v.Empty {
			return v // before Slack is asked about so many
		}
		met, err := m.met(ctx, c.Want.Team, x.Meeting.Present)
		if err != nil {
			return Verdict{Err: err}
		}
		if !met {
			of := *x.Meeting
			x.Meeting, of.Present = &of, nil // which is refused
		}
		act = minuted(x)
	default:
		a, err := m.load(ctx, c.Ref)
		if err == nil {
			act, err = m.adds(ctx, a, c.ID, c.User, x)
		}
		if err != nil {
			return Verdict{Err: err}
		}
	}
	return m.Decide(ctx, c, Shown(x.Type, x.Hash, act))
}

// MayAct checks whether somebody may make such an act, as MayReject does. Its change is never committed.
func MayAct(x card.RouteAct) Act {
	act := map[circulation.Kind]Act{circulation.Ask: Ask(untyped), circulation.Dissent: Dissent(untyped),
		circulation.Answer: mayAnswer, circulation.Add: mayAdd, card.Minutes: mayMinute}[x.Kind]
	if x.Kind == circulation.Answer {
		return Gate(x.Type, act)
	}
	return Shown(x.Type, x.Hash, act)
}

func mayAnswer(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	st := walked(a.GateWith(id))
	n := len(st.Questions)
	if st.Open() == nil {
		n++
	}
	return Answer(n, untyped)(a, id, by, p, now)
}

func mayAdd(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	x := card.RouteAct{Role: circulation.AsConsult, Text: untyped}
	return add(x, circulation.Person{User: untyped})(a, id, by, p, now)
}

// add has somebody asked next.
func add(x card.RouteAct, to circulation.Person) Act {
	return func(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		if !a.GateWith(id).Ruled() {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		return along(a, id, circulation.Add, x.Text, by, p, now, func(act *circulation.Act) {
			to.Via = cmp.Or(to.Via, task.ViaAdded)
			act.To, act.As, act.Found.Resolved = &to, x.Role, to.Via
		})
	}
}

// adds looks up whom an addition adds: a full member, as Slack says now, and where the gate has an organisation, with a
// row in it today; or whoever holds a post there. Of anybody else the act says so, if the hand may add at all.
func (m Maker) adds(ctx context.Context, of Subject, gate, hand string, x card.RouteAct) (Act, error) {
	why := circulation.WhyNotFull
	full, err := x.To != "", error(nil)
	switch {
	case x.Post == "" && !full:
		why = circulation.WhyNobody
	case x.Post != "" && full:
		why, full = circulation.WhyOneOfThem, false
	case full:
		full, err = m.full(ctx, of.Origin().Team, x.To)
	}
	if err == nil && full {
		return add(x, circulation.Person{User: x.To}), nil
	}
	return func(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		_, err := mayAdd(a, id, by, p, now)
		return aggregate.Change{}, cmp.Or(err, error(&circulation.Refusal{Why: why, Kind: circulation.Add}))
	}, err
}

// full reports whether Slack says now that somebody is a full member of the workspace.
func (m Maker) full(ctx context.Context, team, user string) (bool, error) {
	refused, err := people.Members{Team: team}.Refused(ctx, m.People.Slack, []string{user}, nil)
	if err != nil && !errors.Is(err, explain.ErrUnverified) {
		err = fmt.Errorf("%w: %w", explain.ErrUnverified, err)
	}
	return err == nil && refused[user] == "", err
}
