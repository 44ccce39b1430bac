package decide

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
	"ringi/shared/store"
)

// OnRoute reports whether the person is on the route of the gate with this id, or stands in now for somebody who is:
// then they may read what it asks.
func (v Verdict) OnRoute(id, user string, now time.Time) bool {
	if v.Subject == nil {
		return false
	}
	g := v.Subject.GateWith(id)
	return g != nil && (g.OnRoute(user) || slices.ContainsFunc(v.StandIns, func(s circulation.StandIn) bool {
		return s.Counts(now) && g.OnRoute(s.Principal.User)
	}))
}

// askedMode returns whom the present stage of a gate asks: empty of what is no gate.
func askedMode(of Subject, id string) circulation.Mode {
	g := of.GateWith(id)
	if g == nil {
		return ""
	}
	st := circulation.Walk(g.Circulating())
	if s := st.CurrentStage(); s != nil {
		return s.Mode
	}
	if !g.Ruled() {
		return ""
	}
	return circulation.ModePeople // nobody is looked up
}

// placeOf returns where the members are whom a channel's stage of the gate with this id asks.
func placeOf(of Subject, id string) aggregate.Origin {
	if g := of.GateWith(id); g != nil {
		return g.Place(of.Origin())
	}
	return of.Origin()
}

// Place returns where the members are whom a channel's stage of the gate with this id asks: its home, or where the
// subject was asked for. It is zero without a subject.
func (v Verdict) Place(id string) aggregate.Origin {
	if v.Subject == nil {
		return aggregate.Origin{}
	}
	return placeOf(v.Subject, id)
}

// along makes an act on a gate at the stage that the person saw.
func along(a Subject, id string, kind circulation.Kind, text string, by aggregate.Actor,
	p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	g := a.GateWith(id)
	if g == nil {
		return aggregate.Change{}, aggregate.ErrNotFound
	}
	if err := unseen(g, by); err != nil {
		return aggregate.Change{}, err
	}
	c := g.Circulating()
	st := circulation.Walk(c)
	act := g.Acting(kind, by, aggregate.SeenReason(text))
	hand := act.Hand
	if by.Person != "" {
		act.Found.Org = by.Org
	}
	if s := st.CurrentStage(); s != nil && s.Mode == circulation.ModeChannel && by.Member {
		act.Found.Channel = by.Channel
	}
	lacks := func(what circulation.Lack) error {
		return &circulation.Refusal{Why: circulation.WhyFound, Lacks: what, Stage: st.Present, People: st.Owes()}
	}
	if g.Organised() && hand.Person == "" {
		return aggregate.Change{}, lacks(circulation.LackOrg)
	}
	on, refused := standIn(&c, &st, &act, by.As, p.StandIns, a.Root().Common().Moment(now))
	if refused != nil {
		return aggregate.Change{}, refused
	}
	if by.Unfit != "" && act.Principal.User == hand.User {
		return aggregate.Change{}, lacks(by.Unfit)
	}
	change, err := a.Act(id, act, by, p, now, append(on, p.On...)...)
	if d := act.Found.Delegation; d != nil {
		stood(&change, a, id, &act, d.Key)
	}
	return change, err
}

// stood adds to a Change the entry by which the principal is told later what was done for them.
func stood(c *aggregate.Change, a Subject, id string, act *circulation.Act, delegation string) {
	if !c.Empty() {
		c.Beside = append(c.Beside, tenancy.StoodOf(a.Ref(), id, act, delegation, c.Now))
	}
}

// unseen refuses somebody who saw no stage, unless there can be only one: they are told whose turn it is.
func unseen(g *aggregate.Gate, by aggregate.Actor) error {
	c := g.Circulating()
	st := circulation.Walk(c)
	if by.Stage > 0 || st.Present == 0 || !g.Ruled() {
		return nil
	}
	return &circulation.Refusal{
		Why: circulation.WhyStage, Stage: st.Present, Name: st.CurrentStage().Name, People: st.Owes(),
	}
}

// Deny refuses a gate under a rule for good, as Reject sends it back. Gates without a rule can only be rejected.
func Deny(reason string) Act {
	return once(reason, func(a Subject, id string, by aggregate.Actor, p aggregate.Policy,
		now time.Time) (aggregate.Change, error) {
		if !a.GateWith(id).Ruled() {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		return along(a, id, circulation.Deny, reason, by, p, now)
	})
}

// TakeBack takes back the hand's own stamp on a gate under a rule, at the stage that the person saw, for whomever it
// was given. Of a gate that is settled the *circulation.Refusal says so.
func TakeBack(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	g := a.GateWith(id)
	if !g.Ruled() {
		return aggregate.Change{}, aggregate.ErrNotFound
	}
	if err := unseen(g, by); err != nil {
		return aggregate.Change{}, err
	}
	act, delegation := takingBack(g, by)
	change, err := a.Act(id, act, by, p, now)
	if delegation != nil {
		stood(&change, a, id, &act, delegation.Key)
	}
	if e, late := errors.AsType[aggregate.ErrDecided](err); late && e.Status == string(aggregate.Approved) {
		c := g.Circulating()
		err = cmp.Or(circulation.Admit(c, circulation.Walk(c), act), err)
	}
	return change, err
}

// takingBack returns the act that takes back what a hand stamped last at the stage that they saw, and by which
// delegation that was, if by one. The fold says whether that stamp still stands.
func takingBack(g *aggregate.Gate, by aggregate.Actor) (circulation.Act, *circulation.Delegation) {
	var d *circulation.Delegation
	hand := g.Person(by.ID)
	act := circulation.Act{
		Form: circulation.Form, Kind: circulation.TakeBack, Hand: hand, Principal: hand, Stage: by.Stage, Hash: g.AskedSum,
	}
	for _, given := range slices.Backward(g.Acts) {
		if given.Kind == circulation.Stamp && given.Hand.User == by.ID && given.Stage == by.Stage {
			act.Hand, act.Principal, d = given.Hand, given.Principal, given.Found.Delegation
			break
		}
	}
	return act, d
}

// Rejects makes the act of a rejection's form. It returns aggregate.ErrMoved if the gate does not ask what the person
// saw.
func Rejects(r card.Rejected) Act {
	act := Reject(r.Reason)
	if r.Kind == circulation.Deny {
		act = Deny(r.Reason)
	}
	return Shown(r.Type, r.Hash, func(a Subject, id string, by aggregate.Actor, p aggregate.Policy,
		now time.Time) (aggregate.Change, error) {
		if g := a.GateWith(id); r.Stage > 0 && (g == nil || g.AskedSum != r.Asked) {
			return aggregate.Change{}, aggregate.ErrMoved
		}
		return act(a, id, by, p, now)
	})
}

// OrganisationOf reads which organisation stands, with the row on which commits rely.
func OrganisationOf(
	from *store.OrganisationStore,
) func(ctx context.Context, tenant string) (StandingOrganisation, error) {
	return func(ctx context.Context, tenant string) (out StandingOrganisation, err error) {
		s, err := from.Current(ctx, tenant)
		out.On = []aggregate.Owned{{Key: tenancy.OrganisationKey, Rev: s.Rev, Err: aggregate.ErrSettings}}
		if s.Stands() {
			out.Organisation = &Organisation{Version: s.Version, People: s.Organisation, Accounts: s.Accounts}
		}
		return out, err
	}
}
