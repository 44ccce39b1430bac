package main

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ringi/shared/runtime/filetext"
	"ringi/shared/words/lazy"
)

// Limits of a workbook beyond those of its parts.
const (
	maxStrings = 1_000_000 // shared strings
	maxStyles  = 100_000
	maxSheets  = 1000
	lastColumn = 16384
	lastRow    = 1_048_576
)

// workbook is what cells refer to.
type workbook struct {
	shared []string
	formats
}

type sheet struct{ name, part, state string }

// workbook writes all sheets of a workbook, each row as a line with tabs between its cells.
func (p *pack) workbook(main string, w *writer) error {
	relations, err := p.relations(main)
	if err != nil {
		return err
	}
	book, sheets := &workbook{}, []sheet(nil)
	err = p.each(main, func(e xml.StartElement) error {
		switch e.Name.Local {
		case "workbookPr":
			book.from04 = attribute(e, "date1904") == "1" || attribute(e, "date1904") == "true"
		case "sheet":
			if len(sheets) == maxSheets {
				return errTooComplex
			}
			sheets = append(sheets, sheet{attribute(e, "name"), byID(relations, relationID(e)), attribute(e, "state")})
		}
		return nil
	}, nil, nil)
	if err == nil {
		err = p.sharedStrings(related(relations, ofStrings), book)
	}
	if err == nil {
		err = p.styles(related(relations, ofStyles), book)
	}
	for i, s := range sheets {
		if err != nil {
			return err
		}
		hidden := ""
		if s.state != "" && s.state != "visible" {
			hidden = ", hidden"
			w.remark(filetext.Hidden)
		}
		if i > 0 {
			w.write("\n")
		}
		if err = w.write(fmt.Sprintf("--- sheet %d of %d%s: %s ---\n", i+1, len(sheets), hidden,
			oneLine(s.name))); err == nil {
			err = p.sheet(s, book, w)
		}
	}
	return err
}

// sheet writes a sheet's cells, then what stands beside them.
func (p *pack) sheet(s sheet, book *workbook, w *writer) error {
	if p.parts[strings.ToLower(s.part)] == nil {
		return errBroken
	}
	r := &rows{book: book, w: w}
	if err := r.read(p, s.part); err != nil {
		return err
	}
	if err := r.margins.write(oneLine(s.name), w); err != nil {
		return err
	}
	return p.beside(s.part, oneLine(s.name), w)
}

// sharedStrings reads the texts that cells name by number.
func (p *pack) sharedStrings(part string, book *workbook) error {
	return p.texts(part, []string{"si"}, []string{"t"}, func(_ xml.StartElement, text string) error {
		if len(book.shared) == maxStrings {
			return errTooComplex
		}
		book.shared = append(book.shared, cellText(text))
		return nil
	})
}

// texts gives take each of a part's items, named by their elements, with what its elements called written say. How a
// name is read aloud (rPh) is no part of a text.
func (p *pack) texts(part string, items, written []string, take func(item xml.StartElement, text string) error) error {
	var item xml.StartElement
	var text strings.Builder
	within, aloud := false, 0
	return p.each(part, func(e xml.StartElement) error {
		switch name := e.Name.Local; {
		case slices.Contains(items, name):
			item = e.Copy()
			text.Reset()
		case slices.Contains(written, name):
			within = true
		case name == "rPh":
			aloud++
		}
		return nil
	}, func(name string) error {
		switch {
		case slices.Contains(items, name):
			said := text.String()
			text.Reset()
			return take(item, said)
		case slices.Contains(written, name):
			within = false
		case name == "rPh":
			aloud--
		}
		return nil
	}, func(s string) error {
		if within && aloud == 0 {
			text.WriteString(s)
		}
		return nil
	})
}

// styles reads the formats of the cells' styles.
func (p *pack) styles(part string, book *workbook) error {
	own, cells := map[string]string{}, false
	return p.each(part, func(e xml.StartElement) error {
		switch e.Name.Local {
		case "numFmt":
			own[attribute(e, "numFmtId")] = attribute(e, "formatCode")
		case "cellXfs":
			cells = true
		case "xf":
			if !cells {
				return nil
			}
			if len(book.codes) == maxStyles {
				return errTooComplex
			}
			id := attribute(e, "numFmtId")
			code, known := own[id]
			if !known {
				code = codeOf(id)
			}
			book.codes = append(book.codes, code)
		}
		return nil
	}, func(name string) error {
		cells = cells && name != "cellXfs"
		return nil
	}, nil)
}

// rows writes the rows of one sheet.
type rows struct {
	book        *workbook
	w           *writer
	row, column int // of the cell before; 0: none
	cell        xml.StartElement
	value       strings.Builder
	formula     strings.Builder
	in          string // the element whose text is collected
	hasFormula  bool
	aloud       int
	hidden      bool // the row before
	margins     margins
}

func (r *rows) read(p *pack, part string) error {
	return p.each(part, r.begin, r.end, func(s string) error {
		switch {
		case r.aloud > 0:
		case r.in == "v", r.in == "t":
			r.value.WriteString(s)
		case r.in == "f":
			r.formula.WriteString(s)
		case r.margins.in != nil:
			r.margins.in.WriteString(s)
		}
		return nil
	})
}

// mostEmpty is how many empty rows in a row are written as such.
const mostEmpty = 3

