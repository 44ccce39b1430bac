package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"ringi/shared/runtime/isolated"
)

// document writes a document's text, then what stands beside it.
func (p *pack) document(w *writer) error {
	styles, err := p.styles()
	if err == nil {
		err = p.text("word/document.xml", "", styles, w)
	}
	if err != nil {
		return err
	}
	for _, title := range []string{"header", "footer", "footnotes", "endnotes", "comments"} {
		for _, name := range p.names() {
			rest, is := strings.CutPrefix(name, "word/"+title)
			if !is || strings.Trim(strings.TrimSuffix(rest, ".xml"), "0123456789") != "" {
				continue
			}
			if err := p.text(name, "\n--- "+title+" ---\n", styles, w); err != nil {
				return err
			}
		}
	}
	return nil
}

// presentation writes the text of each slide, then its notes and comments.
func (p *pack) presentation(w *writer) error {
	slides, err := p.listed("ppt/presentation.xml", "sldId")
	for i, s := range slides {
		if err == nil {
			err = p.slide(s.path, fmt.Sprintf("--- slide %d of %d", i+1, len(slides)), w)
		}
		if err == nil && i < len(slides)-1 {
			err = w.write("\n")
		}
	}
	return err
}

func (p *pack) slide(name, title string, w *writer) error {
	hidden := false
	err := p.each(name, func(e xml.StartElement) error {
		hidden = hidden || e.Name.Local == "sld" && (attribute(e, "show") == "0" || attribute(e, "show") == "false")
		return nil
	}, nil, nil)
	if hidden {
		title += ", hidden"
		w.remark(isolated.HasHidden)
	}
	if err == nil {
		err = w.write(title + " ---\n")
	}
	if err == nil {
		err = p.text(name, "", nil, w)
	}
	if err != nil {
		return err
	}
	relations, err := p.relations(name)
	for _, beside := range []string{"notesSlide", "comments"} {
		for _, r := range relations {
			if err == nil && r.kind == beside {
				err = p.text(r.target, "--- "+strings.TrimSuffix(beside, "Slide")+" ---\n", nil, w)
			}
		}
	}
	return err
}

// prose is a text while it is read: paragraphs as lines, rows of tables as lines with tabs between their cells.
type prose struct {
	title string // written before the first line that is not empty
	w     *writer
	line  []byte
	last  look     // of the end of the line
	cells []string // of the row of the outermost table
	table int      // how many tables are open
	skips int      // depth within an element whose text doesn't count
	texts int      // depth within an element that has text
	look  look
	style look // of the paragraph
	// styles are those of the document by their ids.
	styles map[string]look
}

// look is how the text of a run looks, as far as it changes what the text says.
type look struct{ hidden, struck, numbered bool }

// styles reads how the styles of a document look. One comes after that which it is based on.
func (p *pack) styles() (map[string]look, error) {
	all, id := map[string]look{}, ""
	return all, p.each("word/styles.xml", func(e xml.StartElement) error {
		l, on := all[id], isOn(e)
		switch e.Name.Local {
		case "style":
			id = attribute(e, "styleId")
			return nil
		case "basedOn":
			l = all[attribute(e, "val")]
		case "vanish":
			l.hidden = on
		case "strike", "dstrike":
			l.struck = on
		case "numPr":
			l.numbered = true
		}
		all[id] = l
		return nil
	}, nil, nil)
}

func isOn(e xml.StartElement) bool {
	return !slices.Contains([]string{"0", "false", "off"}, attribute(e, "val"))
}

// Elements whose text is no text of the document: how characters are read aloud, what has been deleted or moved away,
// and what stands twice.
var skipped = []string{"rt", "del", "moveFrom", "Fallback"}

// text writes the text of a part of a document or of slides, whose elements have the same local names.
func (p *pack) text(name, title string, styles map[string]look, w *writer) error {
	x := &prose{title: title, w: w, styles: styles}
	return p.each(name, x.begin, x.end, func(s string) error {
		if x.texts > 0 && x.skips == 0 {
			x.add(s)
		}
		return nil
	})
}

