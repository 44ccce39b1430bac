package organisation

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Top is the code of the department that is made for people who have none, where no other stands above all.
const Top = "*"

// places are the departments of files that have names or paths in place of codes and parents.
type places struct {
	known map[string]*place
	paths map[string]string   // codes by the key of a path
	named map[string][]string // codes by the key of a name, of files of departments
	alone bool                // the file that is read is about departments alone
	signs bool                // a name has a sign that may part a path

	spelled map[string][]string // names by the key of a path, each spelling once
}

// place is a department, and in which row it stands first.
type place struct {
	name, parent string
	row          int
	own          bool // its rows are those of Ringi's own file, and stand as they are
}

// placing is where a row puts a department: below the code of a parent, or on a path.
type placing struct {
	is  []string
	row int
}

func newPlaces() *places {
	return &places{known: map[string]*place{}, paths: map[string]string{}, named: map[string][]string{},
		spelled: map[string][]string{}}
}

// pathKey is what is compared of a path, and its code where it has none: the names without blanks, without #, which
// parts the keys of rows, and without *, which is the Top.
func pathKey(names []string) string {
	var all []string
	for _, n := range names {
		all = append(all, strings.NewReplacer(" ", "", "#", "♯", "*", "∗").Replace(folded(n)))
	}
	return strings.Join(all, "/")
}

// splits returns the names of a path, the topmost first.
func (r *reader) splits(s *sheet, path string) (names []string) {
	by := s.layout.split
	switch r.kept.Split {
	case "":
	case Whole:
		by = ""
	default:
		by = r.kept.Split
	}
	path = folded(path)
	if strings.ContainsAny(strings.Trim(path, "/> -"), "/> -") {
		r.places.signs = true
	}
	for _, n := range strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(by, r) }) {
		if n = strings.TrimSpace(n); n != "" {
			names = append(names, n)
		}
	}
	return names
}

// put notes a department, and returns its code. Whoever says a name or a parent first is believed.
func (p *places) put(code, name, parent string, row int) string {
	is := p.known[code]
	if is == nil {
		is = &place{row: row}
		p.known[code] = is
	}
	if is.name == "" && name != "" {
		is.name = name
		if k := pathKey([]string{name}); p.alone {
			p.named[k] = append(p.named[k], code)
		}
	}
	is.parent = cmp.Or(is.parent, parent)
	return code
}

// add notes the departments of a path, and returns the code of the last. Code is what the file calls it, if it does.
func (p *places) add(names []string, code string, row int) string {
	parent := ""
	for i := range names {
		k := pathKey(names[:i+1])
		is := p.paths[k]
		switch {
		case i == len(names)-1 && code != "":
			is = code
		case is == "" && len(names) == 1 && len(p.named[k]) == 1:
			is = p.named[k][0] // its name alone tells which one it is
		case is == "":
			is = k
		}
		p.paths[k] = is
		if said := Posted(names[i]); !slices.Contains(p.spelled[k], said) {
			p.spelled[k] = append(p.spelled[k], said)
		}
		parent = p.put(is, names[i], parent, row)
	}
	return parent
}

// spelledTwice returns the departments that have several names which blanks or signs tell apart.
func (p *places) spelledTwice() (all []string) {
	for _, k := range slices.Sorted(maps.Keys(p.spelled)) {
		if names := p.spelled[k]; len(names) > 1 {
			all = append(all, strings.Join(names, " = "))
		}
	}
	return all
}

// path returns the names of a department and those above it, the topmost first, as far as they are known.
func (p *places) path(code string) (names []string) {
	for at := code; at != "" && len(names) <= maxDepth; {
		d := p.known[at]
		if d == nil || d.name == "" {
			break
		}
		names, at = append(names, d.name), d.parent
	}
	slices.Reverse(names)
	return names
}

// elsewhere returns the departments which a file's paths put elsewhere than what was read before it, and counts.
func (r *reader) elsewhere() (all []string) {
	paths := r.placings[ColumnPath]
	for _, code := range slices.Sorted(maps.Keys(paths)) {
		said, is := paths[code].is, r.places.path(code)
		if !within(said, is) && !within(is, said) {
			all = append(all, code+": "+strings.Join(said, "/")+" ≠ "+strings.Join(is, "/"))
		}
	}
	return all
}

// link notes the paths of departments whose parents are known by their codes.
func (p *places) link() {
	for _, code := range slices.Sorted(maps.Keys(p.known)) {
		names := p.path(code)
		if k := pathKey(names); len(names) > 0 && p.paths[k] == "" {
			p.paths[k] = code
		}
	}
}

// lines returns a row for each department, which exists on all days.
func (p *places) lines() (all []line) {
	for _, code := range slices.Sorted(maps.Keys(p.known)) {
		if d := p.known[code]; !d.own {
			all = append(all, line{row: d.row, department: code, departmentName: d.name, parent: d.parent})
		}
	}
	return all
}