func (r *rows) begin(e xml.StartElement) error {
	switch e.Name.Local {
	case "col":
		return r.hideColumns(e)
	case "row":
		return r.beginRow(e)
	case "c":
		r.cell, r.hasFormula = e.Copy(), false
		r.value.Reset()
		r.formula.Reset()
	case "f":
		r.in, r.hasFormula = "f", true
	case "v", "t":
		r.in = e.Name.Local
	case "rPh":
		r.aloud++
	default:
		r.margins.begin(e)
	}
	return nil
}

func isTrue(value string) bool { return value == "1" || value == "true" }

// isZero reports whether a width or a height leaves nothing to see.
func isZero(value string) bool {
	n, err := strconv.ParseFloat(value, 64)
	return err == nil && n == 0
}

// hideColumns says which columns people don't see. They stand before the rows.
func (r *rows) hideColumns(e xml.StartElement) error {
	from, err := strconv.Atoi(attribute(e, "min"))
	to, errTo := strconv.Atoi(attribute(e, "max"))
	if err != nil || errTo != nil || from < 1 || to < from || to > lastColumn {
		return errBroken
	}
	if !isTrue(attribute(e, "hidden")) && !isZero(attribute(e, "width")) {
		return nil
	}
	r.w.remark(filetext.Hidden)
	if from == to {
		return r.w.write("[column " + lettersOf(from) + " is hidden]\n")
	}
	return r.w.write(fmt.Sprintf("[columns %s to %s are hidden]\n", lettersOf(from), lettersOf(to)))
}

func (r *rows) beginRow(e xml.StartElement) error {
	row, err := strconv.Atoi(attribute(e, "r"))
	if err != nil || row <= r.row {
		row = r.row + 1
	}
	if row > lastRow {
		return errBroken
	}
	empty := row - r.row - 1
	r.row, r.column = row, 0
	if err := r.hideRow(isTrue(attribute(e, "hidden")) || isZero(attribute(e, "ht"))); err != nil {
		return err
	}
	if empty > mostEmpty {
		return r.w.write(fmt.Sprintf("[rows %d to %d are empty]\n", row-empty, row-1))
	}
	return r.w.write(strings.Repeat("\n", empty))
}

// hideRow says where rows begin and end that people don't see.
func (r *rows) hideRow(hidden bool) error {
	was := r.hidden
	r.hidden = hidden
	switch {
	case hidden && !was:
		r.w.remark(filetext.Hidden)
		return r.w.write(fmt.Sprintf("[hidden from row %d on]\n", r.row))
	case was && !hidden:
		return r.w.write(fmt.Sprintf("[shown from row %d on]\n", r.row))
	}
	return nil
}

func (r *rows) end(name string) error {
	switch name {
	case "row":
		return r.w.write("\n")
	case "v", "t", "f":
		r.in = ""
	case "rPh":
		r.aloud--
	case "c":
		column := columnOf(attribute(r.cell, "r"))
		if column <= r.column || column > lastColumn {
			column = r.column + 1
		}
		text, err := r.text()
		if text == "" || err != nil {
			return err
		}
		tabs := column - max(1, r.column)
		r.column = column
		return r.w.write(strings.Repeat("\t", tabs) + text)
	}
	r.margins.end()
	return nil
}

// text returns a cell's value as people see it.
func (r *rows) text() (string, error) {
	value := r.value.String()
	if value == "" && r.hasFormula {
		r.w.remark(filetext.Formulas)
		return cellText("=" + r.formula.String()), nil
	}
	code := ""
	if i, err := strconv.Atoi(attribute(r.cell, "s")); err == nil && i >= 0 && i < len(r.book.codes) {
		code = r.book.codes[i]
	}
	kind, plain := attribute(r.cell, "t"), strings.TrimSpace(value)
	switch kind {
	case "s":
		i, err := strconv.Atoi(plain)
		if plain == "" {
			return "", nil
		}
		if err != nil || i < 0 || i >= len(r.book.shared) {
			return "", errBroken
		}
		return r.book.text(r.book.shared[i], code), nil
	case "b":
		return map[string]string{"0": "FALSE", "1": "TRUE", "false": "FALSE", "true": "TRUE"}[plain], nil
	case "", "n":
		return r.book.number(plain, code), nil
	case "str", "inlineStr":
		return r.book.text(cellText(value), code), nil
	}
	return cellText(value), nil // an error, or a date in ISO 8601
}

// lettersOf returns the name of a column: 1 is A, 27 is AA.
func lettersOf(n int) string {
	if n == 0 {
		return ""
	}
	return lettersOf((n-1)/26) + string(rune('A'+(n-1)%26))
}

// columnOf returns the number of the column that a cell's name begins with, from 1; 0: it has none.
func columnOf(name string) (n int) {
	for i := 0; i < len(name) && i < 4 && name[i] >= 'A' && name[i] <= 'Z'; i++ {
		n = n*26 + int(name[i]-'A') + 1
	}
	return n
}

// escaped matches a character that Excel writes as its number, such as a carriage return.
var escaped = lazy.Regexp{Text: `_x([0-9A-Fa-f]{4})_`}

// cellText returns a text on one line, without tabs.
func cellText(s string) string {
	if strings.Contains(s, "_x") {
		s = escaped.Get().ReplaceAllStringFunc(s, func(m string) string {
			n, _ := strconv.ParseUint(m[2:6], 16, 32)
			return string(rune(n))
		})
	}
	return oneLine(s)
}

// oneLine replaces each run of line ends, tabs and other control characters by a blank.
func oneLine(s string) string {
	control := func(c rune) bool { return c < ' ' }
	if !strings.ContainsFunc(s, control) {
		return s
	}
	return strings.Join(strings.FieldsFunc(s, control), " ")
}
