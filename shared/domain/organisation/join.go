package organisation

import (
	"slices"
	"strings"
)

// joined brings together what several files say of one person: who they are, and posts of files that have only numbers.
// Such posts last no longer than the person is there.
func (r *reader) joined(all []line) (out []line) {
	people, posts := map[string][]line{}, map[string][]line{}
	for _, l := range all {
		if l.named || l.number == "" {
			people[l.number] = append(people[l.number], l)
		} else {
			posts[l.number] = append(posts[l.number], l)
		}
	}
	for number, of := range posts {
		if people[number] == nil && r.gone[number] {
			continue
		}
		if people[number] == nil {
			for _, l := range of {
				r.problems.add(Problem{Row: l.row, Column: ColumnNumber, Rule: RuleUnknown, Value: number})
			}
			continue
		}
		people[number] = r.together(people[number], of)
	}
	for _, of := range people {
		out = append(out, of...)
	}
	slices.SortStableFunc(out, func(a, b line) int { return a.row - b.row })
	return out
}

// introduce finds the files of posts that repeat who people are, as each of jinjer's exports does, and whom the files
// that are about people introduce.
func (r *reader) introduce() {
	var whole []*sheet
	for _, posts := range []func(*sheet) bool{
		func(s *sheet) bool { return s.has(ColumnSince) || s.further() }, (*sheet).further} {
		for _, s := range r.sheets {
			if s.people() && !posts(s) {
				whole = append(whole, s)
			}
		}
		if len(whole) > 0 {
			break
		}
	}
	for _, s := range r.sheets {
		s.repeats = len(whole) > 0 && !slices.Contains(whole, s)
	}
	for _, s := range whole {
		for _, x := range s.records {
			r.introduced[folded(r.number(s, x))] = true
		}
	}
}

// tells reports whether a file says who somebody is. One that repeats it does so only of people whom no other file
// introduces, and if it says whether they still work: it may be about earlier days.
func (r *reader) tells(s *sheet, number string) bool {
	return s.people() && (!s.repeats || s.has(ColumnStatus) && !r.introduced[number])
}

// further reports whether a file has no main posts: by its name, or since all its departments are those of others.
func (s *sheet) further() bool {
	title := lower(s.Name)
	return second.Get().MatchString(title) || strings.Contains(title, "concurrent") ||
		s.placed() && !slices.ContainsFunc(s.readings, func(x Reading) bool { return x.places() && x.Nth == 1 })
}

// together returns the lines of one person. Posts of a file of main posts replace what the file of people says of them.
func (r *reader) together(people, posts []line) (out []line) {
	replaced := map[Period]bool{}
	var further []line
	for _, p := range posts {
		if p.department == "" && p.position == "" {
			continue
		}
		seen := map[Period]bool{}
		for _, is := range people {
			during, ok := common(p.during, is.during)
			if !ok || seen[is.during] {
				continue
			}
			seen[is.during] = true
			q := p
			q.name, q.mails, q.kind, q.status, q.during = is.name, is.mails, is.kind, is.status, during
			if q.superior == "" {
				q.superior = is.superior
			}
			q.main = r.mainOf(q, people, further)
			if q.main {
				replaced[is.during] = true
				if q.position == "" {
					q.position, q.rank, q.unranked = is.position, is.rank, is.unranked
				}
			}
			further = append(further, q)
		}
	}
	for _, is := range people {
		if !replaced[is.during] || is.own || !is.main && is.department != "" {
			out = append(out, is)
		}
	}
	for _, q := range further {
		same := func(is line) bool {
			_, both := common(q.during, is.during)
			return both && is.department == q.department && is.position == q.position
		}
		if !slices.ContainsFunc(out, same) {
			out = append(out, q)
		}
	}
	return out
}

// mainOf reports whether a post of a file without people is the person's main one: as the file says, else by its name,
// else if the file of people has none and no row above is it.
func (r *reader) mainOf(q line, people, further []line) bool {
	s := r.sheets[q.row/sheetRows]
	switch {
	case q.told:
		return q.main
	case s.further():
		return false
	case !s.has(ColumnSince) && !first.Get().MatchString(folded(s.Name)) &&
		slices.ContainsFunc(people, func(is line) bool { return is.department != "" }):
		return false
	}
	return !slices.ContainsFunc(further, func(l line) bool {
		_, both := common(q.during, l.during)
		return both && l.main
	})
}
