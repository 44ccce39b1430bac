package card

import (
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
)

// copied says which copy of a gate under a rule is drawn, if one is.
func (d *drawing) copied(c *aggregate.Card, all []*aggregate.Card) {
	if c.User == "" || c.Stage == 0 {
		return
	}
	d.copy, d.hint = c, true
	for _, other := range all {
		if other.User == c.User && other.Stage > 0 && other.CreatedAt.Before(c.CreatedAt) {
			d.hint = false
		}
	}
}

// hints says below the first copy to a person that nothing but its button approves.
func (d drawing) hints() []string {
	if !d.hint {
		return nil
	}
	return []string{routeWordsOf.In(d.w.Locale).OnlyButton}
}

// resting returns what a copy says whose person owes nothing at its stage, and its colour. It is empty for a copy that
// asks, and for one of the stage at which the gate was decided: that shows the end as the card does. What others stamp
// changes nothing of it.
func (r routed) resting() (line, colour string) {
	c := r.copy
	if c == nil || c.Stage > len(r.st.Stages) {
		return "", ""
	}
	last := r.st.Present
	if r.st.Last != nil {
		last = r.st.Last.Stage
	}
	if c.Stage == last && (!r.open || Owes(r.st, c)) {
		return "", ""
	}
	for _, act := range r.st.Stages[c.Stage-1].Stamps {
		if r.is(&act.Principal) || r.is(&act.Hand) {
			return fill(r.w.ApprovedBy, "who", r.hand(act), "when", when(act.At)), green
		}
	}
	return r.texts.Closed, grey
}

// takenBack says on a copy that its person's last act at its stage took their stamp back: nobody else is told.
func (r routed) takenBack() string {
	if r.copy == nil {
		return ""
	}
	for _, act := range slices.Backward(r.gate.Acts) {
		if act.Stage == r.copy.Stage && act.Hand.User == r.copy.User {
			if act.Kind != circulation.TakeBack {
				return ""
			}
			return fill(r.texts.TookBack, "when", when(act.At))
		}
	}
	return ""
}

// is reports whether somebody is the person of the copy, by account or as the route compares people.
func (r routed) is(who *circulation.Person) bool {
	if who.User == r.copy.User {
		return true
	}
	for _, p := range r.st.Stages[r.copy.Stage-1].People {
		if p.User == r.copy.User {
			return r.gate.Route.Org != "" && p.Person == who.Person
		}
	}
	return false
}

// Owes reports whether a copy's person is asked for a stamp now, in this state of the gate.
func Owes(st circulation.State, c *aggregate.Card) bool {
	if c.Stage == 0 || c.Stage != st.Present {
		return false
	}
	for _, p := range st.Owes() {
		if p.User == c.User {
			return true
		}
	}
	return false
}
