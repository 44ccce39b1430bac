package main

import (
	"encoding/xml"
	"ringi/shared/runtime/isolated"
	"strconv"
	"strings"
)

// prose writes the paragraphs of a document or a slide: each as a line, and each row of a table as a line with tabs
// between its cells.
type prose struct {
	w       *writer
	line    marked
	looks   []look  // of runs within each other
	props   int     // within the properties of a paragraph, or of a row
	styles  *styles // of a document; nil: these are no documents
	in      []paragraph
	runs    []style  // how runs look, by the document's styles and themselves
	paper   bool     // the pages have a color, or what is behind isn't known
	boxed   *prose   // reads a text box, which is anchored within a line and is none of it
	after   []string // lines of text boxes that stand after their paragraph
	math    formulas
	box     string   // a form's box that is ticked or not
	choices []string // of a form's list
	chosen  int
	skipped int // elements that stand twice, or are no text: how deep within them
	text    bool
	code    bool       // of a field
	rows    []*row     // of tables within each other
	tables  [][]string // the rows before these

	fields    fields
	fieldKind string // of the element that begins, parts or ends one
	link      linking
	links     map[string]string // addresses, by id
	shapes    []shape
	naming    bool      // within what a shape is called
	concealed bool      // the text box belongs to a shape that is hidden
	designs   []*design // of a slide: its master's and its layout's
	indent    int       // the level that a shape says something of; -1: none
	pict      int       // within an older form's shapes
	rowProps  bool      // the properties are a row's
	heads     *heads
	notes     *notes
	layout    bool // of slides: what they fill in themselves is no text of it
}

type row struct {
	cells   []string
	cell    strings.Builder
	in      bool
	deleted bool
	wide    int  // how many columns the cell is wide, if it is more than one
	covered bool // another cell covers this one: the one above it, if above
	above   bool
}

// widest is how many columns a table of Word has at most.
const widest = 63

// unseen are elements whose text is not shown: deleted text, where tabs stop, how a text is read aloud, and what
// properties were before.
var unseen = map[string]bool{"del": true, "moveFrom": true, "delText": true, "tabs": true, "tabLst": true, "rt": true,
	"rPh": true, "rPrChange": true, "pPrChange": true, "sectPrChange": true, "tblPrChange": true, "trPrChange": true,
	"tcPrChange": true}

// said are elements that are not in the text as people see it, or not at all.
var said = map[string]isolated.FileRemark{"del": isolated.HasChanges, "ins": isolated.HasChanges,
	"moveFrom": isolated.HasChanges,
	"moveTo":   isolated.HasChanges, "blip": isolated.HasPictures, "chart": isolated.HasPictures,
	"relIds":    isolated.HasPictures,
	"imagedata": isolated.HasPictures, "OLEObject": isolated.HasPictures, "oleObj": isolated.HasPictures,
	"altChunk": isolated.HasPictures, "subDoc": isolated.HasPictures, "cxnSp": isolated.HasPictures,
	"contentPart": isolated.HasPictures}

// skip says what an element is that is not read as a text, and reports whether what stands within it is none.
func (x *prose) skip(name string) bool {
	if x.skipped > 0 {
		x.skipped++
		return true
	}
	if r := said[name]; r != "" {
		x.w.remark(r)
	}
	if unseen[name] {
		x.deletes(name)
		x.skipped++
	}
	return x.skipped > 0
}

