package organisation

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
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

// Rule is what a row of the file breaks.
type Rule string

// Rules for the file and its header.
const (
	RuleBytes         Rule = "bytes"          // the file has more than Limit bytes
	RuleRows          Rule = "rows"           // more than Limit rows, the header not counted
	RulePeople        Rule = "people"         // more than Limit employee numbers
	RuleDepartments   Rule = "departments"    // more than Limit department codes
	RuleEmpty         Rule = "empty"          // no row below the header
	RuleEncoding      Rule = "encoding"       // not UTF-8: Value is the first byte that isn't
	RuleForm          Rule = "form"           // a workbook, not CSV
	RuleSeparator     Rule = "separator"      // Value stands between the cells in place of a comma
	RuleSepLine       Rule = "sep_line"       // a first line sep=… that only Excel understands
	RuleQuotes        Rule = "quotes"         // quotation marks that don't fit; rows below aren't read
	RuleUnknownColumn Rule = "unknown_column" // a header that names no column
	RuleTwice         Rule = "twice"          // two headers name the same column
	RuleMissingColumn Rule = "missing_column"
	RuleExtraCell     Rule = "extra_cell" // a cell that has no header
)

// Rules for one cell.
const (
	RuleRequired   Rule = "required"
	RuleLength     Rule = "length"     // more than Limit characters
	RuleMails      Rule = "mails"      // more than Limit e-mail addresses
	RuleMail       Rule = "mail"       // not the form of an e-mail address
	RuleFormula    Rule = "formula"    // what a spreadsheet shows for a formula without a value: #N/A, or 0 for a name
	RuleDamaged    Rule = "damaged"    // a character that the file's encoding doesn't have
	RuleExponent   Rule = "exponent"   // a number that a spreadsheet changed, such as 1.2E+10 or 101.0
	RuleCharacters Rule = "characters" // invisible characters, or blanks inside of a number or code
	RuleRank       Rule = "rank"       // not a whole number from 1 to Limit
	RuleNoPosition Rule = "no_position"
	RulePost       Rule = "post" // neither main nor concurrent
	RuleKind       Rule = "kind"
	RuleDate       Rule = "date"
	RuleOrder      Rule = "order" // valid_to lies before valid_from
)

// Rules that several rows break together. Other is one of the other rows, 0 if there is none.
const (
	RuleConflict Rule = "conflict" // Other says something else for the day On
	RuleMailUsed Rule = "mail_used"
	RuleTwoMains Rule = "two_mains" // a second main post on the day On
	RuleNoMain   Rule = "no_main"   // no main post on the day On
	RuleSamePost Rule = "same_post" // Other says the same post for the day On
	RuleTwoRanks Rule = "two_ranks" // Other gives the position another rank
	RuleUnknown  Rule = "unknown"   // no such person
	RuleCycle    Rule = "cycle"     // on the day On it stands above itself
	RuleDepth    Rule = "depth"     // more than Limit stand above each other on the day On
)

// Problem is a rule that a row breaks. It is data so that each reader sees it in their own language.
type Problem struct {
	Row    int    `json:"row"` // as a spreadsheet counts: the header is row 1; 0 is the whole file
	Column Column `json:"column,omitempty"`
	Rule   Rule   `json:"what"`
	Limit  int    `json:"limit,omitempty"`
	Value  string `json:"value,omitempty"` // the beginning of what stands there
	Other  int    `json:"other_row,omitempty"`
	On     Date   `json:"on,omitzero"` // the first such day; none if it is so since ever
}

// Error says in English what is wrong, for logs and commands.
func (p Problem) Error() string {
	var b strings.Builder
	if p.Row > 0 {
		fmt.Fprintf(&b, "row %d: ", p.Row)
	}
	if p.Column != "" {
		fmt.Fprintf(&b, "%s: ", p.Column)
	}
	b.WriteString(cmp.Or(said[p.Rule], string(p.Rule)))
	if p.Limit > 0 {
		fmt.Fprintf(&b, " (limit %d)", p.Limit)
	}
	if p.Value != "" {
		fmt.Fprintf(&b, ": %q", p.Value)
	}
	if p.Other > 0 {
		fmt.Fprintf(&b, ", see row %d", p.Other)
	}
	if p.On > 0 {
		fmt.Fprintf(&b, ", on %s", p.On)
	}
	return b.String()
}

