package main

import (
	"cmp"
	"encoding/xml"
	"strconv"
	"strings"

	"ringi/shared/runtime/filetext"
)

// styles are a document's styles by their ids, and its lists.
type styles struct {
	by       map[string]*style
	standard string // of paragraphs that name none
	lists    lists
}

// style is what a style says itself; what it leaves out, the one says that it is based on.
type style struct {
	basedOn    string
	set        map[string]bool // strike, dstrike, vanish, white, tiny: on or off
	shaded     bool
	num, level string
}

// mostBased is how many styles are based on each other.
const mostBased = 20

// looks reads the parts beside a document that say how it looks.
func (p *pack) looks(relations []relation) (*styles, error) {
	s := &styles{by: map[string]*style{}}
	var now *style
	err := p.each(related(relations, ofStyles), func(e xml.StartElement) error {
		switch name := e.Name.Local; {
		case name == "style":
			id := valued(e, "styleId")
			now = &style{set: map[string]bool{}}
			s.by[id] = now
			if isTrue(valued(e, "default")) && valued(e, "type") == "paragraph" {
				s.standard = id
			}
		case now == nil:
		case name == "basedOn":
			now.basedOn = valued(e, "val")
		case name == "numId":
			now.num = valued(e, "val")
		case name == "ilvl":
			now.level = valued(e, "val")
		default:
			now.take(e)
		}
		return nil
	}, func(name string) error {
		if name == "style" {
			now = nil
		}
		return nil
	}, nil)
	if err != nil {
		return nil, err
	}
	return s, p.lists(related(relations, ofLists), &s.lists)
}

// take notes an element of a run's properties.
func (s *style) take(e xml.StartElement) {
	switch e.Name.Local {
	case "strike", "dstrike", "vanish":
		s.set[e.Name.Local] = isOn(e)
	case "sz":
		s.set["tiny"] = tiny(valued(e, "val"), 2)
	case "rPr": // of a shape
		if strike := attribute(e, "strike"); strike != "" {
			s.set["strike"] = strike != "noStrike"
		}
	case "color":
		s.set["white"] = whiteInWord(e)
	case "highlight":
		s.shaded = valued(e, "val") != "none"
	case "shd":
		s.shaded = colored(e)
	}
}

// whiteInWord reports whether a color of Word is white. That of its theme counts, if it names one; shaded it is gray.
func whiteInWord(e xml.StartElement) bool {
	switch valued(e, "themeColor") {
	case "":
		return nearWhite(valued(e, "val"))
	case "background1", "light1":
		shade, err := strconv.ParseUint(valued(e, "themeShade"), 16, 16)
		return err != nil || shade >= 0xf0
	}
	return false
}

// colored reports whether a shading is one on which white can be seen.
func colored(e xml.StartElement) bool {
	fill := strings.ToLower(valued(e, "fill"))
	pattern := valued(e, "val")
	return fill != "" && fill != "auto" && fill != "ffffff" || pattern == "solid" || strings.HasPrefix(pattern, "pct")
}

// whole returns what a style says with all that it is based on.
func (s *styles) whole(id string) style {
	out := style{set: map[string]bool{}}
	for range mostBased {
		is := s.by[id]
		if is == nil {
			break
		}
		for name, on := range is.set {
			if _, said := out.set[name]; !said {
				out.set[name] = on
			}
		}
		out.shaded = out.shaded || is.shaded
		if out.num == "" {
			out.num, out.level = is.num, is.level
		}
		id = is.basedOn
	}
	return out
}

// within returns how a run of this style looks in a paragraph that looks so. What both styles strike out is not, in
// Word.
func (s style) within(p style) style {
	out := style{set: map[string]bool{}, shaded: p.shaded || s.shaded}
	for _, name := range []string{"strike", "vanish"} {
		out.set[name] = p.set[name] != s.set[name]
	}
	out.set["dstrike"] = p.set["dstrike"] || s.set["dstrike"]
	for _, name := range []string{"white", "tiny"} {
		on, said := s.set[name]
		if out.set[name] = on; !said {
			out.set[name] = p.set[name]
		}
	}
	return out
}

// paragraph is one that is read.
type paragraph struct {
	style  string
	looks  style
	num    string
	level  string
	shaded bool
	joined bool // its end is deleted, so that the next one goes on with it
	indent int  // its level on a slide
}

func (x *prose) paragraph() paragraph {
	if n := len(x.in); n > 0 {
		return x.in[n-1]
	}
	return paragraph{looks: style{}}
}

// styled returns a paragraph of a style; empty: of the one of paragraphs that name none.
func (x *prose) styled(id string) paragraph {
	if x.styles == nil {
		return paragraph{}
	}
	id = cmp.Or(id, x.styles.standard)
	whole := x.styles.whole(id)
	return paragraph{style: id, looks: whole, num: whole.num, level: whole.level, shaded: whole.shaded}
}

// property takes a property of a paragraph.
func (x *prose) property(e xml.StartElement) {
	n := len(x.in)
	if n == 0 || x.props == 0 || x.styles == nil {
		return
	}
	p := &x.in[n-1]
	switch e.Name.Local {
	case "pStyle":
		*p = x.styled(valued(e, "val"))
	case "numId":
		p.num = valued(e, "val")
	case "ilvl":
		p.level = valued(e, "val")
	case "shd":
		p.shaded = p.shaded || colored(e)
	}
}

// deletes takes an element that says that the end of a paragraph, or a row, is deleted.
func (x *prose) deletes(name string) {
	switch rows, paragraphs := len(x.rows), len(x.in); {
	case name != "del" && name != "moveFrom" || x.props == 0:
	case x.rowProps && rows > 0:
		x.rows[rows-1].deleted = true
	case !x.rowProps && paragraphs > 0:
		x.in[paragraphs-1].joined = true
	}
}

// number writes the number or the bullet before a paragraph. Those whose ends are deleted are one with the next, which
// has the number.
func (x *prose) number() {
	p := x.paragraph()
	if x.styles == nil || p.num == "" || p.num == "0" || p.joined {
		return
	}
	label, ok := x.styles.lists.label(p.num, p.level, p.style)
	if !ok {
		x.w.remark(filetext.Numbers)
	}
	x.line.before(label)
}

// seen returns how a run of a document looks. White is hidden where nothing colored is behind it: what is behind a
// table, a text box or a slide isn't known.
func (x *prose) seen(run style) look {
	white := run.set["white"] && !run.shaded && !x.paragraph().shaded && len(x.rows) == 0 && !x.paper
	return look{struck: run.set["strike"] || run.set["dstrike"], hidden: run.set["vanish"] || run.set["tiny"] || white}
}

// look takes what an element says of a run's look.
func (x *prose) look(as *look, run *style, e xml.StartElement) {
	as.take(e)
	if x.styles == nil {
		return
	}
	if e.Name.Local == "rStyle" {
		*run = x.styles.whole(valued(e, "val")).within(x.paragraph().looks)
	} else {
		run.take(e)
	}
	now := x.seen(*run)
	as.struck, as.hidden = now.struck, now.hidden
}
