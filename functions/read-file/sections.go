package main

import (
	"encoding/xml"
	"errors"
	"ringi/shared/runtime/isolated"
	"strconv"
	"strings"
)

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
	if err := p.resolved(relations, x.notes); err != nil {
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
				w.remark(isolated.HasHidden)
			}
		}
	}
	return nil
}

// under writes what stands beside a text, under its title, if it is not empty.
func (p *pack) under(title string, w *writer, read func(*writer) error) error {
	beside := &writer{}
	err := unlessFull(read(beside))
	for _, r := range beside.remarks {
		w.remark(r)
	}
	if err != nil {
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
	relations, err := p.relations(part)
	if err != nil {
		return err
	}
	x.links = addresses(relations)
	if err := p.each(part, x.begin, x.end, x.chars); err != nil {
		return err
	}
	return x.unended()
}

// unlessFull returns an error, unless it is that a text that stands beside another is full: the other goes on.
func unlessFull(err error) error {
	if errors.Is(err, errFull) {
		return nil
	}
	return err
}

// heads says which of a document's headers and footers are shown. Those of first and even pages stay in the file when
// they are turned off; a section without its own has those of the one before.
type heads struct {
	even  bool
	now   map[string]string // by kind of page and part, of the section
	first bool
	named map[string]bool // by relation: whether any section shows it
}

func (p *pack) evenPages(relations []relation, h *heads) error {
	return p.each(related(relations, "/settings"), func(e xml.StartElement) error {
		if e.Name.Local == "evenAndOddHeaders" {
			h.even = isOn(e)
		}
		return nil
	}, nil, nil)
}

func (h *heads) begin(e xml.StartElement) {
	if h == nil {
		return
	}
	if h.named == nil {
		h.now, h.named = map[string]string{}, map[string]bool{}
	}
	switch name := e.Name.Local; name {
	case "sectPr":
		h.first = false
	case "titlePg":
		h.first = isOn(e)
	default:
		id := relationID(e)
		h.now[valued(e, "type")+" "+name] = id
		h.named[id] = h.named[id]
	}
}

// end takes the end of a section.
func (h *heads) end() {
	if h == nil {
		return
	}
	for _, part := range []string{" headerReference", " footerReference"} {
		for kind, on := range map[string]bool{"default": true, "first": h.first, "even": h.even} {
			if id, ok := h.now[kind+part]; ok && on {
				h.named[id] = true
			}
		}
	}
}

// off reports whether no section shows a header or footer that one names.
func (h *heads) off(relation string) bool {
	shown, named := h.named[relation]
	return named && !shown
}

// notes are the numbers of a document's footnotes, endnotes and comments, in the order in which its text names them.
type notes struct {
	numbers map[string]int // by kind and id
	counts  map[string]int
	done    map[string]bool // the ids of comments that are resolved
}

// resolved reads which comments are. A part beside them names one of their paragraphs.
func (p *pack) resolved(relations []relation, n *notes) error {
	paragraphs := map[string]bool{}
	n.done = map[string]bool{}
	err := p.each(related(relations, "/commentsExtended"), func(e xml.StartElement) error {
		if e.Name.Local == "commentEx" && isTrue(valued(e, "done")) {
			paragraphs[valued(e, "paraId")] = true
		}
		return nil
	}, nil, nil)
	if err != nil || len(paragraphs) == 0 {
		return err
	}
	id := ""
	return p.each(related(relations, ofComments), func(e xml.StartElement) error {
		switch e.Name.Local {
		case "comment":
			id = valued(e, "id")
		case "p":
			n.done[id] = n.done[id] || paragraphs[valued(e, "paraId")]
		}
		return nil
	}, nil, nil)
}

// note marks the place of a note in the text, or its beginning among the notes.
func (x *prose) note(e xml.StartElement) {
	if x.notes == nil {
		return
	}
	if x.notes.numbers == nil {
		x.notes.numbers, x.notes.counts = map[string]int{}, map[string]int{}
	}
	name, id := e.Name.Local, valued(e, "id")
	kind := name
	if n := len(name) - len("Reference"); n > 0 && name[n:] == "Reference" {
		kind = name[:n]
		if key := kind + " " + id; x.notes.numbers[key] == 0 {
			x.notes.counts[kind]++
			x.notes.numbers[key] = x.notes.counts[kind]
		}
	}
	n := x.notes.numbers[kind+" "+id]
	mark := kind
	if n > 0 {
		mark += " " + strconv.Itoa(n)
	}
	if kind != name {
		x.say("[" + mark + "]")
		return
	}
	if by := byline(valued(e, "author"), x.notes.done[id] && kind == "comment"); by != "" || n > 0 {
		x.say("[" + mark + by + "] ")
	}
}

// byline names who wrote a comment, and whether it is resolved.
func byline(author string, resolved bool) (by string) {
	if author = withoutBrackets.Replace(oneLine(strings.TrimSpace(author))); author != "" {
		by = ", " + author
	}
	if resolved {
		by += ", resolved"
	}
	return by
}

// textBox returns what reads a text box. What is behind it isn't known.
func (x *prose) textBox() *prose {
	n := len(x.runs)
	return &prose{w: &writer{}, styles: x.styles, notes: x.notes, links: x.links, paper: true,
		concealed: x.hides() || n > 0 && x.runs[n-1].set["vanish"]}
}

// boxEnd keeps a text box until its paragraph ends.
func (x *prose) boxEnd() error {
	boxed := x.boxed
	x.boxed = nil
	if err := unlessFull(boxed.unended()); err != nil {
		return err
	}
	for _, r := range boxed.w.remarks {
		x.w.remark(r)
	}
	const mark = "[text box] "
	for line := range strings.SplitSeq(boxed.w.done(), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		x.after = append(x.after, mark+strings.TrimPrefix(line, mark)) // it may stand in another
		for i := range x.shapes {
			x.shapes[i].text = true
		}
	}
	return nil
}

// boxes writes the text boxes of a paragraph.
func (x *prose) boxes() error {
	lines := x.after
	x.after = nil
	for _, line := range lines {
		if err := x.write(line); err != nil {
			return err
		}
	}
	return nil
}
