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
	line    strings.Builder
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

// unseen are elements whose text is not shown: the older form beside a newer one, deleted text, fields' codes, where tabs
// stop, and how a text is read aloud.
var unseen = map[string]bool{"Fallback": true, "del": true, "moveFrom": true, "instrText": true, "delText": true,
	"tabs": true, "rt": true}

// said are elements that are not in the text as people see it, or not at all.
var said = map[string]filetext.Remark{"del": filetext.Changes, "ins": filetext.Changes, "moveFrom": filetext.Changes,
	"moveTo": filetext.Changes, "blip": filetext.Pictures, "chart": filetext.Pictures, "relIds": filetext.Pictures,
	"imagedata": filetext.Pictures, "OLEObject": filetext.Pictures, "oleObj": filetext.Pictures}

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
	switch name {
	case "t":
		x.text = true
	case "vanish":
		if v := valued(e, "val"); v == "" || isTrue(v) || v == "on" {
			x.w.remark(filetext.Hidden)
		}
	case "noBreakHyphen":
		x.line.WriteByte('-')
	case "sym":
		char := strings.ToUpper(valued(e, "char"))
		x.line.WriteString(cmp.Or(ticks[char], "["+oneLine(valued(e, "font")+" "+char)+"]"))
	case "gridSpan":
		if n, err := strconv.Atoi(valued(e, "val")); err == nil && len(x.rows) > 0 {
			x.rows[len(x.rows)-1].wide = min(n, widest)
		}
	case "tab":
		x.line.WriteByte('\t')
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
	switch name {
	case "t":
		x.text = false
	case "p":
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
		x.line.WriteString(strings.Join(cells, "\t"))
		return x.lineEnd()
	}
	return nil
}

func (x *prose) chars(s string) error {
	if x.text && x.skipped == 0 {
		x.line.WriteString(s)
	}
	return nil
}

// lineEnd ends a line. Within a table's cell it becomes a blank.
func (x *prose) lineEnd() error {
	line := x.line.String()
	x.line.Reset()
	if n := len(x.rows); n > 0 && x.rows[n-1].in {
		x.rows[n-1].cell.WriteString(oneLine(line) + " ")
		return nil
	}
	return x.w.write(line + "\n")
}

// sections are the parts of a document that stand beside its text, by the end of the relation's kind.
var sections = []struct{ kind, title string }{
	{"/header", "header"}, {"/footer", "footer"}, {"/footnotes", "footnotes"}, {"/endnotes", "endnotes"},
	{"/comments", "comments"},
}

// document writes a document's text, then its notes and comments.
func (p *pack) document(main string, w *writer) error {
	if err := p.prose(main, w); err != nil {
		return err
	}
	relations, err := p.relations(main)
	if err != nil {
		return err
	}
	for _, s := range sections {
		for _, r := range relations {
			if !strings.HasSuffix(r.kind, s.kind) {
				continue
			}
			if err := p.under("\n--- "+s.title+" ---\n", w, func(w *writer) error { return p.prose(r.target, w) }); err != nil {
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

func (p *pack) prose(part string, w *writer) error {
	x := &prose{w: w}
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
	if err := p.prose(part, w); err != nil {
		return err
	}
	beside, err := p.relations(part)
	if err != nil {
		return err
	}
	if notes := related(beside, ofNotes); notes != "" {
		if err := p.under("--- notes ---\n", w, func(w *writer) error { return p.prose(notes, w) }); err != nil {
			return err
		}
	}
	return p.under("--- comments ---\n", w, func(w *writer) error { return p.allComments(beside, w) })
}
