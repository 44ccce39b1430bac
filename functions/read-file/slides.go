package main

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"ringi/shared/runtime/isolated"
	"slices"
	"strings"
)

// deck is what a presentation's slides share.
type deck struct {
	*pack
	designs map[string]*design // by part
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
	d := deck{p, map[string]*design{}}
	for i, part := range slides {
		if err != nil {
			return err
		}
		if i > 0 {
			w.write("\n")
		}
		root, errRoot := p.root(part)
		hidden := ""
		if errRoot == nil && attribute(root, "show") == "0" {
			hidden = ", hidden"
			w.remark(isolated.HasHidden)
		}
		if err = w.write(fmt.Sprintf("--- slide %d of %d%s ---\n", i+1, len(slides), hidden)); err == nil {
			err = d.slide(i+1, part, attribute(root, "showMasterSp") != "0", w)
		}
	}
	return err
}

// slide writes a slide, then what its layout and master show on it if it shows that, its notes and its comments.
func (d deck) slide(n int, part string, shows bool, w *writer) error {
	beside, err := d.relations(part)
	if err != nil {
		return err
	}
	layout, err := d.design(related(beside, "/slideLayout"), "Layout")
	if err != nil {
		return err
	}
	master, err := d.design(layout.master, "Master")
	if err != nil {
		return err
	}
	if err := d.text(part, w, prose{designs: []*design{master, layout}}); err != nil {
		return err
	}
	if shows {
		err = layout.write(n, w)
	}
	if shows && !layout.alone && err == nil {
		err = master.write(n, w)
	}
	if err != nil {
		return err
	}
	if notes := related(beside, ofNotes); notes != "" {
		if err := d.under("--- notes ---\n", w, func(w *writer) error { return d.prose(notes, w) }); err != nil {
			return err
		}
	}
	return d.under("--- comments ---\n", w, func(w *writer) error { return d.allComments(beside, w) })
}

// design is a layout or a master: what it shows on slides beside what they fill in, and how that looks.
type design struct {
	title, text string
	remarks     []isolated.FileRemark
	slide       int               // the first that it is written with
	by          map[string]levels // by kinds and numbers of its placeholders, and of a master by styles
	master      string            // of a layout
	alone       bool              // nothing of its master is shown
}

// design reads one. A part that is missing has nothing.
func (d deck) design(part, title string) (*design, error) {
	if is := d.designs[part]; is != nil {
		return is, nil
	}
	is := &design{title: title, by: map[string]levels{}}
	d.designs[part] = is
	if d.parts[strings.ToLower(part)] == nil {
		return is, nil
	}
	root, err := d.root(part)
	if err != nil {
		return nil, err
	}
	is.alone = attribute(root, "showMasterSp") == "0"
	beside, err := d.relations(part)
	if err != nil {
		return nil, err
	}
	is.master = related(beside, "/slideMaster")
	read := &writer{}
	if err := unlessFull(d.text(part, read, prose{layout: true})); err != nil {
		return nil, err
	}
	is.text = strings.TrimSpace(read.done())
	is.remarks = slices.DeleteFunc(read.remarks, func(r isolated.FileRemark) bool {
		return r == isolated.HasPictures // of a design they are said of no slide
	})
	var keys []string
	at := -1
	return is, d.each(part, func(e xml.StartElement) error {
		switch name := e.Name.Local; name {
		case "sp":
			keys = nil
		case "ph":
			keys = []string{"type " + cmp.Or(attribute(e, "type"), "obj"), "idx " + attribute(e, "idx")}
		case "titleStyle", "bodyStyle", "otherStyle":
			keys = []string{name}
		case "defRPr":
			for _, key := range keys {
				if is.by[key] == nil {
					is.by[key] = levels{}
				}
				is.by[key][at] = e.Copy()
			}
		default:
			at = levelIn(name, at)
		}
		return nil
	}, nil, nil)
}

// write writes what a design shows on a slide. It stands with the first, and is named with others.
func (d *design) write(slide int, w *writer) error {
	switch {
	case d.text == "":
		return nil
	case d.slide > 0:
		return w.write(fmt.Sprintf("--- of the %s: as on slide %d ---\n", d.title, d.slide))
	}
	d.slide = slide
	for _, r := range d.remarks {
		w.remark(r)
	}
	return w.write("--- of the " + d.title + " ---\n" + d.text + "\n")
}