func (x *prose) begin(e xml.StartElement) error {
	name := e.Name.Local
	if x.boxed != nil {
		return unlessFull(x.boxed.begin(e))
	}
	if x.skip(name) {
		return nil
	}
	if n := len(x.looks); n > 0 && x.props == 0 {
		x.look(&x.looks[n-1], &x.runs[n-1], e)
	}
	if strings.HasSuffix(e.Name.Space, "/math") {
		x.math.begin(e, &x.line)
	}
	x.shape(e)
	x.sign(e)
	switch name {
	case "t":
		x.text = true
	case "instrText":
		x.code = true
	case "headerReference", "footerReference", "titlePg", "sectPr":
		x.heads.begin(e)
	case "footnoteReference", "endnoteReference", "commentReference", "footnote", "endnote", "comment":
		x.note(e)
	case "fldChar", "fldSimple":
		x.fieldElement(e)
	case "pict", "object":
		x.pict++
	case "hyperlink", "hlinkClick":
		x.linked(e)
	case "r", "fld":
		run := style{}.within(x.paragraph().looks)
		as := x.seen(run)
		if x.styles == nil {
			as = x.inherited()
		}
		x.looks, x.runs = append(x.looks, as), append(x.runs, run)
	case "p":
		x.in = append(x.in, x.styled(""))
	case "pPr", "trPr":
		x.props++
		x.rowProps = name == "trPr"
		if n := len(x.in); n > 0 && x.styles == nil {
			x.in[n-1].indent, _ = strconv.Atoi(attribute(e, "lvl"))
		}
	case "pStyle", "numId", "ilvl", "shd":
		x.property(e)
	case "buAutoNum":
		x.w.remark(isolated.HasNumbers)
	case "txbxContent":
		x.boxed = x.textBox()
	case "background":
		x.paper = true
	case "gridSpan", "gridBefore", "tbl", "tr", "tc", "vMerge", "hMerge":
		x.table(e)
	case "br", "cr":
		return x.lineEnd()
	}
	return nil
}

func (x *prose) end(name string) error {
	switch boxed := x.boxed; {
	case boxed != nil && (name != "txbxContent" || boxed.boxed != nil || boxed.skipped > 0):
		return unlessFull(boxed.end(name))
	case boxed != nil:
		return x.boxEnd()
	case x.skipped > 0:
		x.skipped--
		return nil
	}
	x.math.end(name, &x.line)
	if err := x.shapeEnd(name); err != nil {
		return err
	}
	switch name {
	case "t":
		x.text = false
	case "instrText":
		x.code = false
	case "sectPr":
		x.heads.end()
	case "fldChar":
		x.fieldChar()
	case "pict", "object":
		x.pict--
	case "hyperlink", "fldSimple":
		x.link.now = ""
	case "r", "fld":
		x.looks, x.runs = x.looks[:max(0, len(x.looks)-1)], x.runs[:max(0, len(x.runs)-1)]
		if x.styles == nil {
			x.link.now = ""
		}
	case "pPr":
		if x.props--; x.props == 0 {
			x.number()
		}
	case "trPr":
		x.props, x.rowProps = x.props-1, false
	case "checkBox":
		x.say(x.box)
	case "ddList":
		if x.chosen >= 0 && x.chosen < len(x.choices) {
			x.say(oneLine(x.choices[x.chosen]))
		}
	case "p":
		ended := x.paragraph()
		if x.in = x.in[:max(0, len(x.in)-1)]; ended.joined {
			return nil
		}
		if err := x.lineEnd(); err != nil {
			return err
		}
		return x.boxes()
	case "tc", "tr", "tbl":
		return x.tableEnd(name)
	}
	return nil
}

// table takes an element of a table.
func (x *prose) table(e xml.StartElement) {
	switch e.Name.Local {
	case "gridSpan", "gridBefore":
		n, err := strconv.Atoi(valued(e, "val"))
		if last := len(x.rows) - 1; err != nil || last < 0 {
		} else if n = min(max(0, n), widest); e.Name.Local == "gridSpan" {
			x.rows[last].wide = n
		} else {
			x.rows[last].cells = make([]string, n)
		}
	case "tbl":
		x.tables = append(x.tables, nil)
	case "tr":
		x.rows = append(x.rows, &row{})
	case "tc":
		if n := len(x.rows); n > 0 {
			above := isTrue(attribute(e, "vMerge")) && x.before() != nil
			x.rows[n-1].in, x.rows[n-1].above = true, above
			x.rows[n-1].covered = above || isTrue(attribute(e, "hMerge"))
		}
	case "vMerge", "hMerge":
		above := e.Name.Local == "vMerge"
		if n := len(x.rows); n > 0 && valued(e, "val") != "restart" && (!above || x.before() != nil) {
			x.rows[n-1].covered, x.rows[n-1].above = true, above
		}
	}
}

