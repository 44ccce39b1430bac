package main

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringi/shared/runtime/isolated"
	"ringi/shared/words/language"
)

// Kinds of relations of what stands beside a sheet's cells. A comment with answers is there twice: as such, and for
// older
// programs with a sentence about them before it, in the language of whoever wrote it. That one's author is a number.
const (
	ofComments = "/comments"
	ofThreads  = "/threadedComment"
	ofDrawing  = "/drawing"
	ofForms    = "/vmlDrawing"
	forOlder   = "tc={"
)

// beside writes the addresses of a sheet's links and its comments, each with its cell, and its text boxes.
func (p *pack) beside(part, name string, links []link, w *writer) error {
	relations, err := p.relations(part)
	if err != nil {
		return err
	}
	err = p.under("--- links of "+name+" ---\n", w, func(w *writer) error {
		all := addresses(relations)
		for _, l := range links {
			if to := all[l.id]; to != "" && to != l.shown {
				if err := w.write(foreign(oneLine(l.cell)+": "+to) + "\n"); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = p.under("--- comments of "+name+" ---\n", w, func(w *writer) error { return p.allComments(relations, w) })
	if err != nil {
		return err
	}
	return p.under("--- text boxes of "+name+" ---\n", w, func(w *writer) error {
		for _, r := range relations {
			var err error
			switch {
			case strings.HasSuffix(r.kind, ofDrawing):
				err = p.prose(r.target, w)
			case strings.HasSuffix(r.kind, ofForms):
				err = p.forms(r.target, w)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// forms says whether a drawing for older programs has buttons and the like, which may stand there alone. Comments are
// drawn there, too. It may be no whole XML, as line ends in it are those of HTML.
func (p *pack) forms(part string, w *writer) error {
	err := p.each(part, func(e xml.StartElement) error {
		if e.Name.Local == "ClientData" && attribute(e, "ObjectType") != "Note" {
			w.remark(isolated.HasPictures)
		}
		return nil
	}, nil, nil)
	if err == errBroken {
		w.remark(isolated.HasPictures)
		return nil
	}
	return err
}

// people returns the names of those who may comment, by the ids that a workbook or a presentation gives them.
func (p *pack) people(main string) (map[string]string, error) {
	by := map[string]string{}
	relations, err := p.relations(main)
	for _, kind := range []string{"/person", "/authors", "/commentAuthors"} {
		if err != nil {
			return nil, err
		}
		err = p.each(related(relations, kind), func(e xml.StartElement) error {
			if id := attribute(e, "id"); id != "" {
				by[id] = cmp.Or(attribute(e, "displayName"), attribute(e, "name"))
			}
			return nil
		}, nil, nil)
	}
	return by, err
}

// allComments writes the comments that stand in a relation to a sheet or a slide.
func (p *pack) allComments(relations []relation, w *writer) error {
	for _, r := range relations {
		if strings.HasSuffix(r.kind, ofComments) || strings.HasSuffix(r.kind, ofThreads) {
			if err := p.comments(r.target, related(relations, ofThreads) != "", w); err != nil {
				return err
			}
		}
	}
	return nil
}

// comment is one of a sheet or a slide, or the name of an author. Answers may stand within what they answer.
type comment struct {
	is      xml.StartElement
	text    prose
	answers []string
}

var isComment = map[string]bool{"author": true, "comment": true, "threadedComment": true, "cm": true, "reply": true}

// comments writes a part's comments, each as a line with its author. If there are threads, those for older programs are
// left out.
func (p *pack) comments(part string, threads bool, w *writer) error {
	var authors []string
	var open []*comment
	return p.each(part, func(e xml.StartElement) error {
		name, n := e.Name.Local, len(open)
		if isComment[name] {
			open = append(open, &comment{is: e.Copy(), text: prose{w: &writer{}, text: name == "author"}})
			return nil
		}
		if n == 0 {
			return nil
		}
		err := open[n-1].text.begin(e)
		open[n-1].text.text = open[n-1].text.text || name == "text"
		return unlessFull(err)
	}, func(name string) error {
		n := len(open) - 1
		if n < 0 {
			return nil
		}
		c := open[n]
		if !isComment[name] {
			return unlessFull(c.text.end(name))
		}
		if err := unlessFull(c.text.unended()); err != nil {
			return err
		}
		for _, r := range c.text.w.remarks {
			w.remark(r)
		}
		open = open[:n]
		text := strings.TrimSpace(cellText(c.text.w.done()))
		if name == "author" {
			authors = append(authors, text)
			return nil
		}
		c.answers = append([]string{c.line(text, p.author(c.is, authors), threads)}, c.answers...)
		if name == "reply" && n > 0 {
			open[n-1].answers = append(open[n-1].answers, c.answers...)
			return nil
		}
		return w.write(strings.Join(c.answers, ""))
	}, func(s string) error {
		if n := len(open); n > 0 {
			return unlessFull(open[n-1].text.chars(s))
		}
		return nil
	})
}

// author returns who wrote a comment: one of the authors of its part, or of the people that the file lists.
func (p *pack) author(c xml.StartElement, authors []string) string {
	i, err := strconv.Atoi(attribute(c, "authorId"))
	if c.Name.Local == "comment" && err == nil && i >= 0 && i < len(authors) {
		return authors[i]
	}
	return p.by[cmp.Or(attribute(c, "personId"), attribute(c, "authorId"))]
}

// line returns a comment as a line, or nothing.
func (c *comment) line(text, author string, threads bool) string {
	older := strings.HasPrefix(author, forOlder)
	if text == "" || threads && older {
		return ""
	}
	if older || strings.HasPrefix(text, author+":") { // Excel begins a note with its author
		author = ""
	}
	resolved := isTrue(attribute(c.is, "done")) || attribute(c.is, "status") == "resolved"
	by := oneLine(attribute(c.is, "ref")) + byline(author, resolved)
	if by = strings.TrimPrefix(by, ", "); by != "" {
		text = by + ": " + text
	}
	return foreign(text) + "\n"
}

// mostMerged is how many ranges of merged cells are named.
const mostMerged = 100

// mostAreas is how many of them are looked at.
const mostAreas = 100_000

// place is a cell's row and column.
type place struct{ row, column int }

// area is one of cells, from its first to its last.
type area struct{ from, to place }

func (a area) has(p place) bool {
	return p.row >= a.from.row && p.row <= a.to.row && p.column >= a.from.column && p.column <= a.to.column
}

// areaOf reads one such as A1:C3. What is none has no cell.
func areaOf(ref string) area {
	from, to, _ := strings.Cut(strings.ReplaceAll(ref, "$", ""), ":")
	return area{placeOf(from), placeOf(to)}
}

func placeOf(name string) place {
	row, _ := strconv.Atoi(strings.TrimLeft(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
	return place{row, columnOf(name)}
}

// covered says which texts nobody sees, since a merged cell shows that of its first alone.
func (r *rows) covered(until time.Time) error {
	var names []string
	more, steps := 0, 0
	for _, a := range r.margins.areas {
		first, _ := slices.BinarySearchFunc(r.places, a.from.row, func(p place, row int) int { return p.row - row })
		for _, p := range r.places[first:] {
			if steps++; p.row > a.to.row {
				break
			}
			if steps%mostAreas == 0 && time.Now().After(until) {
				return errTooComplex
			}
			switch {
			case !a.has(p) || p == a.from:
			case len(names) < mostMerged:
				names = append(names, lettersOf(p.column)+strconv.Itoa(p.row))
			default:
				more++
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	r.w.remark(isolated.HasHidden)
	return r.w.write("[covered by merged cells, so that nobody sees them: " + listed(names, more) + "]\n")
}

// listed joins names, and says how many more there are.
func listed(names []string, more int) string {
	s := strings.Join(names, ", ")
	if more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// margins is what a sheet says after its rows: merged cells, and what is printed above and below.
type margins struct {
	merged []string
	more   int
	areas  []area                      // of merged cells
	texts  map[string]*strings.Builder // of headers and footers
	in     *strings.Builder
	links  []link
}

// mostLinks is how many links are written.
const mostLinks = 1000

// link is one of cells, which may say what they show.
type link struct{ cell, id, shown string }

// begin takes an element that stands beside the rows.
func (m *margins) begin(e xml.StartElement) {
	if e.Name.Local == "mergeCell" && len(m.areas) < mostAreas {
		m.areas = append(m.areas, areaOf(attribute(e, "ref")))
	}
	switch name := e.Name.Local; {
	case name == "mergeCell" && len(m.merged) < mostMerged:
		m.merged = append(m.merged, oneLine(attribute(e, "ref")))
	case name == "mergeCell":
		m.more++
	case name == "hyperlink" && len(m.links) < mostLinks:
		m.links = append(m.links, link{attribute(e, "ref"), relationID(e), attribute(e, "display")})
	case name != "headerFooter" && (strings.HasSuffix(name, "Header") || strings.HasSuffix(name, "Footer")):
		kind := strings.ToLower(name[len(name)-len("Header"):])
		if m.texts == nil {
			m.texts = map[string]*strings.Builder{"header": {}, "footer": {}}
		}
		m.in = m.texts[kind]
		m.in.WriteByte('\n')
	}
}

func (m *margins) end() { m.in = nil }

// write writes what was taken of a sheet with this name.
func (m *margins) write(name string, w *writer) error {
	if len(m.merged) > 0 {
		if err := w.write("[merged cells: " + listed(m.merged, m.more) + "]\n"); err != nil {
			return err
		}
	}
	for _, kind := range []string{"header", "footer"} {
		if m.texts[kind] == nil {
			continue
		}
		text := strings.TrimSpace(printed(m.texts[kind].String()))
		if strings.Contains(m.texts[kind].String(), "&G") {
			w.remark(isolated.HasPictures)
		}
		if text == "" {
			continue
		}
		if err := w.write("--- " + kind + " of " + name + " ---\n" + text + "\n"); err != nil {
			return err
		}
	}
	return nil
}

// printing matches the codes of a header: what is put in, where a part begins, fonts, colors and sizes.
var printing = language.Regexp{Text: `(?i)&(?:"[^"]*"|k[0-9a-f]{6}|k\d\d[+-]\d{3}|\d+|.)`}

var puts = map[string]string{"&&": "&", "&p": "(page)", "&n": "(pages)", "&d": "(date)", "&t": "(time)", "&f": "(file)",
	"&a": "(sheet)", "&z": "(folder)", "&l": "\n", "&c": "\n", "&r": "\n"}

// printed returns a header as it is printed, each of its parts as a line.
func printed(header string) string {
	var lines []string
	for line := range strings.SplitSeq(printing.Get().ReplaceAllStringFunc(header, func(code string) string {
		return puts[strings.ToLower(code)]
	}), "\n") {
		if line = oneLine(strings.TrimSpace(line)); line != "" {
			lines = append(lines, foreign(line))
		}
	}
	return strings.Join(lines, "\n")
}