// names returns the departments of a person's nth post, the topmost first. Root says that the path is that of the top
// itself.
func (r *reader) names(s *sheet, x tableRow, nth int) (names []string, root bool) {
	for _, i := range s.by[Reading{ColumnPath, nth}] {
		if i < len(x.cells) {
			is := r.splits(s, literal(x.cells[i]))
			if len(names) == 0 || len(is) > len(names) && within(names, is) { // the same place in more words
				names = is
			}
			root = root || strings.TrimSpace(x.cells[i]) != ""
		}
	}
	if nth == 1 && len(names) == 0 {
		for n := 1; n <= s.most; n++ {
			if level := folded(s.cell(x, ColumnLevel, n)); level != "" {
				names = append(names, level)
			}
		}
	}
	return names, root && len(names) == 0
}

// coded notes which paths have codes in a file that has both, before departments are made of paths above them.
func (r *reader) coded(s *sheet) {
	if s.own() || !s.has(ColumnDepartment) || !s.has(ColumnPath, ColumnLevel) {
		return
	}
	for _, x := range s.records {
		for nth := 1; nth <= s.most; nth++ {
			names, _ := r.names(s, x, nth)
			k := pathKey(names)
			if code := folded(s.cell(x, ColumnDepartment, nth)); code != "" && len(names) > 0 && r.places.paths[k] == "" {
				r.places.paths[k] = code
			}
		}
	}
}

// agrees adds a problem if a row puts a department elsewhere than an earlier one: neither below the same parent, nor on
// the same path in more or fewer words.
func (r *reader) agrees(code string, column Column, is []string, row int) {
	if code == "" || strings.Join(is, "") == "" {
		return
	}
	all := r.placings[column]
	switch first, ok := all[code]; {
	case !ok, within(first.is, is):
		all[code] = placing{is, row}
	case !within(is, first.is):
		r.problems.add(Problem{Row: row, Column: column, Rule: RuleConflict, Value: strings.Join(is, "/"), Other: first.row})
	}
}

// place returns the code of the department of a person's nth post; empty if the row has none.
func (r *reader) place(s *sheet, x tableRow, nth int) string {
	code, name := folded(s.cell(x, ColumnDepartment, nth)), strings.TrimSpace(s.cell(x, ColumnDepartmentName, nth))
	names, root := r.names(s, x, nth)
	r.agrees(code, ColumnPath, names, x.row)
	switch {
	case code != "" && len(names) == 0:
		parent := folded(s.cell(x, ColumnParent, nth))
		r.agrees(code, ColumnParent, []string{parent}, x.row)
		return r.places.put(code, name, parent, x.row)
	case code != "" && r.places.known[code] != nil && r.places.known[code].name != "":
		return code
	case len(names) == 0 && name != "":
		names = r.splits(s, name)
	}
	switch {
	case len(names) > 0:
		return r.places.add(names, code, x.row)
	case root:
		return Top
	}
	return ""
}

// depth returns how many levels a row has.
func (s *sheet) depth(x tableRow) (n int) {
	for nth := 1; nth <= s.most; nth++ {
		if s.cell(x, ColumnLevel, nth) != "" {
			n++
		}
	}
	return n
}

// levels notes the departments of a row of a file of departments.
func (r *reader) levels(s *sheet, x tableRow) {
	parent, code := "", folded(s.cell(x, ColumnDepartment, 1))
	var names []string
	for n := 1; n <= s.most; n++ {
		name, of := folded(s.cell(x, ColumnLevel, n)), folded(s.cell(x, ColumnLevelCode, n))
		switch {
		case name == "" && of == "":
			continue
		case of != "":
			r.agrees(of, ColumnParent, []string{parent}, x.row)
			parent = r.places.put(of, name, parent, x.row)
		}
		names = append(names, cmp.Or(name, of))
	}
	if !s.has(ColumnLevelCode) && len(names) > 0 {
		r.places.add(names, code, x.row)
	}
}

// below puts people without a department into the one that stands above all others; where there are several, above
// them. There they lead whoever stands below, so their position only counts if it is higher than all of people who have
// a department: as a president's is, and a new department head's isn't.
func (r *reader) below(all []line) []line {
	lacks := func(l line) bool { return l.number != "" && l.department == "" && !l.own && !l.broken }
	if r.top = slices.ContainsFunc(all, func(l line) bool { return l.department == Top && !l.own }); !r.top &&
		!slices.ContainsFunc(all, lacks) {
		return all
	}
	parents := map[string]string{}
	for _, l := range all {
		if l.department != "" {
			parents[l.department] = cmp.Or(l.parent, parents[l.department])
			parents[l.parent] = parents[l.parent]
		}
	}
	delete(parents, "")
	delete(parents, Top)
	var tops []string
	for _, code := range slices.Sorted(maps.Keys(parents)) {
		if parents[code] == "" {
			tops = append(tops, code)
		}
	}
	if r.top = r.top || len(tops) != 1; r.top {
		for _, code := range tops {
			all = append(all, line{department: code, parent: Top})
		}
		all, tops = append(all, line{department: Top}), []string{Top}
	}
	highest := unranked
	for _, l := range all {
		if l.rank > 0 && !lacks(l) {
			highest = min(highest, l.rank)
		}
	}
	for i, l := range all {
		if !lacks(l) {
			continue
		}
		if all[i].department = tops[0]; l.rank >= highest {
			all[i].position, all[i].rank = "", 0
			r.placed[who(l.name, l.number)] = true
		}
	}
	return all
}