// before returns the cells of the row before this one in its table.
func (x *prose) before() []string {
	if n := len(x.tables); n > 0 {
		return x.tables[n-1]
	}
	return nil
}

// mergedAbove stands in a cell that is one with the cell above it.
const mergedAbove = "[merged with the cell above]"

// tableEnd takes the end of a cell or a row.
func (x *prose) tableEnd(name string) error {
	n := len(x.rows)
	switch name {
	case "tbl":
		x.tables = x.tables[:max(0, len(x.tables)-1)]
	case "tc":
		if n > 0 {
			r := x.rows[n-1]
			text := strings.TrimSpace(r.cell.String())
			if before, at := x.before(), len(r.cells); r.above && at < len(before) && before[at] != "" {
				text = strings.TrimSpace(mergedAbove + " " + text)
			}
			r.cells, r.in = append(r.cells, text), false
			for ; r.wide > 1; r.wide-- {
				r.cells = append(r.cells, "")
			}
			r.wide = 0
			r.cell.Reset()
		}
	case "tr":
		if n == 0 {
			return nil
		}
		cells, deleted := x.rows[n-1].cells, x.rows[n-1].deleted
		if x.rows = x.rows[:n-1]; deleted {
			return nil
		}
		if n := len(x.tables); n > 0 {
			x.tables[n-1] = cells
		}
		return x.write(strings.Join(cells, "\t"))
	}
	return nil
}

func (x *prose) chars(s string) error {
	if x.boxed != nil {
		return unlessFull(x.boxed.chars(s))
	}
	if (x.text || x.code && x.fields.coding() != nil) && x.skipped == 0 {
		x.say(s)
	}
	return nil
}

// say adds a text to the line, as its run looks, or to the code of a field.
func (x *prose) say(s string) {
	if n := len(x.shapes); x.layout && n > 0 && x.shapes[n-1].placeholder {
		return
	}
	if field := x.fields.coding(); field != nil {
		field.code.WriteString(s)
		return
	}
	as := look{}
	if n := len(x.looks); n > 0 {
		as = x.looks[n-1]
	}
	as.hidden = as.hidden || x.hides()
	x.showLink(x.address())
	if strings.TrimSpace(s) != "" {
		for i := range x.shapes {
			x.shapes[i].text = true
		}
		if as.hidden {
			x.w.remark(isolated.HasHidden)
		}
	}
	x.line.add(s, as)
}

// sign takes an element that stands for a text: a sign, a watermark, and in older forms a box that is ticked or not, or
// what is chosen of a list.
func (x *prose) sign(e xml.StartElement) {
	switch e.Name.Local {
	case "noBreakHyphen":
		x.say("-")
	case "tab", "ptab":
		x.say("\t")
	case "textpath":
		x.say(oneLine(attribute(e, "string")))
	case "sym":
		font, char := valued(e, "font"), strings.ToUpper(valued(e, "char"))
		n, err := strconv.ParseUint(char, 16, 16)
		switch s := pictured(font, string(rune(n))); {
		case char == "": // a font of a slide
		case err == nil && s != string(rune(n)):
			x.say(s)
		default:
			x.say("[" + oneLine(font+" "+char) + "]")
		}
	case "checkBox":
		x.box = "☐"
	case "default", "checked":
		if x.box = "☐"; isOn(e) {
			x.box = "☑"
		}
	case "ddList":
		x.choices, x.chosen = nil, 0
	case "result":
		x.chosen, _ = strconv.Atoi(valued(e, "val"))
	case "listEntry":
		x.choices = append(x.choices, valued(e, "val"))
	}
}

// lineEnd ends a line. Within a table's cell it becomes a blank.
func (x *prose) lineEnd() error {
	x.showLink("")
	line, struck := x.line.done()
	if x.layout && line == "" {
		return nil
	}
	if x.math = nil; struck {
		x.w.remark(isolated.HasStruck)
	}
	return x.write(foreign(line))
}

func (x *prose) write(line string) error {
	if n := len(x.rows); n > 0 && x.rows[n-1].in {
		x.rows[n-1].cell.WriteString(oneLine(line) + " ")
		return nil
	}
	return x.w.write(line + "\n")
}
