package organisation

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"ringi/shared/words/language"
)

// Limits of files. MaxBytes leaves 50,000 rows 160 bytes each.
const (
	MaxFiles       = 3
	MaxBytes       = 8 << 20 // of one file
	MaxRows        = 50_000  // of all files
	MaxPeople      = 10_000
	MaxDepartments = 3_000
)

// File is a file in UTF-8, with or without a byte order mark.
type File struct {
	Name string // as it was uploaded; it tells the second posts of some products from the first
	Text []byte
}

// Read reads one file that leaves nothing to be asked. If anything is wrong with it, the error is Problems, with all
// that could be found: rows that can't be read are left out of what is checked over several rows.
func Read(file []byte) (*Organisation, error) {
	l, err := Lay([]File{{Text: file}}, Kept{}, 0)
	if err != nil {
		return nil, err
	}
	var p Problems
	for _, c := range l.Missing {
		p.add(Problem{Row: 1, Column: c, Rule: RuleMissingColumn})
	}
	for _, v := range l.Values {
		if v.As == "" {
			p.add(Problem{Column: v.Column, Rule: RuleUnknownValue, Value: v.Value})
		}
	}
	if slices.ContainsFunc(l.Ranks, Ranked.asked) {
		p.add(Problem{Row: 1, Column: ColumnRank, Rule: RuleMissingColumn})
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	return l.Organisation, nil
}

// Kept is what an administrator said of the files of a tenant: what no file says by itself.
type Kept struct {
	Columns map[string]string `json:"columns,omitempty"` // by Key of a SheetColumn: a Reading
	Values  map[string]string `json:"values,omitempty"`  // by Key of a Valued: one of Choices
	Ranks   map[string]int    `json:"ranks,omitempty"`   // by position; 0 is none
	Split   string            `json:"split,omitempty"`   // one of Splits, empty: as the layout says
	Without bool              `json:"without,omitempty"` // no file has departments
}

// Equal reports whether two of them say the same.
func (k Kept) Equal(other Kept) bool {
	return maps.Equal(k.Columns, other.Columns) && maps.Equal(k.Values, other.Values) &&
		maps.Equal(k.Ranks, other.Ranks) && k.Split == other.Split && k.Without == other.Without
}

// Whole is the Split of departments whose names are no paths.
const Whole = "whole"

// Splits are what may part the departments of a path.
var Splits = []string{Whole, "/", ">", "-", " "}

// Laid is what files say together: what was read, what was ignored, and what has to be asked first.
type Laid struct {
	Sheets       []Sheet
	Key          Column   // by what people are told apart: ColumnNumber, ColumnID or ColumnMail
	Missing      []Column // columns that no file has
	Values       []Valued // how values were read that are words of products
	Ranks        []Ranked // positions of files without ranks
	Strangers    []string // superiors whom a file names and nobody knows
	Unnumbered   []string // addresses of people who have no number, and are told apart by them
	Rehired      []string // names and numbers of people who work by their status, though their last day has passed
	Enabled      []string // and of people whose last day has passed, though their account is enabled
	Placed       []string // and of people without a department whose position doesn't count, so that they lead nobody
	Unposted     []string // and of part-timers whose position is in no order, so that they have none
	Spelled      []string // departments that were taken for one, as the files spell them
	Elsewhere    []string // departments that a file's paths put elsewhere than the file of departments, which counts
	Alike        []string // positions that look the same and are not
	Top          bool     // somebody has no department, so a department was made for them above all others
	Paths        bool     // a department's name has a sign that may part a path
	Organisation *Organisation
}

// Sheet is what one file was read as.
type Sheet struct {
	Name, Layout string // Layout is empty for a file of no known product
	Rows         int
	Columns      []SheetColumn
	Doubts       []Doubt
}

// SheetColumn is a column of a file, and as what it is read.
type SheetColumn struct {
	Header, Key, Example string
	Reading, Usual       Reading // Usual is what it would be read as if nobody had said anything
}

// Valued is a value of a column with as what it is read, empty while that has to be asked.
type Valued struct {
	Column    Column
	Value, As string
	Count     int
}

// Key is what Kept knows a value by.
func (v Valued) Key() string { return string(v.Column) + " " + lower(v.Value) }

// Usual returns as what a value is read if nobody says anything; empty if that has to be asked.
func (v Valued) Usual() string {
	as, _ := known(v.Column).find(v.Value)
	return as
}

// Ranked is a position of files that have no ranks.
type Ranked struct {
	Position string
	Rank     int // of Kept; what is proposed if Kept has none at all
	Count    int // of posts
	Known    bool
}

func (r Ranked) asked() bool { return !r.Known }

// Asks reports whether something has to be asked before there is an organisation.
func (l *Laid) Asks() bool {
	return len(l.Missing) > 0 || slices.ContainsFunc(l.Ranks, Ranked.asked) ||
		slices.ContainsFunc(l.Values, func(v Valued) bool { return v.As == "" })
}

// Lay lays one to three files together: people, further posts and departments may be in files of their own. If rows
// can't be read, the error is Problems; what was read and what has to be asked is returned, too. Today is the day on
// which the files' statuses hold; by 0 no day has passed.
func Lay(files []File, kept Kept, today Date) (*Laid, error) {
	r := &reader{kept: kept, today: today, places: newPlaces(),
		placings: map[Column]map[string]placing{ColumnParent: {}, ColumnPath: {}}, gone: map[string]bool{},
		introduced: map[string]bool{}, valued: map[Valued]int{}, ranked: map[string]int{}, unnumbered: map[string]bool{},
		rehired: map[string]bool{}, enabled: map[string]bool{}, placed: map[string]bool{}, unposted: map[string]bool{},
		positions: map[string]bool{}}
	if len(files) > MaxFiles {
		r.problems.add(Problem{Rule: RuleFiles, Limit: MaxFiles})
		files = nil
	}
	complete := len(files) > 0
	for i, f := range files {
		s := &sheet{File: f, at: i}
		r.open(s)
		r.assign(s)
		r.sheets, complete = append(r.sheets, s), complete && !s.broken
	}
	r.key()
	r.introduce()
	l := r.told()
	if len(l.Missing) > 0 {
		if !complete {
			l.Missing = nil // the files that can't be read may have them
		}
		return l, r.err()
	}
	lines := r.lines()
	if complete && len(lines) > 0 {
		c := &check{problems: &r.problems, lines: lines}
		l.Organisation = c.organisation()
	}
	r.found(l)
	if l.Asks() {
		l.Organisation = nil
	}
	return l, r.err()
}

// reader reads files together. A row's number is that of a spreadsheet, where a cell may have line breaks.
type reader struct {
	problems   Problems
	kept       Kept
	today      Date
	sheets     []*sheet
	rows       int
	keyed      Column
	places     *places
	placings   map[Column]map[string]placing // by code
	gone       map[string]bool               // people who are left out
	introduced map[string]bool               // people of files that are about people, by number
	valued     map[Valued]int
	ranked     map[string]int // posts by position, of files without ranks
	strangers  map[string]bool
	unnumbered map[string]bool
	rehired    map[string]bool
	enabled    map[string]bool
	placed     map[string]bool // people whose position doesn't count, since nobody said where they have it
	unposted   map[string]bool // part-timers whose position counts as none
	positions  map[string]bool
	top        bool
}

// assign finds as what the columns of a file are read.
func (r *reader) assign(s *sheet) {
	s.layout = detect(s.header)
	seen := map[Reading]bool{}
	for _, h := range s.header {
		reading, ok := s.layout.reading(h)
		if said, kept := r.kept.Columns[key(h)]; kept {
			reading, ok = ParseReading(said)
		}
		if !ok || strings.TrimSpace(h) == "" {
			reading = Reading{}
		}
		if s.own() && reading.Column != "" && seen[reading] {
			s.broken, s.records = true, nil
			r.problems.add(Problem{Row: s.row(1), Column: reading.Column, Rule: RuleTwice})
		}
		seen[reading] = true
		s.readings = append(s.readings, reading)
	}
	if s.own() && (seen[Reading{ColumnName, 1}] && !seen[Reading{ColumnNumber, 1}] || slices.ContainsFunc(s.readings,
		func(x Reading) bool { return x.Column != "" && !slices.Contains(columns, x.Column) })) {
		s.layout = &layouts[len(layouts)-1]
	}
	s.sort()
	r.compare(s)
}

// sort lists the columns that are read as the same, those that count first before the others.
func (s *sheet) sort() {
	s.by = map[Reading][]int{}
	for i, x := range s.readings {
		if x.Column != "" {
			s.by[x] = append(s.by[x], i)
			s.most = max(s.most, x.Nth)
		}
	}
	order := func(i int) int {
		k := key(s.header[i])
		return slices.IndexFunc(aliases, func(a alias) bool { return a.key == k })
	}
	for _, all := range s.by {
		slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(order(a), order(b)) })
	}
}