var said = map[Rule]string{
	RuleBytes: "the file has too many bytes", RuleRows: "there are too many rows", RulePeople: "there are too many people",
	RuleDepartments: "there are too many departments", RuleEmpty: "there are no rows", RuleEncoding: "it is not UTF-8",
	RuleForm: "it is a workbook, not CSV", RuleSeparator: "the cells are not separated by commas",
	RuleSepLine:  "the first line is not the header",
	RuleExponent: "a spreadsheet has changed the number",
	RuleFormula:  "it is what a spreadsheet shows for a formula without a value",
	RuleDamaged:  "it has a character that can't be read",
	RuleQuotes:   "quotation marks don't fit, the rest is not read", RuleUnknownColumn: "there is no such column",
	RuleTwice: "the column stands there twice", RuleMissingColumn: "the column is missing",
	RuleExtraCell: "the cell has no header", RuleRequired: "it must not be empty", RuleLength: "it is too long",
	RuleMails: "there are too many addresses", RuleMail: "it is no e-mail address",
	RuleCharacters: "it has invisible characters, or blanks or # in a number or code",
	RuleRank:       "it must be a whole number from 1 to the limit",
	RuleNoPosition: "there is no position that could have it", RulePost: "it must be main or concurrent",
	RuleKind: "it must be employee, contractor or temporary", RuleDate: "it must be a day such as 2026-04-01",
	RuleOrder: "it lies before valid_from", RuleConflict: "another row says something else",
	RuleMailUsed: "the address is another person's", RuleTwoMains: "the person has two main posts",
	RuleNoMain: "the person has no main post", RuleSamePost: "the post stands there twice",
	RuleTwoRanks: "the position has another rank", RuleUnknown: "there is no such number",
	RuleCycle: "it stands above itself", RuleDepth: "too many stand above each other",
}

// Rules returns all rules, by name.
func Rules() []Rule { return slices.Sorted(maps.Keys(said)) }

// MaxProblems is how many problems of a file are listed.
const MaxProblems = 200

// Problems are what is wrong with a file, row by row. More is the number of problems that are not listed.
type Problems struct {
	Listed []Problem `json:"listed"`
	More   int       `json:"more,omitempty"`
}

// Error has a line for each listed problem.
func (p Problems) Error() string {
	var lines []string
	for _, x := range p.Listed {
		lines = append(lines, x.Error())
	}
	if p.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", p.More))
	}
	return strings.Join(lines, "\n")
}

// maxValue is how many characters of a cell a problem quotes.
const maxValue = 40

// add adds a problem. It keeps only the first ones by row, so that a broken file needs no memory.
func (p *Problems) add(x Problem) {
	if runes := []rune(x.Value); len(runes) > maxValue {
		x.Value = string(runes[:maxValue])
	}
	if p.Listed = append(p.Listed, x); len(p.Listed) >= 4*MaxProblems {
		p.cut()
	}
}

// cut sorts the problems, drops repeated ones and keeps the first.
func (p *Problems) cut() {
	slices.SortFunc(p.Listed, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Row, b.Row),
			cmp.Compare(slices.Index(columns, a.Column), slices.Index(columns, b.Column)),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.On, b.On), cmp.Compare(a.Other, b.Other), cmp.Compare(a.Value, b.Value))
	})
	p.Listed = slices.Compact(p.Listed)
	if n := len(p.Listed) - MaxProblems; n > 0 {
		p.Listed, p.More = p.Listed[:MaxProblems:MaxProblems], p.More+n
	}
}

// err returns the problems as an error, or nil if there are none.
func (p *Problems) err() error {
	if p.cut(); len(p.Listed) == 0 {
		return nil
	}
	return *p
}
