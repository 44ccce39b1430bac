package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"path"
	"slices"
	"strings"

	"ringi/shared/runtime/isolated"
)

// document writes a document's text, then what stands beside it.
func (p *pack) document() {
	styles := p.styles()
	p.text("word/document.xml", prose{styles: styles})
	for _, title := range []string{"header", "footer", "footnotes", "endnotes", "comments"} {
		for _, name := range p.names() {
			if is, _ := path.Match("word/"+title+"*.xml", name); is {
				p.text(name, prose{styles: styles, title: "\n--- " + title + " ---\n"})
			}
		}
	}
}

// presentation writes the text of each slide, then its notes and comments.
func (p *pack) presentation() {
	slides := p.listed("ppt/presentation.xml", "sldId")
	for i, s := range slides {
		p.text(s.path, prose{slide: fmt.Sprintf("slide %d of %d", i+1, len(slides))})
		for _, r := range p.relations(s.path) {
			if r.kind == "notesSlide" || r.kind == "comments" {
				p.text(r.target, prose{title: "--- " + strings.TrimSuffix(r.kind, "Slide") + " ---\n"})
			}
		}
	}
}

// look is how the text of a run looks, as far as it changes what the text says.
type look struct{ hidden, struck bool }

// set takes over what an element says about it.
func (l *look) set(e xml.StartElement) {
	switch on := isOn(attribute(e, "val")); e.Name.Local {
	case "vanish":
		l.hidden = on
	case "strike", "dstrike":
		l.struck = on
	case "rPr": // a slide's
		strike := attribute(e, "strike")
		l.struck = l.struck || strings.HasSuffix(strike, "Strike") && strike != "noStrike"
	}
}

// styles returns how the styles of a document look, by their ids. One comes after that which it is based on.
func (p *pack) styles() map[string]look {
	all, id := map[string]look{}, ""
	for t := range p.tokens("word/styles.xml") {
		e, _ := t.(xml.StartElement)
		switch e.Name.Local {
		case "style":
			id = attribute(e, "styleId")
		case "basedOn":
			all[id] = all[attribute(e, "val")]
		default:
			l := all[id]
			l.set(e)
			all[id] = l
		}
	}
	return all
}

// prose is a text while it is read: paragraphs as lines, rows of tables as lines with tabs between their cells.
type prose struct {
	*pack
	slide  string // which it is
	title  string // written before the first line that is not empty
	styles map[string]look
	style  look // of the paragraph
	look   look
	body   []byte   // the line, or the cell
	last   look     // of its end
	cells  []string // of the row of the outermost table
	tables int      // how many are open
	skips  int      // depth within an element whose text doesn't count
	texts  int      // depth within an element that has text
}

// text writes the text of a part of a document or of slides, whose elements have the same local names.
func (p *pack) text(name string, x prose) {
	x.pack = p
	for t := range p.tokens(name) {
		switch t := t.(type) {
		case xml.StartElement:
			x.begin(t)
		case xml.EndElement:
			x.end(t.Name.Local)
		case xml.CharData:
			if x.texts > 0 {
				x.add(string(t))
			}
		}
	}
}

// Elements whose text is no text of the document: how characters are read aloud, what has been deleted or moved away,
// and what stands twice.
var skipped = []string{"rt", "del", "moveFrom", "Fallback"}

func (x *prose) begin(e xml.StartElement) {
	name := e.Name.Local
	switch name {
	case "sld":
		x.heading(x.slide, !isOn(attribute(e, "show")), "")
	case "ins", "del", "moveFrom", "moveTo":
		if attribute(e, "author") != "" {
			x.remark(isolated.HasChanges)
		}
	case "p":
		x.style, x.look = look{}, look{}
	case "pStyle":
		x.style = x.styles[attribute(e, "val")]
	case "r":
		x.look = x.style
	case "rStyle": // what both styles have, cancels out
		l := x.styles[attribute(e, "val")]
		x.look.hidden, x.look.struck = x.look.hidden != l.hidden, x.look.struck != l.struck
	case "t", "text":
		x.texts++
	case "tab", "ptab":
		if attribute(e, "pos") == "" { // else it is where a paragraph has one
			x.add("\t")
		}
	case "br", "cr":
		x.add("\n")
	case "tbl":
		x.tables++
	case "comment":
		x.add(attribute(e, "author") + ": ")
	default:
		x.look.set(e)
	}
	if x.skips > 0 || slices.Contains(skipped, name) || name == "fld" && attribute(e, "type") == "slidenum" {
		x.skips++
	}
}

func (x *prose) end(name string) {
	x.skips = max(0, x.skips-1)
	switch name {
	case "t":
		x.texts--
	case "text": // of a slide's comment
		x.texts--
		x.paragraph()
	case "r":
		x.look = look{}
	case "p":
		x.paragraph()
	case "tc":
		if x.tables == 1 {
			x.cells = append(x.cells, strings.Join(strings.Fields(string(x.body)), " "))
			x.body = nil
		}
	case "tr":
		if x.tables == 1 {
			x.lines(strings.Join(x.cells, "\t"))
			x.cells = nil
		}
	case "tbl":
		x.tables--
	}
}

// add adds to the paragraph. What is struck out stands between ~~ and ~~, what people don't see in brackets, which
// nothing within ends.
func (x *prose) add(s string) {
	begin, end, now := "", "", x.look
	switch {
	case x.skips > 0:
		return
	case strings.TrimSpace(s) == "":
		now = look{}
	case now.hidden:
		x.remark(isolated.HasHidden)
		begin, end, s = "[invisible: ", "]", strings.NewReplacer("[", "［", "]", "］").Replace(s)
	case now.struck:
		x.remark(isolated.HasStruck)
		begin, end, s = "~~", "~~", strings.ReplaceAll(s, "~", "∼")
	}
	if end != "" && now == x.last && bytes.HasSuffix(x.body, []byte(end)) {
		x.body, begin = x.body[:len(x.body)-len(end)], ""
	}
	x.body, x.last = append(x.body, begin+s+end...), now
}

// paragraph ends a paragraph; within a table it is a part of a cell.
func (x *prose) paragraph() {
	if x.tables > 0 {
		x.body = append(x.body, ' ')
		return
	}
	x.lines(string(x.body))
	x.body = nil
}

// lines writes lines, after the title if it is not written yet.
func (x *prose) lines(s string) {
	if x.title != "" && strings.TrimSpace(s) == "" {
		return
	}
	x.write(x.title)
	x.title = ""
	for line := range strings.SplitSeq(s, "\n") {
		x.line(line)
	}
}