// own reports whether a file is as this package writes them: each row is a post, or a department.
func (s *sheet) own() bool { return s.layout.ID == Own }

// has reports whether a file has one of some columns.
func (s *sheet) has(all ...Column) bool {
	return slices.ContainsFunc(s.readings, func(x Reading) bool { return slices.Contains(all, x.Column) })
}

// people reports whether a file says what people are called.
func (s *sheet) people() bool { return s.has(ColumnName, ColumnFamily, ColumnGiven) }

// placed reports whether a file says where people work.
func (s *sheet) placed() bool { return slices.ContainsFunc(s.readings, Reading.places) }

// departments reports whether a file is about departments alone.
func (s *sheet) departments() bool {
	return s.placed() && !s.has(ColumnNumber, ColumnID, ColumnMail, ColumnName, ColumnFamily, ColumnGiven)
}

// cell returns what a row says of a column: the first of its cells that isn't empty.
func (s *sheet) cell(x tableRow, c Column, nth int) string {
	for _, i := range s.by[Reading{c, nth}] {
		if i < len(x.cells) {
			if v := literal(x.cells[i]); strings.TrimSpace(v) != "" {
				return v
			}
		}
	}
	return ""
}

// key finds out by what people are told apart: the same in all files. A column that is empty in all rows is none.
func (r *reader) key() {
	named := slices.ContainsFunc(r.sheets, (*sheet).people)
	for _, c := range []Column{ColumnNumber, ColumnID, ColumnMail} {
		for _, s := range r.sheets {
			if s.own() && s.has(c) || (s.people() || !named) && slices.ContainsFunc(s.records,
				func(x tableRow) bool { return s.cell(x, c, 1) != "" }) {
				r.keyed = c
				return
			}
		}
	}
}

