package main

import (
	"encoding/xml"
	"fmt"
	"strings"
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
}

// unseen are elements whose text is not shown: the older form beside a newer one, deleted text, fields' codes, and where tabs
// stop.
var unseen = map[string]bool{"Fallback": true, "del": true, "moveFrom": true, "instrText": true, "delText": true,
	"tabs": true}

func (x *prose) begin(e xml.StartElement) error {
	name := e.Name.Local
	if x.skipped > 0 || unseen[name] {
		x.skipped++
		return nil
	}
	switch name {
	case "t":
		x.text = true
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
	{"/footnotes", "footnotes"}, {"/endnotes", "endnotes"}, {"/comments", "comments"},
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
		part := related(relations, s.kind)
		if part == "" {
			continue
		}
		if err := w.write("\n--- " + s.title + " ---\n"); err != nil {
			return err
		}
		if err := p.prose(part, w); err != nil {
			return err
		}
	}
	return nil
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
		if err = w.write(fmt.Sprintf("--- slide %d of %d ---\n", i+1, len(slides))); err == nil {
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
	notes := related(beside, ofNotes)
	if notes == "" {
		return nil
	}
	if err := w.write("--- notes ---\n"); err != nil {
		return err
	}
	return p.prose(notes, w)
}
