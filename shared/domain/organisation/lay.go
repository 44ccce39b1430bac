package organisation

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// lines returns the rows of all files as Ringi's own file would have them: files of departments first, since others
// name them.
func (r *reader) lines() (all []line) {
	order := slices.Clone(r.sheets)
	rank := func(s *sheet) int {
		switch {
		case s.departments():
			return 0
		case s.people():
			return 1
		}
		return 2
	}
	slices.SortStableFunc(order, func(a, b *sheet) int { return cmp.Compare(rank(a), rank(b)) })
	for _, s := range order {
		r.coded(s)
	}
	for _, s := range order {
		r.places.alone = s.departments() || s.own()
		var of []line
		if s.departments() && s.layout.levels { // departments before those below them
			slices.SortStableFunc(s.records, func(a, b tableRow) int { return cmp.Compare(s.depth(a), s.depth(b)) })
		}
		for _, x := range s.records {
			of = append(of, r.row(s, x)...)
		}
		if s.departments() {
			r.places.link()
		}
		all = append(all, r.since(s, of)...)
	}
	all = r.joined(all)
	r.managers(all)
	return r.below(r.rank(append(all, r.places.lines()...)))
}

// row returns the lines of one row.
func (r *reader) row(s *sheet, x tableRow) []line {
	switch {
	case s.own():
		return r.ownRow(s, x)
	case s.departments() && s.layout.levels:
		r.levels(s, x)
		return nil
	case s.departments():
		r.place(s, x, 1)
		return nil
	case s.example(x):
		return nil
	}
	return r.foreignRow(s, x)
}

// ownRow reads a row of Ringi's own files. Cells at its end may be missing, since spreadsheets leave out empty ones.
func (r *reader) ownRow(s *sheet, x tableRow) []line {
	c := &cells{row: x.row, values: make(map[Column]string, len(columns)), problems: &r.problems, own: true}
	for i, text := range x.cells {
		switch {
		case i < len(s.readings) && s.readings[i].Column != "":
			c.values[s.readings[i].Column] = literal(text)
		case strings.TrimSpace(text) != "" && (i >= len(s.header) || strings.TrimSpace(s.header[i]) == ""):
			c.broken = true
			r.problems.add(Problem{Row: x.row, Rule: RuleExtraCell, Value: strings.TrimSpace(text)})
		}
	}
	c.formulas()
	l := c.line()
	l.own, l.named, l.unranked = true, true, !s.has(ColumnRank)
	if l.number != "" && !s.has(ColumnEmployment) {
		as := r.value(ColumnEmployment, "")
		if as == Ignored {
			r.gone[l.number] = true
			return nil
		}
		l.kind = Kind(cmp.Or(as, string(Employee)))
	}
	if l.department != "" {
		r.places.put(l.department, l.departmentName, l.parent, l.row)
		r.places.known[l.department].own = true
	}
	return []line{l}
}

// value returns as what a value is read; empty if that has to be asked.
func (r *reader) value(c Column, value string) (as string) {
	v := Valued{Column: c, Value: folded(value)}
	as, ok := r.kept.Values[v.Key()]
	if !ok || !slices.Contains(Choices(c), as) {
		as, _ = known(c).find(value)
	}
	v.As = as
	r.valued[v]++
	return as
}

