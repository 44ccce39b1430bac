package decide

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/people"
)

// Replaced is one of a gate's people in whose place an administrator puts somebody.
type Replaced struct {
	Gate  string // id
	Stage int    // number
	For   string // user
}

// Successor is whom an administrator puts there, and why.
type Successor struct {
	Replaced
	To     string // user
	Reason string
	Hash   string // hash of what the administrator saw: the gate's
}

// Naming is by what an administrator may put in a successor, as it was read.
type Naming struct {
	Admin   circulation.Person // the hand, as the organisation knows them
	Row     circulation.Admin  // that lists the hand; none: the hand is no administrator
	Org     string             // version of the organisation; empty: none stands
	Gate    *aggregate.Gate
	Askers  []circulation.Person // the gate's, and the subject's
	Allowed []circulation.Person // who may take the place, as the rules and the organisation say
	Named   bool                 // the rule still has the stage, or the home is asked
	OfHome  bool                 // the person stands there because the home lists them
	On      []aggregate.Owned    // the rows on which that depends
}

// Administrators are the rows by which a hand may put in a successor.
type Administrators interface {
	Tenant(ctx context.Context, tenant string) (tenancy.Tenant, error)
	Rules(ctx context.Context, tenant string) (x *rules.Rules, rev int, err error)
	Settings(ctx context.Context, tenant string) (tenancy.Settings, error)
}

// Succession finds who may take somebody's place.
type Succession struct {
	Rows  Administrators
	Slack people.Grouped
	Known *people.Requesters
	// Standing reads which organisation stands, and the row on which that depends.
	Standing func(ctx context.Context, tenant string) (StandingOrganisation, error)
	Now      func() time.Time
}

// Naming reads by what somebody may put in a successor at a vacancy of a subject, and whom. It returns ErrNotFound if
// the subject has no such gate under a rule, or nobody at the vacancy, and explain.ErrUnverified when Slack doesn't
// answer.
func (x *Succession) Naming(ctx context.Context, of Subject, v Replaced, user string) (n Naming, err error) {
	g := of.GateWith(v.Gate)
	who, name, there := at(g, v)
	if !there {
		return n, fmt.Errorf("gate %s has nobody there: %w", v.Gate, aggregate.ErrNotFound)
	}
	tenant := of.Ref().Tenant
	n.Gate = g
	owner, err := x.Rows.Tenant(ctx, tenant)
	if err != nil {
		return n, err
	}
	now, rev, err := x.Rows.Rules(ctx, tenant)
	if err != nil {
		return n, err
	}
	settings, err := x.Rows.Settings(ctx, tenant)
	if err != nil {
		return n, err
	}
	standing, err := x.Standing(ctx, tenant)
	if err != nil {
		return n, err
	}
	_, key, _ := owner.Place()
	if slices.Contains(owner.Admins, user) && owner.Rev > 0 {
		n.Row = circulation.Admin{Key: key, Rev: owner.Rev}
	}
	n.On = append([]aggregate.Owned{
		{Key: key, Rev: owner.Rev, Err: aggregate.ErrSettings},
		{Key: tenancy.RulesKey, Rev: rev, Err: aggregate.ErrSettings},
		{Key: tenancy.SettingsKey, Rev: settings.Rev, Err: aggregate.ErrSettings},
	}, standing.On...)
	desk := rules.Desk{Number: v.Stage, Name: name, Of: who}
	if g.Terms.Rule != nil {
		desk.Rule = g.Terms.Rule.ID
	}
	n.Named, n.OfHome = now.Names(desk), desk.OfHome()
	f := &rules.Facts{Requester: g.Person(of.Askers()[0]), Home: settings.DirectApprovers,
		On: organisation.DateOf(x.Now().In(tenancy.Zone())).String()}
	places := Places{Slack: x.Slack, Known: x.Known, Team: of.Origin().Team, Organisation: standing.Organisation,
		Now: x.Now()}
	err = places.Resolve(ctx, func(d *OpenDirectory) error {
		n.Admin, n.Org, n.Askers = d.Person(user), d.Org(), slices.Clone(g.Askers)
		for _, asker := range of.Askers() {
			if p := d.Person(asker); !slices.ContainsFunc(n.Askers, p.Is) {
				n.Askers = append(n.Askers, p)
			}
		}
		f.Askers = n.Askers
		if d.Org() != "" {
			f.Requester = d.Person(f.Requester.User)
			f.Departments = d.Departments(f.Requester, f.On)
		}
		n.Allowed = now.Successors(desk, f, d)
		return nil
	})
	return n, err
}

