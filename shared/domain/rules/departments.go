package rules

import (
	"cmp"
	"slices"

	"ringi/shared/domain/circulation"
)

// placed returns the sources with the department of each position that has none, and where each is in all. Of a label
// that says several departments there is a source for each, so what is left out where it is alone goes up.
func placed(all []Stage, f *Facts, d Directory) (sources []Stage, at []int) {
	for i, s := range all {
		each := s.Who.placed(f, d)
		if len(each) > 1 { // who alone can stamp for a department isn't taken by another one
			slices.SortStableFunc(each, func(a, b Who) int { return len(a.find(f, d)) - len(b.find(f, d)) })
		}
		for _, s.Who = range each {
			for _, then := range []*Then{&s.Empty.Vacant, &s.Empty.Own} {
				if len(each) > 1 && *then == ThenSkip {
					*then = ThenUp
				}
			}
			sources, at = append(sources, s), append(at, i)
		}
	}
	return sources, at
}

// spared returns whom a label's source asks of these, and how many must stamp, so that no department lets another stamp
// in the place of who must beside it. They count for their department first. As one of several they don't, as far as
// enough others are there.
func (r *resolving) spared(i int, people []circulation.Person, need int) ([]circulation.Person, int) {
	var sure []circulation.Person
	for j := i + 1; j < len(r.sources) && r.of[j] == r.of[i]; j++ {
		s := &r.sources[j]
		found := s.Who.find(r.facts, r.d)
		may := but(r.stamping(r.named(s, found)), slices.Concat(r.beside(i), r.away(s, found)))
		if r.at[j] != r.at[i] && cmp.Or(s.Need, s.Share.of(different(found))) >= len(may) {
			sure = append(sure, may...)
		}
	}
	may := r.stamping(people)
	here := but(may, r.gone[i])
	both := but(here, but(here, sure))
	switch spare := len(here) - need; {
	case len(both) == 0 || spare < 0:
		return people, need
	case r.sources[i].Who.Kind == WhoAny: // which others are in, too
		return but(people, slices.Concat(r.gone[i], both[:min(spare, len(both))])), need
	case len(both) >= need:
		return but(people, but(may, both[:need])), need
	}
	return but(people, both), need - len(both)
}

// heads reports whether whoever stamps for another department of the same label also heads this one, as many as it
// needs.
func (r *resolving) heads(i int) bool {
	named, sure := r.stamping(r.named(&r.sources[i], r.found[i])), 0
	for j := i - 1; j >= 0 && r.at[j] == r.at[i]; j-- {
		s := &r.stages[j]
		both := but(s.People, but(s.People, named))
		if len(both) == len(s.People) && s.Need >= r.stages[i].Need && s.LeftOut == "" {
			return true
		}
		if s.Need == len(s.People) {
			sure += len(both)
		}
	}
	return sure > 0 && sure >= r.stages[i].Need
}

// departments returns those that a label says, which are none if it says only so; only its name, which is no
// department, if nobody knows.
func (f *Facts) departments(label, none string, d Directory) (codes []string) {
	said := false
	for _, c := range f.Calls {
		values, has := c.Labels[label]
		if has && len(values) == 0 {
			return []string{label}
		}
		for _, value := range values {
			code := d.CodeOf(value, f.On)
			if code == "" && none != "" && spelling(value) == spelling(none) {
				said = true
				continue
			}
			if code = cmp.Or(code, value); !slices.Contains(codes, code) {
				codes = append(codes, code)
			}
		}
	}
	if codes == nil && !said {
		return []string{label}
	}
	return codes
}

// labelled reports whether a label says whom it asks, among others.
func (w Who) labelled() bool {
	return slices.ContainsFunc(w.Each(), func(x Who) bool { return x.Label != "" })
}

// misnamed returns what a label says that the organisation has as a department on no day, or "".
func (w Who) misnamed(d Directory) string {
	for _, x := range w.Each() {
		if x.Label != "" && !x.Nobody && !d.Knows(x.Department, "") {
			return x.Department
		}
	}
	return ""
}

// placed returns positions of each department that a label says, and those without a department with the
// nearest of the requester's, theirs included, that has such a post on any day, so that a vacant post isn't passed
// over; else with their own. Only the positions that it has stay, and that stand over the departments below it.
func (w Who) placed(f *Facts, d Directory) (each []Who) {
	switch {
	case w.Kind == WhoAny:
		for _, x := range w.Any {
			each = append(each, x.placed(f, d)...)
		}
		w.Any = each
		each = []Who{w}
	case w.Kind != WhoPosition || w.Department != "":
		each = []Who{w}
	case w.Label == "":
		each = []Who{w.nearest(f, d)}
	default:
		for _, code := range f.departments(w.Label, w.None, d) {
			each = append(each, w.within(code, d))
		}
		if each == nil {
			w.Nobody, w.Instead = true, nil
			each = []Who{w}
		}
	}
	for i := range each {
		each[i].Instead = nil
		for _, x := range w.Instead {
			each[i].Instead = append(each[i].Instead, x.along(&each[i], d).placed(f, d)...)
		}
	}
	return each
}

// along returns who is asked in the place of another: of the same department, where the same label says it.
func (w Who) along(of *Who, d Directory) Who {
	if w.Kind == WhoAny {
		w.Any = slices.Clone(w.Any)
		for i, x := range w.Any {
			w.Any[i] = x.along(of, d)
		}
	}
	if w.Label != "" && w.Label == of.Label {
		return w.within(of.Department, d)
	}
	return w
}

// within returns those of the positions that a department has, or all if it has none, with its code.
func (w Who) within(code string, d Directory) Who {
	lacks := func(position string) bool { return !d.Knows(code, position) }
	if there := slices.DeleteFunc(slices.Clone(w.Positions), lacks); len(there) > 0 {
		w.Positions = there
	}
	w.Department = code
	return w
}

// nearest returns positions with the department of the requester's that has them.
func (w Who) nearest(f *Facts, d Directory) Who {
	w.Placed = true
	for i, code := range f.Departments {
		there := slices.DeleteFunc(slices.Clone(w.Positions), func(position string) bool {
			beside := func(below string) bool { return !d.StandsOver(position, below, f.On) }
			return !d.Knows(code, position) || slices.ContainsFunc(f.Departments[:i], beside)
		})
		if len(there) > 0 {
			w.Positions, w.Department = there, code
			return w
		}
	}
	if len(f.Departments) > 0 {
		w.Department = f.Departments[0]
	}
	return w
}
