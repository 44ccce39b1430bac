package organisation

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"ringi/shared/words/language"
)

// sheet is one file: its header, and what its columns are read as.
type sheet struct {
	File
	at       int // its place among the files: 0 is the first
	layout   *layout
	header   []string
	readings []Reading // by column; zero where it is ignored
	by       map[Reading][]int
	most     int // posts of a row, or levels of departments
	records  []tableRow
	broken   bool // the rest was not read
	doubts   []Doubt
	repeats  bool // it is about posts, and names people whom another file is about
	// otherUnits: the units of accounts are no departments, unless somebody says so.
	otherUnits bool
}

// tableRow is a row of a file, by the number that a spreadsheet gives it.
type tableRow struct {
	row   int
	cells []string
}

// sheetRows is how many rows of a file have numbers of their own: row n of the file at place i is i*sheetRows+n, until
// problems are told.
const sheetRows = 1 << 24

// open reads the rows of a file.
func (r *reader) open(s *sheet) {
	text, ok := r.text(s)
	if !ok {
		return
	}
	comma, skipped := preface(text)
	rows := newRows(text, comma, skipped)
	if rows.next() {
		s.header = rows.record
	}
	for rows.next() {
		if empty(rows.record) {
			continue
		}
		if r.rows++; r.rows > MaxRows {
			r.problems.add(Problem{Row: s.row(rows.row), Rule: RuleRows, Limit: MaxRows})
			s.broken = true
			return
		}
		s.records = append(s.records, tableRow{s.row(rows.row), rows.record})
	}
	if s.broken = rows.broken; s.broken {
		r.problems.add(Problem{Row: s.row(rows.row), Rule: RuleQuotes})
	} else if len(s.records) == 0 {
		r.problems.add(Problem{Row: s.row(0), Rule: RuleEmpty})
	}
}

// exampleText matches a cell of the row by which Microsoft's templates show how they are filled in.
var exampleText = language.Regexp{Text: `^(?i:example|例):`}

// example reports whether a row is that one: it has to stay in a template for a single account.
func (s *sheet) example(x tableRow) bool {
	return slices.ContainsFunc([]Column{ColumnName, ColumnMail}, func(c Column) bool {
		return exampleText.Get().MatchString(folded(s.cell(x, c, 1)))
	})
}

func (s *sheet) row(n int) int { return s.at*sheetRows + n }

// text returns a file's text without the signs that programs put at its ends; false if it is none.
func (r *reader) text(s *sheet) ([]byte, bool) {
	file := s.Text
	refuse := func(p Problem) ([]byte, bool) {
		p.Row, s.broken = s.row(p.Row), true
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
	file = bytes.TrimSuffix(bytes.TrimPrefix(file, []byte("\ufeff")), []byte("\x1a")) // DOS ends files with a sign
	if !bytes.Contains(file, []byte("\n")) {
		file = bytes.ReplaceAll(file, []byte("\r"), []byte("\n")) // old Macintoshes, and "CSV (Macintosh)" of Excel
	}
	return file, true
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

// Lines above the header: which sign parts cells, for Excel, and the version that Microsoft's files begin with.
var (
	separatorLine = language.Regexp{Text: `(?i)^"?sep=(.)"?[;,\t]*\r?$`}
	versionLine   = language.Regexp{Text: `(?i)^"?version:v[\d.]+"?[;,\t]*\r?$`}
)

// preface returns what parts the cells of a file, and how many bytes stand above its header. The sign is the one by
// which most names of columns are known.
func preface(text []byte) (comma rune, skipped int) {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	if sep := separatorLine.Get().FindSubmatch(line); sep != nil && !bytes.ContainsAny(sep[1], "\"\r") {
		comma, _ = utf8.DecodeRune(sep[1])
		return comma, min(len(line)+1, len(text))
	}
	if versionLine.Get().Match(line) {
		skipped = min(len(line)+1, len(text))
		line, _, _ = bytes.Cut(text[skipped:], []byte("\n"))
	}
	best := -1
	for _, by := range []rune{',', ';', '\t'} {
		c := csv.NewReader(bytes.NewReader(line))
		c.Comma, c.LazyQuotes = by, true
		names, _ := c.Read()
		known := 0
		for _, name := range names {
			if _, ok := readingOf(name); ok {
				known++
			}
		}
		if known > best {
			comma, best = by, known
		}
	}
	return comma, skipped
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

// newRows goes through a file from a byte on: the lines before it count.
func newRows(file []byte, comma rune, skipped int) *rows {
	r := &rows{file: file[skipped:], row: bytes.Count(file[:skipped], []byte("\n"))}
	r.csv = csv.NewReader(bytes.NewReader(r.file))
	r.csv.FieldsPerRecord, r.csv.Comma = -1, comma
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
