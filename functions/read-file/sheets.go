package main

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"

	"ringi/shared/runtime/isolated"
	"ringi/shared/words/language"
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
	runs   map[int]rich // of the shared texts those with runs that look otherwise
	cells  []cellStyle
	stale  bool // what is saved of formulas doesn't count: they are calculated anew when people open it
	formats
}

// cellStyle is one that cells name by number.
type cellStyle struct {
	look
	code          string // of its format
	color, ground string // of its letters, and of its fill
}

type sheet struct{ name, part, state string }

// workbook writes all sheets of a workbook, each row as a line with tabs between its cells.
func (p *pack) workbook(main string, w *writer) error {
	relations, err := p.relations(main)
	if err != nil {
		return err
	}
	book, sheets := &workbook{runs: map[int]rich{}}, []sheet(nil)
	err = p.each(main, func(e xml.StartElement) error {
		switch e.Name.Local {
		case "workbookPr":
			book.from04 = isTrue(attribute(e, "date1904"))
		case "calcPr":
			book.stale = isTrue(attribute(e, "fullCalcOnLoad"))
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
			w.remark(isolated.HasHidden)
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
	if err := p.tables(s.part, r); err != nil {
		return err
	}
	if err := r.read(p, s.part); err != nil {
		return err
	}
	if err := r.covered(p.until); err != nil {
		return err
	}
	if err := r.colors(); err != nil {
		return err
	}
	if err := r.margins.write(oneLine(s.name), w); err != nil {
		return err
	}
	return p.beside(s.part, oneLine(s.name), r.margins.links, w)
}

// tables reads which cells are those of tables.
func (p *pack) tables(part string, r *rows) error {
	relations, err := p.relations(part)
	for _, is := range relations {
		if err == nil && strings.HasSuffix(is.kind, "/table") && p.parts[strings.ToLower(is.target)] != nil {
			var root xml.StartElement
			if root, err = p.root(is.target); err == nil {
				r.tables = append(r.tables, areaOf(attribute(root, "ref")))
			}
		}
	}
	return err
}

// sharedStrings reads the texts that cells name by number. How a name is read aloud (rPh) is no part of one.
func (p *pack) sharedStrings(part string, book *workbook, w *writer) error {
	var text rich
	var as richRun
	within, aloud := false, 0
	return p.each(part, func(e xml.StartElement) error {
		switch name := e.Name.Local; {
		case name == "si":
			as, text = richRun{}, rich{}
		case name == "t":
			within = true
		case name == "rPh":
			aloud++
		case name == "r":
			as = richRun{}
		case dresses[name]:
			text.dress(&as, e)
		}
		return nil
	}, func(name string) error {
		switch name {
		case "si":
			if len(book.shared) == maxStrings {
				return errTooComplex
			}
			plain := ""
			if text.own {
				book.runs[len(book.shared)] = text
			} else {
				plain = cellText(text.on(mixed, "", w))
			}
			book.shared = append(book.shared, plain)
		case "t":
			within = false
		case "rPh":
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

// dresses are elements of a run's properties that count.
var dresses = map[string]bool{"rPr": true, "strike": true, "vertAlign": true, "rFont": true, "color": true,
	"sz": true}

// sheetStyles reads the styles of cells: fonts and fills first, by whose numbers styles name them.
type sheetStyles struct {
	book  *workbook
	in    string
	own   map[string]string // formats
	solid bool              // the fill is of one color
	fonts []cellStyle       // as far as a font says how a cell looks
	fills []string
}

func (p *pack) styles(part string, book *workbook) error {
	s := &sheetStyles{book: book, own: map[string]string{}}
	return p.each(part, s.begin, func(name string) error {
		if name == s.in {
			s.in = ""
		}
		return nil
	}, nil)
}

func (s *sheetStyles) begin(e xml.StartElement) error {
	fonts, fills := len(s.fonts)-1, len(s.fills)-1
	switch name := e.Name.Local; {
	case name == "cellXfs" || name == "fonts" || name == "fills":
		s.in = name
	case name == "numFmt":
		s.own[attribute(e, "numFmtId")] = attribute(e, "formatCode")
	case s.in == "fonts" && name == "font":
		s.fonts = append(s.fonts, cellStyle{})
	case s.in == "fonts" && fonts >= 0:
		if s.fonts[fonts].take(e); name == "color" {
			s.fonts[fonts].color = colorOf(e)
		}
	case s.in == "fills" && name == "fill":
		s.fills, s.solid = append(s.fills, ""), false
	case s.in == "fills" && fills >= 0 && name == "patternFill":
		pattern := attribute(e, "patternType")
		if s.solid = pattern == "solid"; pattern != "none" && pattern != "" {
			s.fills[fills] = mixed
		}
	case s.in == "fills" && fills >= 0 && name == "gradientFill":
		s.fills[fills] = mixed
	case s.in == "fills" && fills >= 0 && name == "fgColor" && s.solid:
		s.fills[fills] = cmp.Or(colorOf(e), mixed)
	case s.in == "cellXfs" && name == "xf":
		return s.style(e)
	}
	return nil
}

func (s *sheetStyles) style(e xml.StartElement) error {
	if len(s.book.cells) == maxStyles {
		return errTooComplex
	}
	id := attribute(e, "numFmtId")
	code, known := s.own[id]
	if !known {
		code = codeOf(id)
	}
	is := cellStyle{}
	if font, err := strconv.Atoi(attribute(e, "fontId")); err == nil && font >= 0 && font < len(s.fonts) {
		is = s.fonts[font]
	}
	if fill, err := strconv.Atoi(attribute(e, "fillId")); err == nil && fill >= 0 && fill < len(s.fills) {
		is.ground = s.fills[fill]
	}
	is.code = code
	s.book.cells = append(s.book.cells, is)
	return nil
}

// escaped matches a character that Excel writes as its number, such as a carriage return.
var escaped = language.Regexp{Text: `_x([0-9A-Fa-f]{4})_`}

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
