package main

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
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
	props   int     // within a paragraph's properties
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
	rows    []*row // tables within each other
}

type row struct {
	cells []string
	cell  strings.Builder
	in    bool
	wide  int // how many columns the cell is wide, if it is more than one
}

// widest is how many columns a table of Word has at most.
const widest = 63

// unseen are elements whose text is not shown: the older form beside a newer one, deleted text, fields' codes, where
// tabs stop, and how a text is read aloud.
var unseen = map[string]bool{"Fallback": true, "del": true, "moveFrom": true, "instrText": true, "delText": true,
	"tabs": true, "rt": true, "rPrChange": true}

// said are elements that are not in the text as people see it, or not at all.
var said = map[string]filetext.Remark{"del": filetext.Changes, "ins": filetext.Changes, "moveFrom": filetext.Changes,
	"moveTo": filetext.Changes, "blip": filetext.Pictures, "chart": filetext.Pictures, "relIds": filetext.Pictures,
	"imagedata": filetext.Pictures, "OLEObject": filetext.Pictures, "oleObj": filetext.Pictures,
	"altChunk": filetext.Pictures}

// ticks are characters of fonts of pictures with which people fill in forms.
var ticks = map[string]string{"F0FC": "✓", "F0FB": "✗", "F0FE": "☑", "F0FD": "☒",
	"F0A8": "☐", "F06F": "☐", "F052": "☑", "F0A3": "☐"}

func (x *prose) begin(e xml.StartElement) error {
	name := e.Name.Local
	if r := said[name]; r != "" && x.skipped == 0 {
		x.w.remark(r)
	}
	if x.skipped > 0 || unseen[name] {
		x.skipped++
		return nil
	}
	if n := len(x.looks); n > 0 && x.props == 0 {
		x.look(&x.looks[n-1], &x.runs[n-1], e)
	}
	if space := e.Name.Space; strings.HasSuffix(space, "/math") || space == "m" { // or the prefix alone
		x.math.begin(e, &x.line)
	}
	x.sign(e)
	switch name {
	case "t":
		x.text = true
	case "r", "fld":
		run := style{}.within(x.paragraph().looks)
		x.looks, x.runs = append(x.looks, x.seen(run)), append(x.runs, run)
	case "p":
		x.in = append(x.in, x.styled(""))
	case "pPr":
		x.props++
	case "pStyle", "numId", "ilvl", "shd":
		x.property(e)
	case "buAutoNum":
		x.w.remark(filetext.Numbers)
	case "txbxContent":
		x.boxes++
	case "background":
		x.paper = true
	case "gridSpan", "gridBefore":
		n, err := strconv.Atoi(valued(e, "val"))
		if last := len(x.rows) - 1; err != nil || last < 0 {
		} else if n = min(max(0, n), widest); name == "gridSpan" {
			x.rows[last].wide = n
		} else {
			x.rows[last].cells = make([]string, n)
		}
	case "br", "cr":
		return x.lineEnd()
	case "tr":
		x.rows = append(x.rows, &row{})
	case "tc":
		if n := len(x.rows); n > 0 {
			x.rows[n-1].in = true
		}
	}
	return nil
}

func (x *prose) end(name string) error {
	if x.skipped > 0 {
		x.skipped--
		return nil
	}
	n := len(x.rows)
	x.math.end(name, &x.line)
	switch name {
	case "t":
		x.text = false
	case "r", "fld":
		x.looks, x.runs = x.looks[:max(0, len(x.looks)-1)], x.runs[:max(0, len(x.runs)-1)]
	case "pPr":
		if x.props--; x.props == 0 {
			x.number()
		}
	case "txbxContent":
		x.boxes--
	case "checkBox":
		x.say(x.box)
	case "ddList":
		if x.chosen >= 0 && x.chosen < len(x.choices) {
			x.say(oneLine(x.choices[x.chosen]))
		}
	case "p":
		x.in = x.in[:max(0, len(x.in)-1)]
		return x.lineEnd()
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
		cells := x.rows[n-1].cells
		x.rows = x.rows[:n-1]
		return x.writeLine(strings.Join(cells, "\t"))
	}
	return nil
}

func (x *prose) chars(s string) error {
	if x.text && x.skipped == 0 {
		x.say(s)
	}
	return nil
}

// say adds a text to the line, as its run looks.
func (x *prose) say(s string) {
	as := look{}
	if n := len(x.looks); n > 0 {
		as = x.looks[n-1]
	}
	if as.hidden && strings.TrimSpace(s) != "" {
		x.w.remark(filetext.Hidden)
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
		char := strings.ToUpper(valued(e, "char"))
		x.say(cmp.Or(ticks[char], "["+oneLine(valued(e, "font")+" "+char)+"]"))
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
	if err := p.prose(main, w, looks); err != nil {
		return err
	}
	for _, s := range sections {
		for _, r := range relations {
			if !strings.HasSuffix(r.kind, s.kind) {
				continue
			}
			if err := p.under("\n--- "+s.title+" ---\n", w, func(w *writer) error {
				return p.prose(r.target, w,
					looks)
			}); err != nil {
				return err
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

// prose reads a part's text; looks is nil if it belongs to no document.
func (p *pack) prose(part string, w *writer, looks *styles) error {
	x := &prose{w: w, styles: looks}
	return p.each(part, x.begin, x.end, x.chars)
}

// presentation writes the slides in their order, each with its notes.
func (p *pack) presentation(main string, w *writer) error {
	relations, err := p.relations(main)
	if err != nil {
		return err
	}
	var slides []string
	err = p.each(main, func(e xml.StartElement) error {
		if e.Name.Local == "sldId" {
			slides = append(slides, byID(relations, relationID(e)))
		}
		return nil
	}, nil, nil)
	for i, part := range slides {
		if err != nil {
			return err
		}
		if i > 0 {
			w.write("\n")
		}
		hidden := ""
		if root, err := p.root(part); err == nil && attribute(root, "show") == "0" {
			hidden = ", hidden"
			w.remark(filetext.Hidden)
		}
		if err = w.write(fmt.Sprintf("--- slide %d of %d%s ---\n", i+1, len(slides), hidden)); err == nil {
			err = p.slide(part, w)
		}
	}
	return err
}

func (p *pack) slide(part string, w *writer) error {
	if err := p.prose(part, w, nil); err != nil {
		return err
	}
	beside, err := p.relations(part)
	if err != nil {
		return err
	}
	if notes := related(beside, ofNotes); notes != "" {
		if err := p.under("--- notes ---\n", w, func(w *writer) error { return p.prose(notes, w, nil) }); err != nil {
			return err
		}
	}
	return p.under("--- comments ---\n", w, func(w *writer) error { return p.allComments(beside, w) })
}