func (x *prose) begin(e xml.StartElement) error {
	name, on := e.Name.Local, isOn(e)
	switch name {
	case "ins", "del", "moveFrom", "moveTo":
		if attribute(e, "author") != "" {
			x.w.remark(isolated.HasChanges)
		}
	case "p":
		x.style, x.look = look{}, look{}
	case "pStyle":
		x.style = x.styles[attribute(e, "val")]
		if x.style.numbered {
			x.w.remark(isolated.HasNumbers)
		}
	case "r":
		x.look = x.style
	case "rStyle": // what both styles have, cancels out
		l := x.styles[attribute(e, "val")]
		x.look.hidden, x.look.struck = x.look.hidden != l.hidden, x.look.struck != l.struck
	case "rPr": // a slide's
		x.look.struck = x.look.struck || strings.HasSuffix(attribute(e, "strike"), "Strike") &&
			attribute(e, "strike") != "noStrike"
	case "vanish":
		x.look.hidden = on
	case "strike", "dstrike":
		x.look.struck = on
	case "numPr":
		x.w.remark(isolated.HasNumbers)
	case "t", "text":
		x.texts++
	case "tab", "ptab":
		if attribute(e, "pos") == "" { // else it is where a paragraph has one
			x.add("\t")
		}
	case "br", "cr":
		x.add("\n")
	case "tbl":
		x.table++
	case "comment":
		x.add(attribute(e, "author") + ": ")
	}
	if x.skips > 0 || slices.Contains(skipped, name) || name == "fld" && attribute(e, "type") == "slidenum" {
		x.skips++
	}
	return nil
}

func (x *prose) end(name string) error {
	x.skips = max(0, x.skips-1)
	switch name {
	case "t":
		x.texts--
	case "text": // of a slide's comment
		x.texts--
		return x.paragraph()
	case "r":
		x.look = look{}
	case "p":
		return x.paragraph()
	case "tc":
		if x.table == 1 {
			x.cells = append(x.cells, strings.Join(strings.Fields(string(x.line)), " "))
			x.line = nil
		}
	case "tr":
		if x.table == 1 {
			err := x.write(strings.Join(x.cells, "\t"))
			x.cells = nil
			return err
		}
	case "tbl":
		x.table--
	}
	return nil
}

// add adds to the paragraph.
func (x *prose) add(s string) {
	begin, end, now := "", "", x.look
	switch {
	case x.skips > 0:
		return
	case strings.TrimSpace(s) == "":
		now = look{}
	case now.hidden:
		x.w.remark(isolated.HasHidden)
		begin, end, s = hiddenBegins, hiddenEnds, withoutBrackets.Replace(s)
	case now.struck:
		x.w.remark(isolated.HasStruck)
		begin, end, s = struckMark, struckMark, strings.ReplaceAll(s, "~", "∼") // nothing within ends the mark
	}
	if end != "" && now == x.last && bytes.HasSuffix(x.line, []byte(end)) {
		x.line, begin = x.line[:len(x.line)-len(end)], ""
	}
	x.line, x.last = append(x.line, begin+s+end...), now
}

// struckMark stands before and after what is struck out. What people don't see stands between hiddenBegins and
// hiddenEnds.
const (
	struckMark   = "~~"
	hiddenBegins = "[invisible: "
	hiddenEnds   = "]"
)

// withoutBrackets takes out what would end what is hidden.
var withoutBrackets = strings.NewReplacer("[", "［", "]", "］")

// paragraph ends a paragraph; within a table it is a part of a cell.
func (x *prose) paragraph() error {
	if x.table > 0 {
		x.line = append(x.line, ' ')
		return nil
	}
	s := string(x.line)
	x.line = nil
	return x.write(s)
}

// write writes lines, after the title if it is not written yet.
func (x *prose) write(s string) error {
	if x.title != "" {
		if strings.TrimSpace(s) == "" {
			return nil
		}
		if err := x.w.write(x.title); err != nil {
			return err
		}
		x.title = ""
	}
	lines := strings.Split(printable(s), "\n")
	for i := range lines {
		lines[i] = foreign(lines[i])
	}
	return x.w.write(strings.Join(lines, "\n") + "\n")
}

// printable is a text without control characters but tabs and ends of lines.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' {
			return -1
		}
		return r
	}, s)
}
