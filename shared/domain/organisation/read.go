package organisation

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of files. MaxBytes leaves 50,000 rows 160 bytes each.
const (
	MaxBytes       = 8 << 20
	MaxRows        = 50_000
	MaxPeople      = 10_000
	MaxDepartments = 3_000
)

// Read reads a file in UTF-8, with or without a byte order mark. If anything is wrong with it, the error is Problems,
// with all that could be found: rows that can't be read are left out of what is checked over several rows.
func Read(file []byte) (*Organisation, error) {
	r := &reader{}
	if text, ok := r.text(file); ok {
		r.open(text)
	}
	c := &check{problems: &r.problems, lines: r.lines}
	o := c.organisation(!r.broken)
	if err := r.problems.err(); err != nil {
		return nil, err
	}
	return o, nil
}

// reader reads the rows of a file. A row's number is that of a spreadsheet, where a cell may have line breaks.
type reader struct {
	problems Problems
	columns  []Column // of the cells, empty where a column is ignored
	lines    []line
	broken   bool // the rest was not read
}

// text returns a file's text without the signs that programs put at its ends; false if it is none.
func (r *reader) text(file []byte) ([]byte, bool) {
	refuse := func(p Problem) ([]byte, bool) {
		r.broken = true
		r.problems.add(p)
		return nil, false
	}
	switch {
	case len(file) > MaxBytes:
		return refuse(Problem{Rule: RuleBytes, Limit: MaxBytes})
	case bytes.HasPrefix(file, []byte("PK\x03\x04")), bytes.HasPrefix(file, []byte("\xd0\xcf\x11\xe0")):
		return refuse(Problem{Rule: RuleForm})
	case !utf8.Valid(file):
		good := valid(file)
		return refuse(Problem{Row: 1 + bytes.Count(good, []byte("\n")), Rule: RuleEncoding,
			Value: fmt.Sprintf("0x%X", file[len(good)])})
	}
	return bytes.TrimPrefix(file, []byte("\ufeff")), true
}

// valid returns the beginning of a text that is UTF-8.
func valid(text []byte) []byte {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return text[:i]
		}
		i += size
	}
	return text
}

// open reads the header and the rows below it.
func (r *reader) open(text []byte) {
	rows := newRows(text)
	if rows.next() && !r.header(rows) {
		return
	}
	n := 0
	for rows.next() {
		if empty(rows.record) {
			continue
		}
		if n++; n > MaxRows {
			r.problems.add(Problem{Row: rows.row, Rule: RuleRows, Limit: MaxRows})
			r.broken = true
			return
		}
		r.row(rows)
	}
	if r.broken = rows.broken; r.broken {
		r.problems.add(Problem{Row: rows.row, Rule: RuleQuotes})
	} else if n == 0 {
		r.problems.add(Problem{Rule: RuleEmpty})
	}
}

// header finds the columns of the file; false if it lacks one or has one twice.
func (r *reader) header(rows *rows) bool {
	if empty(rows.record) {
		r.columns = make([]Column, len(rows.record))
		return true
	}
	for _, h := range rows.record {
		c, _ := columnOf(h)
		if c != "" && slices.Contains(r.columns, c) {
			r.problems.add(Problem{Row: rows.row, Column: c, Rule: RuleTwice})
			r.broken = true
		}
		r.columns = append(r.columns, c)
	}
	for _, c := range required {
		if !slices.Contains(r.columns, c) {
			r.problems.add(Problem{Row: rows.row, Column: c, Rule: RuleMissingColumn})
			r.broken = true
		}
	}
	return !r.broken
}

// row reads one row.
func (r *reader) row(rows *rows) {
	c := &cells{row: rows.row, values: map[Column]string{}, problems: &r.problems}
	for i, v := range rows.record {
		switch {
		case i >= len(r.columns) && strings.TrimSpace(v) != "":
			r.problems.add(Problem{Row: rows.row, Rule: RuleExtraCell, Value: strings.TrimSpace(v)})
			c.broken = true
		case i < len(r.columns) && r.columns[i] != "":
			c.values[r.columns[i]] = literal(v)
		}
	}
	c.formulas()
	r.lines = append(r.lines, c.line())
}

func empty(record []string) bool {
	return !slices.ContainsFunc(record, func(s string) bool { return strings.TrimSpace(s) != "" })
}

// rows goes through the rows of a file.
type rows struct {
	csv    *csv.Reader
	file   []byte
	offset int // where the newest row ends
	ended  int // in which line
	row    int
	record []string
	broken bool
}

func newRows(file []byte) *rows {
	r := &rows{file: file, csv: csv.NewReader(bytes.NewReader(file))}
	r.csv.FieldsPerRecord = -1
	return r
}

// next reads the next row that isn't empty. Empty ones, which the CSV reader skips, count.
func (r *rows) next() bool {
	var err error
	if r.record, err = r.csv.Read(); err != nil {
		if wrong, ok := errors.AsType[*csv.ParseError](err); ok {
			r.row, r.broken = r.row+wrong.StartLine-r.ended, true
		}
		return false
	}
	began, _ := r.csv.FieldPos(0)
	r.row += began - r.ended
	end := int(r.csv.InputOffset())
	r.ended += bytes.Count(r.file[r.offset:end], []byte("\n"))
	r.offset = end
	return true
}
