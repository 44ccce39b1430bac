package organisation

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Rows returns the rows of a file that says what the organisation says: the header, then a row for each post, by number
// and day, then one for each department that has no post on some of its days. Read makes the same organisation of them.
// Headers and words are those of a language.
func (o *Organisation) Rows(locale string) [][]string {
	w := written{o: o, locale: locale, departments: map[string][]Department{}, ranks: map[string]int{},
		named: map[string][]Period{}}
	for _, d := range o.departments {
		w.departments[d.Code] = append(w.departments[d.Code], d)
	}
	for _, p := range o.positions {
		w.ranks[p.Name] = p.Rank
	}
	w.row(func(c Column) string { return c.Header(locale) })
	posts := slices.Clone(o.posts)
	slices.SortStableFunc(posts, func(a, b Post) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.From, b.From))
	})
	for _, p := range posts {
		w.post(p)
	}
	for _, d := range o.departments {
		w.department(d)
	}
	return w.rows
}

// Header returns the header of a file.
func Header(locale string) []string { return (&Organisation{}).Rows(locale)[0] }

// written is a file that is being written.
type written struct {
	o           *Organisation
	locale      string
	departments map[string][]Department // by code
	ranks       map[string]int          // by position
	named       map[string][]Period     // by department: the days on which a row of a post names it
	rows        [][]string
}

func (w *written) row(cell func(Column) string) {
	var row []string
	for _, c := range columns {
		row = append(row, cell(c))
	}
	w.rows = append(w.rows, row)
}

// post writes a post: a row for each part of its days on which person and department stay the same.
func (w *written) post(p Post) {
	for _, person := range w.o.of(p.Number) {
		for _, d := range w.departments[p.Department] {
			during, ok := common(p.Period, person.Period, d.Period)
			if !ok {
				continue
			}
			w.named[d.Code] = append(w.named[d.Code], during)
			w.row(func(c Column) string { return w.cell(c, person, p, d, during) })
		}
	}
}

func (w *written) cell(c Column, person Person, p Post, d Department, during Period) string {
	switch c {
	case ColumnNumber:
		return p.Number
	case ColumnName:
		return person.Name
	case ColumnMail:
		return strings.Join(person.Mails, ";")
	case ColumnPosition:
		return p.Position
	case ColumnRank:
		if rank := w.ranks[p.Position]; rank > 0 {
			return strconv.Itoa(rank)
		}
		return ""
	case ColumnPost:
		return PostWord(p.Main, w.locale)
	case ColumnManager:
		return person.Manager
	case ColumnEmployment:
		return person.Kind.Word(w.locale)
	}
	return ofDepartment(c, d, during)
}

// ofDepartment returns a cell of the columns that a row without a person has, too.
func ofDepartment(c Column, d Department, during Period) string {
	switch c {
	case ColumnDepartment:
		return d.Code
	case ColumnDepartmentName:
		return d.Name
	case ColumnParent:
		return d.Parent
	case ColumnFrom:
		return during.From.String()
	case ColumnTo:
		return during.To.String()
	}
	return ""
}

// department writes a row of a department only, unless rows of posts name it on all of its days.
func (w *written) department(d Department) {
	if _, missing := uncovered(d.Period, union(w.named[d.Code])); missing {
		w.row(func(c Column) string { return ofDepartment(c, d, d.Period) })
	}
}

// common returns the days that are in all of some periods.
func common(all ...Period) (Period, bool) {
	from, end := all[0].From, all[0].end()
	for _, p := range all[1:] {
		from, end = max(from, p.From), min(end, p.end())
	}
	return until(from, end), from < end
}
