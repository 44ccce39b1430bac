package decide

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/people"
)

// full reports whether Slack says now that somebody is a full member of the workspace.
func (m Maker) full(ctx context.Context, team, user string) (bool, error) {
	refused, err := people.Members{Team: team}.Refused(ctx, m.People.Slack, []string{user}, nil)
	if err != nil && !errors.Is(err, explain.ErrUnverified) {
		err = fmt.Errorf("%w: %w", explain.ErrUnverified, err)
	}
	return err == nil && refused[user] == "", err
}

// standIn completes an act of a hand that owes nothing at the present stage itself but stands in for somebody, and
// returns the row on which that depends. What the hand does once more it does for whom it did it before. as is the
// account of the principal for whom the hand says that it acts, if it said so.
func standIn(g *circulation.Gate, st *circulation.State, act *circulation.Act, as string, all []circulation.StandIn,
	at time.Time) ([]aggregate.Owned, error) {
	if done := st.Again(g, act); done != nil {
		act.Principal, act.Found.Delegation = done.Principal, done.Found.Delegation
		return nil, nil
	}
	by := st.StandsIn(g, act.Hand, as, all, at)
	if by == nil || act.Kind == circulation.TakeBack {
		return nil, nil
	}
	refused := &circulation.Refusal{Stage: st.Present, Name: st.CurrentStage().Name, People: st.Owes(), For: by.Principal,
		Begins: by.Begins, Ends: by.Ends}
	switch {
	case by.Lacks != "":
		refused.Why, refused.Lacks = circulation.WhyFound, by.Lacks
		return nil, refused
	case len(by.Among) > 0:
		refused.Why, refused.People = circulation.WhyWhom, by.Among
		return nil, refused
	}
	act.Principal, act.Found.Delegation = by.Principal, &by.Delegation
	return []aggregate.Owned{{Partition: tenancy.DelegatePrefix, Key: by.Key, Rev: by.Rev}}, nil
}

// StandIns reads the delegations by which somebody stands in for others at a gate, as a click on it would.
func (m Maker) StandIns(ctx context.Context, of Subject, id, user string) ([]circulation.StandIn, error) {
	member, err := m.member(ctx, of, id, user)
	if err != nil {
		return nil, err
	}
	return m.standIns(ctx, of, id, user, member, of.Askers())
}

// member looks up who somebody is in the organisation, if a gate's route tells people apart by one.
func (m Maker) member(ctx context.Context, of Subject, id, user string) (in tenancy.Employed, err error) {
	if g := of.GateWith(id); g != nil && g.Organised() {
		if in, err = m.Organised(ctx, of.Ref().Tenant, user); err != nil {
			err = fmt.Errorf("who it is in the organisation: %w", err)
		}
	}
	return in, err
}

// standIns reads the delegations by which a hand stands in for others, with one query, if only by them it can do
// something on the gate with this id: also for somebody who has left. in is who the hand is in the organisation, if the gate's route asks that, and askers are such beside
// the gate's.
func (m Maker) standIns(ctx context.Context, of Subject, id, user string,
	in tenancy.Employed, askers []string) ([]circulation.StandIn, error) {
	g := of.GateWith(id)
	if g == nil {
		return nil, nil
	}
	hand := g.Hand(user, in.Person)
	if !g.NeedsStandIn(hand) || g.HandKey(hand) == "" {
		return nil, nil
	}
	all, err := m.Store.StandIns(ctx, of.Ref().Tenant, g.HandKey(hand))
	if err != nil {
		return nil, fmt.Errorf("read the delegations of %s: %w", user, err)
	}
	return in.Staff(m.Now()).Fit(g, user, all, askers...), nil
}

// chart returns today's organisation.
func (m Maker) chart(in tenancy.Employed) *organisation.Chart {
	return in.Staff(m.Now()).Chart
}

// away reports whether the organisation of the day says that somebody is on leave or seconded.
func (m Maker) away(in tenancy.Employed) bool {
	today := organisation.DateOf(m.Now().In(tenancy.Zone()))
	return in.Organisation != nil && in.Organisation.Presence(in.Person, today) == organisation.Away
}

// unfit returns what the organisation of the day has against what a hand does in its own name on the gate with this id:
// it is on leave, isn't there any more, or is no employee where a channel is asked. Of people whom a stage names the
// rule has said whether they may be none.
func (m Maker) unfit(of Subject, id string, in tenancy.Employed) circulation.Lack {
	if in.Organisation == nil {
		return ""
	}
	c := m.chart(in)
	switch hand, here := c.Person(in.Person); {
	case in.Organisation.Presence(in.Person, c.Day()) == organisation.Away:
		return circulation.LackAway
	case !here:
		return circulation.LackOrg
	case hand.Kind != organisation.Employee && askedMode(of, id) == circulation.ModeChannel:
		return circulation.LackEmployee
	}
	return ""
}