// told returns what the files were read as, and which columns are missing.
func (r *reader) told() *Laid {
	l := &Laid{Key: r.keyed}
	people, placed := false, r.kept.Without
	for _, s := range r.sheets {
		l.Sheets = append(l.Sheets, s.told())
		people, placed = people || s.people(), placed || s.placed()
	}
	if r.keyed == "" {
		l.Missing = append(l.Missing, ColumnNumber)
	}
	if !people {
		l.Missing = append(l.Missing, ColumnName)
	}
	if !placed {
		l.Missing = append(l.Missing, ColumnPath)
	}
	return l
}

// secret matches headers of columns whose cells no page shows.
var secret = language.Regexp{Text: `password|passwd|パスワード|暗証|個人番号|マイナンバー|口座`}

func (s *sheet) told() Sheet {
	t := Sheet{Name: s.Name, Layout: s.layout.ID, Rows: len(s.records), Doubts: s.doubts}
	for i, h := range s.header {
		if strings.TrimSpace(h) == "" {
			continue
		}
		c := SheetColumn{Header: strings.TrimSpace(h), Key: key(h), Reading: s.readings[i]}
		if usual, ok := s.layout.reading(h); ok && (!s.otherUnits || c.Key != units) {
			c.Usual = usual
		}
		for _, x := range s.records {
			if i < len(x.cells) && strings.TrimSpace(x.cells[i]) != "" && !secret.Get().MatchString(c.Key) {
				c.Example = strings.TrimSpace(x.cells[i])
				break
			}
		}
		t.Columns = append(t.Columns, c)
	}
	return t
}

// found adds what the rows say: how values were read, which positions there are, and whom nobody knows.
func (r *reader) found(l *Laid) {
	for v, n := range r.valued {
		v.Count = n
		l.Values = append(l.Values, v)
	}
	slices.SortFunc(l.Values, func(a, b Valued) int {
		return cmp.Or(cmp.Compare(a.Column, b.Column), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
	})
	for p, n := range r.ranked {
		rank, known := r.kept.Ranks[p]
		l.Ranks = append(l.Ranks, Ranked{p, rank, n, known})
	}
	if !slices.ContainsFunc(l.Ranks, func(x Ranked) bool { return x.Known }) {
		propose(l.Ranks)
	}
	slices.SortFunc(l.Ranks, func(a, b Ranked) int {
		rank := func(x Ranked) int { return cmp.Or(x.Rank, unranked) }
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Position, b.Position))
	})
	l.Strangers = slices.Sorted(maps.Keys(r.strangers))
	l.Unnumbered, l.Rehired = slices.Sorted(maps.Keys(r.unnumbered)), slices.Sorted(maps.Keys(r.rehired))
	l.Enabled, l.Placed = slices.Sorted(maps.Keys(r.enabled)), slices.Sorted(maps.Keys(r.placed))
	l.Unposted = slices.Sorted(maps.Keys(r.unposted))
	l.Spelled, l.Elsewhere, l.Alike = r.places.spelledTwice(), r.elsewhere(), alike(r.positions)
	l.Top, l.Paths = r.top, r.places.signs
}

// propose ranks positions as they usually stand, from 1 on.
func propose(all []Ranked) {
	var steps []int
	for _, x := range all {
		steps = append(steps, usualRank(x.Position))
	}
	slices.Sort(steps)
	steps = slices.DeleteFunc(slices.Compact(steps), func(n int) bool { return n == 0 })
	for i, x := range all {
		all[i].Rank = slices.Index(steps, usualRank(x.Position)) + 1
	}
}
