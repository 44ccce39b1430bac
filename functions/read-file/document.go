package main

import (
	"encoding/xml"
	"errors"
	"strconv"
	"strings"

	"ringi/shared/runtime/filetext"
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
	runs    []style // how runs look, by the document's styles and themselves
	boxes   int     // within text boxes
	paper   bool    // the pages have a color
	math    formulas
	box     string   // a form's box that is ticked or not
	choices []string // of a form's list
	chosen  int
	skipped int // elements that stand twice, or are no text: how deep within them
	text    bool
	code    bool   // of a field
	rows    []*row // tables within each other

	fields    fields
	fieldKind string // of the element that begins, parts or ends one
	shapes    []shape
	pict      int  // within an older form's shapes
	rowProps  bool // the properties are a row's
	heads     *heads
	notes     *notes
	layout    bool // of slides: what they fill in themselves is no text of it
}

type row struct {
	cells   []string
	cell    strings.Builder
	in      bool
	deleted bool
	wide    int // how many columns the cell is wide, if it is more than one
}

// widest is how many columns a table of Word has at most.
const widest = 63

// unseen are elements whose text is not shown: the older form beside a newer one, deleted text, where tabs stop, how
// a text is read aloud, and what properties were before.
var unseen = map[string]bool{"Fallback": true, "del": true, "moveFrom": true, "delText": true,
	"tabs": true, "rt": true, "rPrChange": true,
	"pPrChange": true, "sectPrChange": true, "tblPrChange": true, "trPrChange": true, "tcPrChange": true}

// said are elements that are not in the text as people see it, or not at all.
var said = map[string]filetext.Remark{"del": filetext.Changes, "ins": filetext.Changes, "moveFrom": filetext.Changes,
	"moveTo": filetext.Changes, "blip": filetext.Pictures, "chart": filetext.Pictures, "relIds": filetext.Pictures,
	"imagedata": filetext.Pictures, "OLEObject": filetext.Pictures, "oleObj": filetext.Pictures,
	"altChunk": filetext.Pictures, "cxnSp": filetext.Pictures, "contentPart": filetext.Pictures}

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
	if x.skip(name) {
		return nil
	}
	if n := len(x.looks); n > 0 && x.props == 0 {
		x.look(&x.looks[n-1], &x.runs[n-1], e)
	}
	if space := e.Name.Space; strings.HasSuffix(space, "/math") || space == "m" { // or the prefix alone
		x.math.begin(e, &x.line)
	}
	if x.isShape(name) {
		x.shapes = append(x.shapes, shape{text: valued(e, "hr") != ""}) // a rule across the page is none
	}
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
	case "ph":
		if n := len(x.shapes); n > 0 {
			x.shapes[n-1].placeholder = true
		}
	case "r", "fld":
		run := style{}.within(x.paragraph().looks)
		x.looks, x.runs = append(x.looks, x.seen(run)), append(x.runs, run)
	case "p":
		x.in = append(x.in, x.styled(""))
	case "pPr", "trPr":
		x.props++
		x.rowProps = name == "trPr"
	case "pStyle", "numId", "ilvl", "shd":
		x.property(e)
	case "buAutoNum":
		x.w.remark(filetext.Numbers)
	case "txbxContent":
		x.boxes++
	case "background":
		x.paper = true
	case "gridSpan", "gridBefore", "tr", "tc":
		x.table(e)
	case "br", "cr":
		return x.lineEnd()
	}
	return nil
}

func (x *prose) end(name string) error {
	if x.skipped > 0 {
		x.skipped--
		return nil
	}
	x.math.end(name, &x.line)
	if last := len(x.shapes) - 1; x.isShape(name) && last >= 0 {
		if is := x.shapes[last]; !is.text && !is.placeholder {
			x.w.remark(filetext.Pictures)
		}
		x.shapes = x.shapes[:last]
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
	case "r", "fld":
		x.looks, x.runs = x.looks[:max(0, len(x.looks)-1)], x.runs[:max(0, len(x.runs)-1)]
	case "pPr":
		if x.props--; x.props == 0 {
			x.number()
		}
	case "trPr":
		x.props, x.rowProps = x.props-1, false
	case "txbxContent":
		x.boxes--
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
		return x.lineEnd()
	case "tc", "tr":
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
	case "tr":
		x.rows = append(x.rows, &row{})
	case "tc":
		if n := len(x.rows); n > 0 {
			x.rows[n-1].in = true
		}
	}
}

