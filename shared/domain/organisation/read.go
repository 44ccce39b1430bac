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

// Limits of a file. MaxBytes leaves 50,000 rows 160 bytes each.
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
	lines, complete := r.lines(file)
	var o *Organisation
	if complete {
		c := &check{problems: &r.problems, lines: lines}
		o = c.organisation()
	}
	if err := r.problems.err(); err != nil {
		return nil, err
	}
	return o, nil
}

// reader reads rows. A row's number is that of a spreadsheet, where a cell may have line breaks.
type reader struct {
	problems Problems
	columns  []Column // of the header, empty where it is empty
}

// lines returns the rows below the header, and false if only a part of the file was understood.
func (r *reader) lines(file []byte) (all []line, complete bool) {
	if len(file) > MaxBytes {
		r.problems.add(Problem{Rule: RuleBytes, Limit: MaxBytes})
		return nil, false
	}
	if bytes.HasPrefix(file, []byte("PK\x03\x04")) || bytes.HasPrefix(file, []byte("\xd0\xcf\x11\xe0")) {
		r.problems.add(Problem{Rule: RuleForm})
		return nil, false
	}
	if !utf8.Valid(file) {
		good := valid(file)
		r.problems.add(Problem{Row: 1 + bytes.Count(good, []byte("\n")), Rule: RuleEncoding,
			Value: fmt.Sprintf("0x%X", file[len(good)])})
		return nil, false
	}
	file = bytes.TrimSuffix(bytes.TrimPrefix(file, []byte("\ufeff")), []byte("\x1a")) // DOS ends files with a sign
	if !bytes.Contains(file, []byte("\n")) {
		file = bytes.ReplaceAll(file, []byte("\r"), []byte("\n")) // old Macintoshes, and "CSV (Macintosh)" of Excel
	}
	rows := newRows(file)
	if rows.next() {
		r.header(rows.record)
	}
	if len(r.problems.Listed) > 0 {
		return nil, false
	}
	for rows.next() {
		if empty(rows.record) {
			continue
		}
		if len(all) == MaxRows {
			r.problems.add(Problem{Row: rows.row, Rule: RuleRows, Limit: MaxRows})
			return nil, false
		}
		all = append(all, r.line(rows.row, rows.record))
	}
	if len(all) == 0 && !rows.broken {
		r.problems.add(Problem{Rule: RuleEmpty})
	}
	r.unread(rows)
	return all, !rows.broken && len(all) > 0
}

// unread adds a problem if reading ended at a row whose quotation marks don't fit.
func (r *reader) unread(rows *rows) {
	if rows.broken {
		r.problems.add(Problem{Row: rows.row, Rule: RuleQuotes})
	}
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

func empty(record []string) bool {
	return !slices.ContainsFunc(record, func(s string) bool { return strings.TrimSpace(s) != "" })
}

// separator returns what separates the names of a header that has no commas, if that makes columns of them.
func separator(record []string) string {
	for _, by := range []string{";", "\t"} {
		names := strings.Split(strings.Join(record, ","), by)
		if len(record) == 1 && len(names) > 1 &&
			slices.ContainsFunc(names, func(s string) bool { _, ok := columnOf(strings.Trim(s, `"`)); return ok }) {
			return by
		}
	}
	return ""
}

// header reads the names of the columns. Rows are read only if nothing is wrong with them.
func (r *reader) header(record []string) {
	if len(record) > 0 && strings.HasPrefix(strings.ToLower(record[0]), "sep=") {
		r.problems.add(Problem{Row: 1, Rule: RuleSepLine, Value: record[0]})
		return
	}
	if by := separator(record); by != "" {
		r.problems.add(Problem{Row: 1, Rule: RuleSeparator, Value: by})
		return
	}
	for _, name := range record {
		column, ok := columnOf(name)
		switch {
		case strings.TrimSpace(name) != "" && !ok:
			r.problems.add(Problem{Row: 1, Rule: RuleUnknownColumn, Value: name})
		case ok && slices.Contains(r.columns, column):
			r.problems.add(Problem{Row: 1, Column: column, Rule: RuleTwice})
		}
		r.columns = append(r.columns, column)
	}
	for _, column := range required {
		if !slices.Contains(r.columns, column) {
			r.problems.add(Problem{Row: 1, Column: column, Rule: RuleMissingColumn})
		}
	}
}

// line reads one row. Cells at its end may be missing, since spreadsheets leave out empty ones.
func (r *reader) line(row int, record []string) line {
	c := &cells{row: row, values: make(map[Column]string, len(columns)), problems: &r.problems}
	for i, s := range record {
		if i < len(r.columns) && r.columns[i] != "" {
			c.values[r.columns[i]] = literal(s)
		} else if strings.TrimSpace(s) != "" {
			c.broken = true
			r.problems.add(Problem{Row: row, Rule: RuleExtraCell, Value: strings.TrimSpace(s)})
		}
	}
	c.formulas()
	return c.line()
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
	r := &rows{csv: csv.NewReader(bytes.NewReader(file)), file: file}
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