// foreignRow reads a row of another product: a line for each post, and for each time of being away.
func (r *reader) foreignRow(s *sheet, x tableRow) (all []line) {
	c := &cells{row: x.row, problems: &r.problems, values: map[Column]string{
		ColumnNumber: r.number(s, x), ColumnName: name(s, x), ColumnMail: s.cell(x, ColumnMail, 1),
		ColumnFrom: cmp.Or(s.cell(x, ColumnSince, 1), s.cell(x, ColumnFrom, 1)), ColumnTo: s.cell(x, ColumnTo, 1),
		ColumnLeaveFrom: s.cell(x, ColumnLeaveFrom, 1), ColumnLeaveTo: s.cell(x, ColumnLeaveTo, 1),
		ColumnPost: s.cell(x, ColumnPost, 1)}}
	number := folded(c.values[ColumnNumber])
	if number == "" && c.values[ColumnName] == "" && c.values[ColumnMail] == "" {
		r.place(s, x, 1)
		return nil
	}
	c.wrong(s, x)
	tells := r.tells(s, number)
	if tells && r.leaves(s, x, c) {
		r.gone[number] = true
		return nil
	}
	if number != "" && s.cell(x, r.keyed, 1) == "" {
		r.unnumbered[number] = true
	}
	away := r.away(c)
	for i, post := range r.posts(s, x) {
		c.values[ColumnDepartment], c.values[ColumnPosition], c.values[ColumnRank] = post.department, post.position, ""
		if i == 0 {
			c.values[ColumnRank] = s.cell(x, ColumnRank, 1)
			if post.position == "" && c.values[ColumnRank] != "" && r.partTime(s, x) {
				c.values[ColumnRank] = ""
				r.unposted[r.who(s, x)] = true
			}
		} else {
			c.values[ColumnPost] = postsIn[0][1]
		}
		l := c.line()
		l.superior, l.named, l.unranked = s.cell(x, ColumnManager, 1), tells, !s.has(ColumnRank)
		l.told = strings.TrimSpace(c.values[ColumnPost]) != ""
		all = append(all, l.apart(away)...)
	}
	return all
}

// away returns on which days somebody is away. Whoever is by their status is so today, too: of the days in the file,
// the one that says otherwise is of an earlier or a later time.
func (r *reader) away(c *cells) Period {
	p := Period{c.date(ColumnLeaveFrom), c.date(ColumnLeaveTo)}
	switch {
	case c.values[ColumnStatus] != statusAway || r.today == 0:
	case p.From > r.today:
		p.From = 0
	case p.To > 0 && p.To < r.today:
		p.To = 0
	}
	return p
}

// post is where somebody works, and as what.
type post struct{ department, position string }

// posts returns the posts of a row, the main one first. A further position without a department is one more in the
// first post's.
func (r *reader) posts(s *sheet, x tableRow) (all []post) {
	for nth := 1; nth <= max(s.most, 1); nth++ {
		p := post{r.place(s, x, nth), r.position(s, x, nth)}
		if p == (post{}) {
			continue
		}
		if len(all) > 0 && p.department == "" {
			p.department = all[0].department
		}
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		all = append(all, post{})
	}
	return all
}

// wrong adds a problem for each cell that is read and has no value but what a program shows for lack of one.
func (c *cells) wrong(s *sheet, x tableRow) {
	for i, text := range x.cells {
		if i >= len(s.readings) || s.readings[i].Column == "" {
			continue
		}
		rule, ok := unreadable(s.readings[i].Column, folded(literal(text)))
		if ok {
			c.broken = true
			c.problems.add(Problem{Row: x.row, Column: s.readings[i].Column, Rule: rule, Value: strings.TrimSpace(text)})
		}
	}
}

// leaves reads how a person is employed and whether they work; true if their row is left out. What has to be asked
// first counts as usual.
func (r *reader) leaves(s *sheet, x tableRow, c *cells) bool {
	for _, of := range []Column{ColumnAccount, ColumnBlocked} {
		said := s.cell(x, of, 1)
		if said == "" {
			continue
		}
		switch r.value(of, said) {
		case Ignored:
			return true // how guests are employed need not be asked
		case statusAway:
			c.values[ColumnStatus] = statusAway
		}
	}
	kind := r.value(ColumnEmployment, s.cell(x, ColumnEmployment, 1))
	out := kind == Ignored
	if status := s.cell(x, ColumnStatus, 1); status != "" {
		switch r.value(ColumnStatus, status) {
		case Ignored: // a day on which they leave says more
			out = out || strings.TrimSpace(c.values[ColumnTo]) == ""
		case statusAway:
			c.values[ColumnStatus] = statusAway
			fallthrough
		default:
			r.passed(s, c, out)
		}
	}
	c.values[ColumnEmployment] = cmp.Or(kind, string(Employee))
	return out
}

// passed reads a last day that has passed of somebody who works by their status: it is of an earlier time, as products
// keep it of those who were hired again. Whether an account is enabled says less than the day.
func (r *reader) passed(s *sheet, c *cells, out bool) {
	last, err := ParseDate(western(folded(c.values[ColumnTo])))
	if err != nil || last >= r.today || out {
		return
	}
	is := who(c.values[ColumnName], folded(c.values[ColumnNumber]))
	if s.accounts() {
		r.enabled[is] = true
		return
	}
	r.rehired[is], c.values[ColumnTo] = true, ""
}

