package organisation

import (
	"slices"
	"strings"
)

// Doubt is two columns of departments that say different things in some rows.
type Doubt struct {
	Used, Other string // headers
	Rows        []int  // in which they differ, as a spreadsheet counts
	Dropped     bool   // Other isn't read at all
}

// units is the column of an account's organisational unit. It may be a department, or say only which of an
// administrator's policies hold for the account.
const units = "orgunitpath"

// compare looks for rows in which columns of departments differ. Units that mostly differ from the departments beside
// them are none, unless an administrator said that they are.
func (r *reader) compare(s *sheet) {
	columns := s.by[Reading{ColumnPath, 1}]
	for _, other := range columns[min(1, len(columns)):] {
		used := columns[0]
		d, both := r.differ(s, used, other)
		s.otherUnits = s.otherUnits || key(s.header[used]) == units && 2*len(d.Rows) > both
		if _, said := r.kept.Columns[units]; s.otherUnits && !said {
			d.Used, d.Other, d.Dropped = d.Other, d.Used, true
			s.readings[used], s.doubts = Reading{}, []Doubt{d}
			s.sort()
			return
		}
		if len(d.Rows) > 0 {
			s.doubts = append(s.doubts, d)
		}
	}
}

// differ returns in which rows two columns name departments of which neither is within the other's path, and in how
// many rows both say something.
func (r *reader) differ(s *sheet, used, other int) (d Doubt, both int) {
	d = Doubt{Used: strings.TrimSpace(s.header[used]), Other: strings.TrimSpace(s.header[other])}
	path := func(x tableRow, i int) []string {
		if i >= len(x.cells) {
			return nil
		}
		return r.splits(s, literal(x.cells[i]))
	}
	for _, x := range s.records {
		a, b := path(x, used), path(x, other)
		if len(a) == 0 || len(b) == 0 {
			continue
		}
		if both++; !within(a, b) && !within(b, a) {
			d.Rows = append(d.Rows, x.row%sheetRows)
		}
	}
	return d, both
}

// within reports whether the names of a path follow each other in another one.
func within(path, other []string) bool {
	for ; len(other) >= len(path); other = other[1:] {
		if pathKey(other[:len(path)]) == pathKey(path) {
			return true
		}
	}
	return false
}

// sources are the columns of products from which one of Ringi's is made.
var sources = map[Column][]Column{
	ColumnNumber: {ColumnMail, ColumnID}, ColumnName: {ColumnFamily, ColumnGiven}, ColumnFrom: {ColumnSince},
	ColumnDepartment: {ColumnPath, ColumnDepartmentName, ColumnLevel}, ColumnDepartmentName: {ColumnPath, ColumnLevel},
	ColumnPath: {ColumnLevel}, ColumnParent: {ColumnLevelCode},
}

// err returns the problems as an error. Those of other products' files name the columns as the files do.
func (r *reader) err() error {
	r.problems.cut()
	for i, p := range r.problems.Listed {
		if at := p.Row / sheetRows; p.Column != "" && at < len(r.sheets) && !r.sheets[at].own() {
			r.problems.Listed[i].Header = r.sheets[at].headerOf(p)
		}
	}
	return r.problems.err()
}

// headerOf returns the header of a problem's column: of several, the one whose cell has the value.
func (s *sheet) headerOf(p Problem) (header string) {
	var cells []string
	if i := slices.IndexFunc(s.records, func(x tableRow) bool { return x.row == p.Row }); i >= 0 {
		cells = s.records[i].cells
	}
	for _, c := range append([]Column{p.Column}, sources[p.Column]...) {
		for i, x := range s.readings {
			if x.Column != c {
				continue
			}
			if p.Value != "" && i < len(cells) && strings.HasPrefix(strings.TrimSpace(literal(cells[i])), p.Value) {
				return strings.TrimSpace(s.header[i])
			}
			if header == "" {
				header = strings.TrimSpace(s.header[i])
			}
		}
	}
	return header
}
