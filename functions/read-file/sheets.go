package main

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"ringi/shared/runtime/filetext"
)

// Limits of a workbook beyond those of its parts.
const (
	maxStrings = 1_000_000 // shared strings
	maxStyles  = 100_000
	maxSheets  = 1000
	lastColumn = 16384
)

// workbook is what cells refer to.
type workbook struct {
	shared []string
	styles []numberKind // by the number that cells name
	from04 bool         // days count from 1904
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
		}
		if i > 0 {
			w.write("\n")
		}
		if err = w.write(fmt.Sprintf("--- sheet %d of %d%s: %s ---\n", i+1, len(sheets), hidden,
			oneLine(s.name))); err == nil {
			err = (&rows{book: book, w: w}).read(p, s.part)
		}
	}
	return err
}

// sharedStrings reads the texts that cells name by number. How a name is read aloud (rPh) is no part of a text.
func (p *pack) sharedStrings(part string, book *workbook) error {
	var text strings.Builder
	within, aloud := false, 0
	return p.each(part, func(e xml.StartElement) error {
		switch e.Name.Local {
		case "si":
			text.Reset()
		case "t":
			within = true
		case "rPh":
			aloud++
		}
		return nil
	}, func(name string) error {
		switch name {
		case "si":
			if len(book.shared) == maxStrings {
				return errTooComplex
			}
			book.shared = append(book.shared, cellText(text.String()))
		case "t":
			within = false
		case "rPh":
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

// styles reads which of the cells' styles show a number as a date or a time.
func (p *pack) styles(part string, book *workbook) error {
	own, cells := map[string]numberKind{}, false
	return p.each(part, func(e xml.StartElement) error {
		switch e.Name.Local {
		case "numFmt":
			own[attribute(e, "numFmtId")] = kindOf(attribute(e, "formatCode"))
		case "cellXfs":
			cells = true
		case "xf":
			if !cells {
				return nil
			}
			if len(book.styles) == maxStyles {
				return errTooComplex
			}
			id := attribute(e, "numFmtId")
			kind, known := own[id]
			if !known {
				kind = builtIn(id)
			}
			book.styles = append(book.styles, kind)
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
}

func (r *rows) read(p *pack, part string) error {
	return p.each(part, r.begin, r.end, func(s string) error {
		switch {
		case r.aloud > 0:
		case r.in == "v", r.in == "t":
			r.value.WriteString(s)
		case r.in == "f":
			r.formula.WriteString(s)
		}
		return nil
	})
}

// mostEmpty is how many empty rows in a row are written as such.
const mostEmpty = 3

func (r *rows) begin(e xml.StartElement) error {
	switch e.Name.Local {
	case "row":
		row, err := strconv.Atoi(attribute(e, "r"))
		if err != nil || row <= r.row {
			row = r.row + 1
		}
		empty := row - r.row - 1
		r.row, r.column = row, 0
		if empty > mostEmpty {
			return r.w.write(fmt.Sprintf("[rows %d to %d are empty]\n", row-empty, row-1))
		}
		return r.w.write(strings.Repeat("\n", empty))
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
		text := r.text()
		if text == "" {
			return nil
		}
		tabs := column - max(1, r.column)
		r.column = column
		return r.w.write(strings.Repeat("\t", tabs) + text)
	}
	return nil
}

// text returns a cell's value as people see it.
func (r *rows) text() string {
	value := r.value.String()
	if value == "" && r.hasFormula {
		r.w.remark(filetext.Formulas)
		return cellText("=" + r.formula.String())
	}
	switch attribute(r.cell, "t") {
	case "s":
		if i, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && i >= 0 && i < len(r.book.shared) {
			return r.book.shared[i]
		}
		return ""
	case "b":
		return map[string]string{"0": "FALSE", "1": "TRUE"}[strings.TrimSpace(value)]
	case "", "n":
		kind := plainNumber
		if i, err := strconv.Atoi(attribute(r.cell, "s")); err == nil && i >= 0 && i < len(r.book.styles) {
			kind = r.book.styles[i]
		}
		return number(strings.TrimSpace(value), kind, r.book.from04)
	}
	return cellText(value) // a text, an error, or a date in ISO 8601
}

// columnOf returns the number of the column that a cell's name begins with, from 1; 0: it has none.
func columnOf(name string) (n int) {
	for i := 0; i < len(name) && i < 4 && name[i] >= 'A' && name[i] <= 'Z'; i++ {
		n = n*26 + int(name[i]-'A') + 1
	}
	return n
}

// escaped matches a character that Excel writes as its number, such as a carriage return.
var escaped = regexp.MustCompile(`_x([0-9A-Fa-f]{4})_`)

// cellText returns a text on one line, without tabs.
func cellText(s string) string {
	if strings.Contains(s, "_x") {
		s = escaped.ReplaceAllStringFunc(s, func(m string) string {
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