// who is somebody as administrators are told of them.
func who(name, number string) string { return strings.TrimSpace(name + " (" + number + ")") }

func (r *reader) who(s *sheet, x tableRow) string { return who(name(s, x), folded(r.number(s, x))) }

// accounts reports whether the statuses of a file are those of accounts.
func (s *sheet) accounts() bool {
	return slices.ContainsFunc(s.by[Reading{ColumnStatus, 1}], func(i int) bool {
		return key(s.header[i]) == "accountenabled"
	})
}

// number returns by what a person is told apart. Who has no number is told apart by their address, if it is one.
func (r *reader) number(s *sheet, x tableRow) string {
	text := s.cell(x, r.keyed, 1)
	mail := lower(s.cell(x, ColumnMail, 1))
	switch {
	case r.keyed == ColumnMail, text == "" && isMail(mail):
		return mail
	case r.keyed == ColumnID:
		return strings.ReplaceAll(text, "-", "")
	}
	return text
}

// name returns what a person is called, as their language orders names.
func name(s *sheet, x tableRow) string {
	if whole := strings.TrimSpace(s.cell(x, ColumnName, 1)); whole != "" {
		return whole
	}
	family := strings.TrimSpace(s.cell(x, ColumnFamily, 1))
	given := strings.TrimSpace(s.cell(x, ColumnGiven, 1))
	spaced := func(r rune) bool { return !unicode.In(r, unspaced...) }
	if !strings.ContainsFunc(family+given, func(r rune) bool { return !spaced(r) }) {
		family, given = given, family
	}
	return strings.TrimSpace(family + " " + given)
}

// apart returns a line as up to three: before, in and after the days on which the person is away.
func (l line) apart(away Period) (all []line) {
	if away == (Period{}) {
		return []line{l}
	}
	parts := []Period{away}
	if away.From > 0 {
		parts = append(parts, Period{To: away.From - 1})
	}
	if away.To > 0 {
		parts = append(parts, Period{From: away.To + 1})
	}
	for i, p := range parts {
		part := l
		during, ok := common(l.during, p)
		if part.during, part.status = during, ""; i == 0 {
			part.status = statusAway
		}
		if ok {
			all = append(all, part)
		}
	}
	return all
}

// since ends each post of a file of their first days on the day before the same person's next one.
func (r *reader) since(s *sheet, all []line) (out []line) {
	if !s.has(ColumnSince) || s.own() {
		return all
	}
	begins := map[string][]Date{}
	for _, l := range all {
		begins[l.number] = append(begins[l.number], l.during.From)
	}
	for _, l := range all {
		next := Date(0)
		for _, d := range begins[l.number] {
			if d > l.during.From && (next == 0 || d < next) {
				next = d
			}
		}
		if next > 0 && (l.during.To == 0 || l.during.To >= next) {
			l.during.To = next - 1
		}
		if l.department != "" || l.position != "" {
			out = append(out, l)
		}
	}
	return out
}

// managers finds the numbers of superiors whom files name by number, address or name.
func (r *reader) managers(all []line) {
	numbers, mails, names := map[string]bool{}, map[string]string{}, map[string][]string{}
	for _, l := range all {
		numbers[l.number] = true
		for _, m := range l.mails {
			mails[m] = l.number
		}
		if k := pathKey([]string{l.name}); l.name != "" && !slices.Contains(names[k], l.number) {
			names[k] = append(names[k], l.number)
		}
	}
	r.strangers = map[string]bool{}
	for i, l := range all {
		said := folded(l.superior)
		if said == "" {
			continue
		}
		is := mails[lower(said)]
		if found := names[pathKey([]string{said})]; is == "" && len(found) == 1 {
			is = found[0]
		}
		if numbers[said] {
			is = said
		}
		if is == "" {
			r.strangers[said] = true
		} else if is != l.number {
			all[i].manager = is
		}
	}
}

// rank gives positions of files without ranks those that people said.
func (r *reader) rank(all []line) []line {
	for i, l := range all {
		if l.position != "" {
			r.positions[l.position] = true
		}
		if l.unranked && l.position != "" && !l.broken {
			r.ranked[l.position]++
			all[i].rank = min(max(r.kept.Ranks[l.position], 0), MaxRank)
		}
	}
	return all
}
