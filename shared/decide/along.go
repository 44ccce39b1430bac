package decide

import (
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
)

// routed is a subject whose gates may be under a rule.
type routed interface {
	// GateWith returns the gate with this id, or nil.
	GateWith(id string) *aggregate.Gate
	Act(id string, act circulation.Act, by aggregate.Actor, p aggregate.Policy, now time.Time,
		on ...aggregate.Owned) (aggregate.Change, error)
}

// ruled returns the subject and its gate with this id if that is under a rule, else nil.
func ruled(of Subject, id string) (routed, *aggregate.Gate) {
	a, has := of.(routed)
	if !has {
		return nil, nil
	}
	g := a.GateWith(id)
	if g == nil || !g.Ruled() {
		return nil, nil
	}
	return a, g
}

// OnRoute reports whether somebody is on the route of the gate with this id: then they may read what it asks.
func OnRoute(of Subject, id, user string) bool {
	_, g := ruled(of, id)
	return g != nil && g.OnRoute(user)
}

// askedMode returns whom the present stage of a gate asks: empty of a gate without a rule, and of one that asks nobody.
func askedMode(of Subject, id string) circulation.Mode {
	_, g := ruled(of, id)
	if g == nil {
		return ""
	}
	st := circulation.Walk(g.Circulating())
	if s := st.Asked(); s != nil {
		return s.Mode
	}
	return circulation.ModePeople // nobody is looked up
}

// along makes an act on a gate under a rule, at the stage that the person saw.
func along(a routed, g *aggregate.Gate, id string, kind circulation.Kind, text string, by aggregate.Actor,
	p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	c := g.Circulating()
	st := circulation.Walk(c)
	if by.Stage == 0 && st.Present > 0 {
		return aggregate.Change{}, &circulation.Refusal{
			Why: circulation.WhyStage, Stage: st.Present, Name: st.Asked().Name, People: st.Owes(&c),
		}
	}
	hand := g.Person(by.ID)
	act := circulation.Act{
		Kind: kind, Hand: hand, Principal: hand, Stage: by.Stage, Hash: g.Asked, Text: strings.TrimSpace(text),
	}
	if s := st.Asked(); s != nil && s.Mode == circulation.ModeChannel && by.Member {
		act.Found.Channel = by.Channel
	}
	return a.Act(id, act, by, p, now)
}

// Deny refuses a gate under a rule for good; of another reason the same holds as for Reject. Gates without a rule can
// only be rejected.
func Deny(reason string) Act {
	return once(reason, func(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
		on, g := ruled(a, id)
		if on == nil {
			return aggregate.Change{}, aggregate.ErrNotFound
		}
		return along(on, g, id, circulation.Deny, reason, by, p, now)
	})
}

// TakeBack takes back the stamp of one's own hand at the stage that the person saw, whomever it stood in for. Only
// gates under a rule know that.
func TakeBack(a Subject, id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (aggregate.Change, error) {
	on, g := ruled(a, id)
	if on == nil {
		return aggregate.Change{}, aggregate.ErrNotFound
	}
	c := g.Circulating()
	if act, ok := circulation.TakesBack(c, circulation.Walk(c), by.ID); ok && act.Stage == by.Stage {
		return on.Act(id, act, by, p, now)
	}
	return along(on, g, id, circulation.TakeBack, "", by, p, now)
}
