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
	runs   map[int]string // of the shared texts with runs that look otherwise: the text where what is behind has a color
	cells  []cellStyle
	stale  bool // what is saved of formulas doesn't count: they are calculated anew when people open it
	formats
}

// cellStyle is one that cells name by number.
type cellStyle struct {
	look          // hidden: white on white
	code   string // of its format
	filled bool   // with a color other than white
}

type sheet struct{ name, part, state string }

// workbook writes all sheets of a workbook, each row as a line with tabs between its cells.
func (p *pack) workbook(main string, w *writer) error {
	relations, err := p.relations(main)
	if err != nil {
		return err
	}
	book, sheets := &workbook{runs: map[int]string{}}, []sheet(nil)
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
	if err := p.tables(s.part, r); err != nil {
		return err
	}
	if err := r.read(p, s.part); err != nil {
		return err
	}
	if err := r.covered(p.until); err != nil {
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

// sharedStrings reads the texts that cells name by number.
func (p *pack) sharedStrings(part string, book *workbook, w *writer) error {
	return p.texts(part, w, []string{"si"}, []string{"t"}, func(_ xml.StartElement, text, bare string, runs bool) error {
		if len(book.shared) == maxStrings {
			return errTooComplex
		}
		if runs {
			book.runs[len(book.shared)] = cellText(bare)
		}
		book.shared = append(book.shared, cellText(text))
		return nil
	})
}

// rich is a text with runs. bare is the same without marks of white: what is behind may have a color.
type rich struct {
	text, bare marked
	runs       bool
}

// dress takes an element of a run's properties.
func (r *rich) dress(as *look, e xml.StartElement) {
	r.runs = true
	if as.take(e); e.Name.Local == "color" {
		as.hidden = isWhite(e)
	}
}

func (r *rich) add(s string, as look) {
	r.text.add(s, as)
	as.hidden = false
	r.bare.add(s, as)
}

// done returns the texts, says what is struck out, and begins another.
func (r *rich) done(w *writer) (text, bare string, runs bool) {
	text, struck := r.text.done()
	if bare, _ = r.bare.done(); struck {
		w.remark(filetext.Struck)
	}
	runs, r.runs = r.runs, false
	return text, bare, runs
}

// texts gives take each of a part's items, named by their elements, with what its elements called written say. How a
// name is read aloud (rPh) is no part of a text.
func (p *pack) texts(part string, w *writer, items, written []string, take func(item xml.StartElement,
	text, bare string, runs bool) error) error {
	var item xml.StartElement
	var text rich
	var as look
	within, aloud := false, 0
	return p.each(part, func(e xml.StartElement) error {
		switch name := e.Name.Local; {
		case slices.Contains(items, name):
			item, as, text = e.Copy(), look{}, rich{}
			within = slices.Contains(written, name)
		case slices.Contains(written, name):
			within = true
		case name == "rPh":
			aloud++
		case name == "r":
			as = look{}
		case dresses[name]:
			text.dress(&as, e)
		}
		return nil
	}, func(name string) error {
		switch {
		case slices.Contains(items, name):
			text, bare, runs := text.done(w)
			within = false
			return take(item, text, bare, runs)
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

// dresses are elements of a run's properties that count.
var dresses = map[string]bool{"rPr": true, "strike": true, "vertAlign": true, "rFont": true, "color": true}

// isWhite reports whether a color is white, or so near to it that nobody reads it on white.
func isWhite(e xml.StartElement) bool {
	if attribute(e, "theme") == "0" {
		tint, err := strconv.ParseFloat(attribute(e, "tint"), 64)
		return err != nil || tint > -0.05
	}
	return nearWhite(attribute(e, "rgb")) || attribute(e, "indexed") == "1" || attribute(e, "indexed") == "9"
}

// nearWhite reports whether the last six digits of a color are those of white, or near to it.
func nearWhite(rgb string) bool {
	n, err := strconv.ParseUint(rgb[max(0, len(rgb)-6):], 16, 32)
	return err == nil && len(rgb) >= 6 && n>>16 >= 0xf0 && n>>8&0xff >= 0xf0 && n&0xff >= 0xf0
}

// sheetStyles reads the styles of cells: fonts and fills first, by whose numbers styles name them.
type sheetStyles struct {
	book   *workbook
	in     string
	own    map[string]string // formats
	fonts  []look
	filled []bool
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
	fonts, fills := len(s.fonts)-1, len(s.filled)-1
	switch name := e.Name.Local; {
	case name == "cellXfs" || name == "fonts" || name == "fills":
		s.in = name
	case name == "numFmt":
		s.own[attribute(e, "numFmtId")] = attribute(e, "formatCode")
	case s.in == "fonts" && name == "font":
		s.fonts = append(s.fonts, look{})
	case s.in == "fonts" && fonts >= 0:
		if s.fonts[fonts].take(e); name == "color" {
			s.fonts[fonts].hidden = isWhite(e)
		}
	case s.in == "fills" && name == "fill":
		s.filled = append(s.filled, false)
	case s.in == "fills" && fills >= 0 && name == "patternFill":
		s.filled[fills] = attribute(e, "patternType") != "none" && attribute(e, "patternType") != ""
	case s.in == "fills" && fills >= 0 && name == "gradientFill":
		s.filled[fills] = true
	case s.in == "fills" && fills >= 0 && name == "fgColor":
		s.filled[fills] = s.filled[fills] && !isWhite(e)
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
	is := cellStyle{code: code}
	if font, err := strconv.Atoi(attribute(e, "fontId")); err == nil && font >= 0 && font < len(s.fonts) {
		is.look = s.fonts[font]
	}
	if fill, err := strconv.Atoi(attribute(e, "fillId")); err == nil && fill >= 0 && fill < len(s.filled) {
		is.filled = s.filled[fill]
	}
	is.hidden = is.hidden && !is.filled
	s.book.cells = append(s.book.cells, is)
	return nil
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