// at returns who is at a vacancy of a gate, and the name of the stage. Somebody who was replaced is still found, so
// that the fold says what has become of them.
func at(g *aggregate.Gate, v Replaced) (who circulation.Person, name string, there bool) {
	st := walked(g)
	if v.Stage < 1 || v.Stage > len(st.Stages) {
		return who, "", false
	}
	s := &st.Stages[v.Stage-1]
	people := slices.Clone(s.People)
	if v.Stage <= len(g.Route.Stages) {
		people = append(people, g.Route.Stages[v.Stage-1].People...)
	} else if s.By.To != nil {
		people = append(people, *s.By.To)
	}
	for i := range g.Acts {
		if to := g.Acts[i].To; to != nil && g.Acts[i].Stage == v.Stage {
			people = append(people, *to)
		}
	}
	i := slices.IndexFunc(people, func(p circulation.Person) bool { return p.User == v.For })
	if i < 0 {
		return who, s.Name, false
	}
	return people[i], s.Name, true
}

// Stand puts somebody in the place of one of a gate's people who has not stamped, as an administrator's act.
func Stand(s Successor, n Naming) Act {
	return func(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		g := a.GateWith(id)
		who, _, there := at(g, s.Replaced)
		if !there {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		return a.Act(id, n.act(g, who, s, by.ID), by, p, now, n.On...)
	}
}

// act is what a user does to put in a successor for somebody.
func (n *Naming) act(g *aggregate.Gate, who circulation.Person, s Successor, user string) circulation.Act {
	who.Via = ""
	hand := n.Admin
	if g.Route.Org == "" {
		hand = g.Person(user)
	}
	to := circulation.Person{User: s.To}
	if i := slices.IndexFunc(n.Allowed, func(p circulation.Person) bool { return p.User == s.To }); i >= 0 {
		to = n.Allowed[i]
	}
	act := circulation.Act{
		Kind: circulation.Stand, Hand: hand, Principal: hand, Stage: s.Stage, Hash: s.Hash,
		Text: aggregate.SeenReason(s.Reason), For: &who, To: &to, Found: circulation.Found{Resolved: to.Via},
	}
	if n.Row.Rev > 0 {
		act.Found.Admin = &n.Row
	}
	if g.Route.Org != "" {
		act.Found.Org = n.Org
	}
	return act
}

// Offers returns whom the user may put in at a vacancy now. If it is nobody, why says what is in the way of the first
// of those who are allowed; nil: nobody is.
func (n *Naming) Offers(v Replaced, user string, now time.Time) (people []circulation.Person, why error) {
	who, _, there := at(n.Gate, v)
	if !there {
		return nil, aggregate.ErrNotFound
	}
	g := n.Gate.Circulating()
	st := circulation.Walk(g)
	g.Askers = n.Askers
	for _, p := range n.Allowed {
		act := n.act(n.Gate, who, Successor{Replaced: v, To: p.User, Hash: n.Gate.AskedSum, Reason: "-"}, user)
		act.Form, act.At, act.Surface = circulation.Form, now, string(aggregate.SurfaceConsole)
		switch err := circulation.Admit(g, st, act); {
		case err == nil:
			people = append(people, p)
		case why == nil:
			why = err
		}
	}
	if len(people) > 0 {
		why = nil
	}
	return people, why
}

// Stand makes the act for a click. Before that it asks Slack once more who the successor is, since others are asked at
// most every ten minutes. The verdict's error is aggregate.ErrSettings if the administrators, rules or organisation
// changed at each of three tries.
func (m Maker) Stand(ctx context.Context, x *Succession, of Subject, c Click, s Successor) (v Verdict) {
	full, err := m.full(ctx, of.Origin().Team, s.To)
	if err != nil {
		return Verdict{Err: err}
	}
	for range 3 {
		n, err := x.Naming(ctx, of, s.Replaced, c.User)
		if err != nil {
			return Verdict{Subject: of, Err: err}
		}
		if !full {
			n.Allowed = nil
		}
		if v = m.Decide(ctx, c, Stand(s, n)); !errors.Is(v.Err, aggregate.ErrSettings) {
			break
		}
	}
	return v
}

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
// something on the gate with this id. Those whose principals have left the workspace or the organisation, or are guests
// now, are left out. in is who the hand is in the organisation, if the gate's route asks that, and askers are such beside
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
	team, gone := of.Origin().Team, map[string]bool{}
	for _, s := range all {
		who := g.Account(s.Principal)
		if _, asked := gone[who]; asked || !s.Counts(m.Now()) || who == "" {
			continue
		}
		by, err := m.People.Requester(ctx, team, who)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", explain.ErrUnverified, err)
		}
		gone[who] = aggregate.Policy{Team: team}.Request(by) != nil
	}
	all = slices.DeleteFunc(all, func(s circulation.StandIn) bool { return gone[g.Account(s.Principal)] })
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
