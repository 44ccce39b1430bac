package main

import (
	"encoding/xml"
	"fmt"
)

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
	switch {
	case n == 0:
	case kind == name:
		x.say(fmt.Sprintf("[%s %d] ", kind, n))
	default:
		x.say(fmt.Sprintf("[%s %d]", kind, n))
	}
}
