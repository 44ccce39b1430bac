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
		err = p.sharedStrings(related(relations, ofStrings), book, w)
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
func (p *pack) sharedStrings(part string, book *workbook, w *writer) error {
	return p.texts(part, w, []string{"si"}, []string{"t"}, func(_ xml.StartElement, text string) error {
		if len(book.shared) == maxStrings {
			return errTooComplex
		}
		book.shared = append(book.shared, cellText(text))
		return nil
	})
}

// texts gives take each of a part's items, named by their elements, with what its elements called written say. How a
// name is read aloud (rPh) is no part of a text.
func (p *pack) texts(part string, w *writer, items, written []string, take func(item xml.StartElement,
	text string) error) error {
	var item xml.StartElement
	var text marked
	var as look
	within, aloud := false, 0
	return p.each(part, func(e xml.StartElement) error {
		switch name := e.Name.Local; {
		case slices.Contains(items, name):
			item, as = e.Copy(), look{}
			text.done()
		case slices.Contains(written, name):
			within = true
		case name == "rPh":
			aloud++
		case name == "r":
			as = look{}
		case name == "strike", name == "vertAlign", name == "rPr":
			as.take(e)
		}
		return nil
	}, func(name string) error {
		switch {
		case slices.Contains(items, name):
			said, struck := text.done()
			if struck {
				w.remark(filetext.Struck)
			}
			return take(item, said)
		case slices.Contains(written, name):
			within = false
		case name == "rPh":
			aloud--
		}
		return nil
	}, func(s string) error {
		if within && aloud == 0 {
			text.add(s, as)
		}
		return nil
	})
}

// styles reads the formats of the cells' styles.
func (p *pack) styles(part string, book *workbook) error {
	own, in, fonts := map[string]string{}, "", []look(nil)
	return p.each(part, func(e xml.StartElement) error {
		switch e.Name.Local {
		case "cellXfs", "fonts":
			in = e.Name.Local
		case "font":
			if in == "fonts" {
				fonts = append(fonts, look{})
			}
		case "strike":
			if n := len(fonts); n > 0 && in == "fonts" {
				fonts[n-1].take(e)
			}
		case "numFmt":
			own[attribute(e, "numFmtId")] = attribute(e, "formatCode")
		case "xf":
			if in != "cellXfs" {
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
			font, err := strconv.Atoi(attribute(e, "fontId"))
			book.codes = append(book.codes, code)
			book.struck = append(book.struck, err == nil && font >= 0 && font < len(fonts) && fonts[font].struck)
		}
		return nil
	}, func(name string) error {
		if name == in {
			in = ""
		}
		return nil
	}, nil)
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