// tableEnd takes the end of a cell or a row.
func (x *prose) tableEnd(name string) error {
	n := len(x.rows)
	switch name {
	case "tc":
		if n > 0 {
			r := x.rows[n-1]
			r.cells, r.in = append(r.cells, strings.TrimSpace(r.cell.String())), false
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
		return x.writeLine(strings.Join(cells, "\t"))
	}
	return nil
}

func (x *prose) chars(s string) error {
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
	if strings.TrimSpace(s) != "" {
		for i := range x.shapes {
			x.shapes[i].text = true
		}
		if as.hidden {
			x.w.remark(filetext.Hidden)
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
	case "tab":
		x.say("\t")
	case "textpath":
		x.say(oneLine(attribute(e, "string")))
	case "sym":
		font, char := valued(e, "font"), strings.ToUpper(valued(e, "char"))
		n, err := strconv.ParseUint(char, 16, 16)
		if s := pictured(font, string(rune(n))); err == nil && s != string(rune(n)) {
			x.say(s)
		} else {
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
	line, struck := x.line.done()
	if x.layout && line == "" {
		return nil
	}
	if x.math = nil; struck {
		x.w.remark(filetext.Struck)
	}
	return x.writeLine(line)
}

func (x *prose) writeLine(line string) error {
	if n := len(x.rows); n > 0 && x.rows[n-1].in {
		x.rows[n-1].cell.WriteString(oneLine(line) + " ")
		return nil
	}
	return x.w.write(foreign(line) + "\n")
}

// sections are the parts of a document that stand beside its text, by the end of the relation's kind.
var sections = []struct{ kind, title string }{
	{"/header", "header"}, {"/footer", "footer"}, {"/footnotes", "footnotes"}, {"/endnotes", "endnotes"},
	{"/comments", "comments"},
}

// document writes a document's text, then its notes and comments.
func (p *pack) document(main string, w *writer) error {
	relations, err := p.relations(main)
	if err != nil {
		return err
	}
	looks, err := p.looks(relations)
	if err != nil {
		return err
	}
	x := &prose{styles: looks, heads: &heads{}, notes: &notes{}}
	if err := p.evenPages(relations, x.heads); err != nil {
		return err
	}
	if err := p.text(main, w, *x); err != nil {
		return err
	}
	for _, s := range sections {
		for _, r := range relations {
			if !strings.HasSuffix(r.kind, s.kind) {
				continue
			}
			title, off := s.title, x.heads.off(r.id)
			if off {
				title += ", not shown"
			}
			before := w.text.Len()
			if err := p.under("\n--- "+title+" ---\n", w, func(w *writer) error {
				return p.text(r.target, w, prose{styles: looks, notes: x.notes})
			}); err != nil {
				return err
			}
			if off && w.text.Len() > before {
				w.remark(filetext.Hidden)
			}
		}
	}
	return nil
}

// under writes what stands beside a text, under its title, if it is not empty.
func (p *pack) under(title string, w *writer, read func(*writer) error) error {
	beside := &writer{}
	err := read(beside)
	for _, r := range beside.remarks {
		w.remark(r)
	}
	if err != nil && !errors.Is(err, errFull) {
		return err
	}
	text := strings.Trim(beside.done(), "\n")
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return w.write(title + text + "\n")
}

// prose reads the text of a part that belongs to no document.
func (p *pack) prose(part string, w *writer) error { return p.text(part, w, prose{}) }

// text reads a part's text.
func (p *pack) text(part string, w *writer, x prose) error {
	x.w = w
	if err := p.each(part, x.begin, x.end, x.chars); err != nil {
		return err
	}
	return x.unended()
}
