package explain

import (
	"cmp"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
)

// act says why somebody can't do what they wanted on a gate under a rule of a request with the origin o, and what to do.
func (s Surface) act(r *circulation.Refusal, o aggregate.Origin) string {
	w, key := refusalWordsOf.In(s.Locale), string(r.Why)
	switch {
	case r.Why == circulation.WhyTurn && r.Yours == "":
		key = "turn_over"
	case r.Why == circulation.WhySelf && r.Put:
		key = "self_successor"
	case r.Why == circulation.WhySelf && r.For.User != "" && r.For.User == r.Asker.User:
		key = "self_principal"
	case r.Why == circulation.WhySelf && o.User != "" && r.Asker.User != o.User:
		key = "author"
	case r.Lacks == circulation.LackDelegation && !r.Ends.IsZero():
		key = "period"
	case r.Lacks == circulation.LackEmployee && r.For.User == "":
		key = "only_employees"
	case r.Why == circulation.WhyFound:
		key = "no_" + string(r.Lacks)
	}
	var names []string
	for _, p := range r.People {
		names = append(names, s.Marks.Person(p.User))
	}
	who := s.few(names)
	if who == "" {
		who = s.Approvers(tenancy.Settings{}, aggregate.Origin{Channel: cmp.Or(r.Home, o.Channel)})
	}
	return fill(cmp.Or(w.Acts[key], w.Acts[string(circulation.WhyUnknown)]), "stage", s.Marks.Text(r.Name, maxName),
		"names", who, "yours", s.Marks.Text(r.Yours, maxName), "principal", s.Marks.Person(r.For.User),
		"n", r.Missing, "max", circulation.MaxText, "from", day(r.Begins), "until", day(r.Ends.Add(-time.Millisecond)))
}

// day returns the tenant's day of a time.
func day(t time.Time) string { return t.In(tenancy.Zone()).Format(time.DateOnly) }
