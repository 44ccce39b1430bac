package main

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"ringi/shared/runtime/isolated"
	"slices"
	"strconv"
	"strings"
)

// rows writes the rows of one sheet.
type rows struct {
	book                   *workbook
	w                      *writer
	row, column            int // of the cell before; 0: none
	last                   int // the row that was written last; 0: none
	written                int // the column of the last cell that has a text; 0: none
	cell                   xml.StartElement
	value                  strings.Builder
	formula                strings.Builder
	inline                 rich
	look                   richRun  // the one that is read
	in                     string   // the element whose text is collected
	open                   []string // elements around this one; "" is one of another name space
	space                  string   // the name space of the sheet
	formed, saved, inlined bool     // whether the cell has f, v, is
	aloud                  int
	hidden, hides          bool // the row that was written last, and this one
	saves                  bool // results of formulas stand there as they are saved
	runs                   bool // the cell's text has runs that look otherwise than the cell
	places                 []place
	tables                 []area
	margins                margins
	coloring               coloring
}

func (r *rows) read(p *pack, part string) error {
	return p.each(part, r.begin, r.end, func(s string) error {
		switch {
		case r.aloud > 0:
		case r.in == "v":
			r.value.WriteString(s)
		case r.in == "t":
			r.inline.add(s, r.look)
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

// within are elements that count only within these others: anchors of pictures and controls have columns and rows, too.
var within = map[string]string{"col": "cols", "row": "sheetData", "c": "row", "f": "c", "v": "c", "is": "c"}

func (r *rows) begin(e xml.StartElement) error {
	name, around := e.Name.Local, ""
	if n := len(r.open); n > 0 {
		around = r.open[n-1]
	} else {
		r.space = e.Name.Space
	}
	if in := within[name]; e.Name.Space != r.space || in != "" && in != around {
		name = ""
	}
	r.open = append(r.open, name)
	switch name {
	case "col":
		return r.hideColumns(e)
	case "row":
		return r.beginRow(e)
	case "c":
		r.cell, r.formed, r.saved, r.inlined = e.Copy(), false, false, false
		r.value.Reset()
		r.inline = rich{}
		r.formula.Reset()
	case "f", "v", "t":
		r.in = name
	case "rPh":
		r.aloud++
	case "control", "oleObject", "picture":
		r.w.remark(isolated.HasPictures)
	case "sheetCalcPr":
		if r.saves && isTrue(attribute(e, "fullCalcOnLoad")) {
			r.w.remark(isolated.HasFormulas)
			return r.w.write("[formulas of this sheet are calculated anew when it is opened]\n")
		}
	case "conditionalFormatting":
		r.w.remark(isolated.HasColors)
	case "r", "is":
		r.look = richRun{}
	case "rPr", "strike", "vertAlign", "rFont", "color", "sz":
		r.inline.dress(&r.look, e)
	case "":
	default:
		r.margins.begin(e)
	}
	if around == "c" {
		r.formed, r.saved, r.inlined = r.formed || name == "f", r.saved || name == "v", r.inlined || name == "is"
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
	r.w.remark(isolated.HasHidden)
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
	r.row, r.column, r.written = row, 0, 0
	r.hides = isTrue(attribute(e, "hidden")) || isZero(attribute(e, "ht"))
	return nil
}

// catchUp writes what stands before the first text of a row: empty rows, of which many have a border, and where rows
// begin and end that people don't see.
func (r *rows) catchUp() error {
	empty := r.row - r.last - 1
	before := strings.Repeat("\n", empty%(mostEmpty+1))
	if empty > mostEmpty {
		before = fmt.Sprintf("[rows %d to %d are empty]\n", r.row-empty, r.row-1)
	}
	switch {
	case r.hides && !r.hidden:
		r.w.remark(isolated.HasHidden)
		before += fmt.Sprintf("[hidden from row %d on]\n", r.row)
	case r.hidden && !r.hides:
		before += fmt.Sprintf("[shown from row %d on]\n", r.row)
	}
	r.last, r.hidden = r.row, r.hides
	return r.w.write(before)
}

func (r *rows) end(string) error {
	n := len(r.open) - 1
	name := r.open[n]
	r.open = r.open[:n]
	switch name {
	case "row":
		r.coloring.endRow()
		if r.last < r.row {
			return nil
		}
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
		r.column = column
		text, err := r.text()
		if err != nil {
			return err
		}
		r.paint(text)
		return r.put(r.dressed(r.unsaved(text)))
	}
	r.margins.end()
	return nil
}

// put writes a cell's text in its column.
func (r *rows) put(text string) error {
	if text == "" {
		return nil
	}
	if r.last < r.row {
		if err := r.catchUp(); err != nil {
			return err
		}
	}
	tabs := r.column - max(1, r.written)
	if r.column == 1 {
		text = foreign(text)
	}
	r.written = r.column
	r.places = append(r.places, place{r.row, r.column})
	return r.w.write(strings.Repeat("\t", tabs) + text)
}

// style returns how the cell looks.
func (r *rows) style() cellStyle {
	if i, err := strconv.Atoi(attribute(r.cell, "s")); err == nil && i >= 0 && i < len(r.book.cells) {
		return r.book.cells[i]
	}
	return cellStyle{}
}

// text returns a cell's value as people see it.
func (r *rows) text() (string, error) {
	value, kind := r.value.String(), attribute(r.cell, "t")
	r.runs = false
	if r.formed && !r.hasValue() {
		return "", nil
	}
	style := r.style()
	code := style.code
	plain := strings.TrimSpace(value)
	switch kind {
	case "s":
		i, err := strconv.Atoi(plain)
		if plain == "" {
			return "", nil
		}
		if err != nil || i < 0 || i >= len(r.book.shared) {
			return "", errBroken
		}
		text := r.book.shared[i]
		var rich rich
		if rich, r.runs = r.book.runs[i]; r.runs {
			text = cellText(rich.on(r.ground(), r.letters(), r.w))
		}
		return r.words(text, code), nil
	case "b":
		return map[string]string{"0": "FALSE", "1": "TRUE", "false": "FALSE", "true": "TRUE"}[plain], nil
	case "", "n":
		return r.book.number(plain, code), nil
	case "inlineStr":
		if r.inlined {
			value, r.runs = r.inline.on(r.ground(), r.letters(), r.w), r.inline.own
		}
		return r.words(cellText(value), code), nil
	case "str":
		return r.words(cellText(value), code), nil
	case "e":
		if attribute(r.cell, "vm") != "" { // an error is kept for programs that don't know what stands there
			r.w.remark(isolated.HasPictures)
			return "[picture or data type]", nil
		}
	}
	return cellText(value), nil // an error, or a date in ISO 8601
}

// hasValue reports whether a result is saved: a text may be an empty one.
func (r *rows) hasValue() bool {
	return r.value.Len() > 0 || attribute(r.cell, "t") == "str" && r.saved
}

// unsaved returns a formula whose result is not known, with what is saved of it, if anything is. Of formulas that are
// one over several cells only the first has its text.
func (r *rows) unsaved(saved string) string {
	if !r.formed || r.hasValue() && !r.book.stale {
		r.saves = r.saves || r.formed
		return saved
	}
	r.w.remark(isolated.HasFormulas)
	text := cellText("=" + cmp.Or(r.formula.String(), "…"))
	if r.hasValue() {
		text += " [saved: " + withoutBrackets.Replace(saved) + "]"
	}
	return text
}

// words returns a text as people see it. One that its format hides is there, and said to be hidden.
func (r *rows) words(text, code string) string {
	if sections := splitSections(code); len(sections) > 3 && sections[3] == "" && text != "" {
		r.w.remark(isolated.HasHidden)
	}
	return r.book.text(text, code)
}

// dressed returns a text as the cell's style shows it: struck out, in a font of pictures, or in the color of its
// ground.
func (r *rows) dressed(text string) string {
	style := r.style()
	if strings.TrimSpace(text) == "" {
		return text
	}
	if !r.runs {
		text = pictured(style.font, text)
	}
	if !r.runs && (style.hidden || near(cmp.Or(r.letters(), black), r.ground())) {
		text = hiddenBegins + withoutBrackets.Replace(text) + hiddenEnds
		r.w.remark(isolated.HasHidden)
	}
	if style.struck && !strings.Contains(text, struckMark) {
		text = struckMark + text + struckMark
		r.w.remark(isolated.HasStruck)
	}
	return text
}

// paint takes the cell's colors, as far as they are not black or white, or those of a link.
func (r *rows) paint(text string) {
	fill, letters := r.style().ground, r.style().color // a format's colors follow from the number
	if near(fill, white) {
		fill = ""
	}
	if near(cmp.Or(letters, black), black) || near(letters, white) || strings.HasPrefix(letters, "theme 10 ") {
		letters = ""
	}
	r.coloring.cell(r.column, fill, letters, strings.TrimSpace(text))
}

// letters returns the color of a cell's text, or "". That of its format comes before that of its style.
func (r *rows) letters() string {
	style := r.style()
	if !strings.Contains(style.code, "[") {
		return style.color
	}
	value, kind := strings.TrimSpace(r.value.String()), attribute(r.cell, "t")
	return cmp.Or(colorIn(sectionOf(style.code, value, kind != "" && kind != "n")), style.color)
}

// ground returns the color behind a cell's text. That of a table's style is not known.
func (r *rows) ground() string {
	if fill := r.style().ground; fill != "" || !r.inTable() {
		return cmp.Or(fill, white)
	}
	return mixed
}

// inTable reports whether the cell is one of a table, whose style colors what is behind it.
func (r *rows) inTable() bool {
	return slices.ContainsFunc(r.tables, func(a area) bool { return a.has(place{r.row, r.column}) })
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