// dress says how a run in a placeholder looks on a level.
func (d *design) dress(as *look, in shape, level int) {
	kind, style := cmp.Or(in.kind, "obj"), "bodyStyle"
	switch {
	case kind == "title", kind == "ctrTitle":
		kind, style = "title", "titleStyle"
	case kind == "dt", kind == "ftr", kind == "sldNum":
		style = "otherStyle"
	}
	keys := []string{"type " + in.kind, "type " + kind}
	if d.master == "" { // a master
		keys = []string{style, "type " + kind}
		if style == "bodyStyle" {
			keys[1] = "type body"
		}
	} else if _, ok := d.by["idx "+in.idx]; ok && in.idx != "" {
		keys = []string{"idx " + in.idx}
	}
	for _, key := range keys {
		if e, ok := d.by[key][level]; ok {
			as.take(e)
		}
	}
}

// shape is one that is read, or what holds some. People circle a word by one without text, or cross out a line.
type shape struct {
	name        string
	text        bool // it has one, or its lack need not be said
	placeholder bool
	hidden      bool
	kind, idx   string // of the placeholder
	own         levels // of its text
	link        string
}

// drawn are elements of shapes, and of what holds some: whether the lack of a text is to be said. A connector and ink
// have none, and pictures are said themselves. Those of the older form stand in pict.
var (
	drawn = map[string]bool{"sp": true, "wsp": true, "cxnSp": false, "pic": false, "graphicFrame": false, "grpSp": false,
		"wgp": false, "anchor": false, "inline": false}
	drawnVML = map[string]bool{"shape": true, "oval": true, "rect": true, "roundrect": true, "line": true,
		"polyline": true, "arc": true, "curve": true, "group": false}
)

func (x *prose) isShape(name string) (is, lacks bool) {
	if lacks, is = drawn[name]; !is && x.pict > 0 {
		lacks, is = drawnVML[name]
	}
	return is, lacks
}

// shape takes elements of shapes.
func (x *prose) shape(e xml.StartElement) {
	if is, lacks := x.isShape(e.Name.Local); is {
		style := strings.ReplaceAll(attribute(e, "style"), " ", "")
		x.shapes = append(x.shapes, shape{name: e.Name.Local, hidden: strings.Contains(style, "visibility:hidden"),
			text: !lacks || valued(e, "hr") != ""}) // a rule across the page is none
	}
	n := len(x.shapes) - 1
	if n < 0 {
		return
	}
	is := &x.shapes[n]
	x.indent = levelIn(e.Name.Local, x.indent)
	switch e.Name.Local {
	case "cNvPr", "docPr":
		x.naming, is.hidden = true, is.hidden || isTrue(attribute(e, "hidden"))
	case "ph":
		is.placeholder, is.kind, is.idx = true, attribute(e, "type"), attribute(e, "idx")
	case "defRPr":
		if is.own == nil {
			is.own = levels{}
		}
		is.own[x.indent] = e.Copy()
	}
}

// shapeEnd takes the end of one.
func (x *prose) shapeEnd(name string) error {
	x.naming = x.naming && name != "cNvPr" && name != "docPr"
	last := len(x.shapes) - 1
	if is, _ := x.isShape(name); !is || last < 0 {
		return nil
	}
	is, hides := x.shapes[last], x.hides()
	x.shapes = x.shapes[:last]
	if !is.text && !is.placeholder && !hides {
		x.w.remark(isolated.HasPictures)
	}
	switch {
	case is.link == "", last > 0 && x.shapes[last-1].link == is.link: // what holds a picture has its link, too
	case len(x.looks) > 0:
		x.say(" (" + is.link + ")")
	default:
		return x.write("(" + is.link + ")")
	}
	return nil
}

// hides reports whether nobody sees what is read: a shape is hidden, or another cell covers this one.
func (x *prose) hides() bool {
	return x.concealed || slices.ContainsFunc(x.shapes, func(s shape) bool { return s.hidden }) ||
		slices.ContainsFunc(x.rows, func(r *row) bool { return r.in && r.covered })
}

// levels are what a shape, a layout or a master says of the runs on each level of its paragraphs.
type levels map[int]xml.StartElement

// levelIn returns which level an element's content says something of: at, unless the element begins another. It is -1
// for none.
func levelIn(name string, at int) int {
	switch {
	case len(name) == len("lvl1pPr") && strings.HasPrefix(name, "lvl") && strings.HasSuffix(name, "pPr"):
		return int(name[3] - '1')
	case name == "pPr", name == "defPPr":
		return -1
	}
	return at
}

// inherited returns how a run of a slide looks if it says nothing itself.
func (x *prose) inherited() (as look) {
	n := len(x.shapes) - 1
	if n < 0 || x.shapes[n].name != "sp" {
		return as
	}
	is, level := x.shapes[n], x.paragraph().indent
	for _, d := range x.designs {
		if is.placeholder {
			d.dress(&as, is, level)
		}
	}
	if e, ok := is.own[level]; ok {
		as.take(e)
	}
	return as
}
