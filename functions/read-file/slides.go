package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"strings"

	"ringi/shared/runtime/filetext"
)

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

// drawnOn writes what a slide's layout and master show on it beside what it fills in, if they have a text.
func (p *pack) drawnOn(part string, beside []relation, w *writer) error {
	for _, kind := range []string{"/slideLayout", "/slideMaster"} {
		root, err := p.root(part)
		next := related(beside, kind)
		if err != nil || next == "" || attribute(root, "showMasterSp") == "0" || p.parts[strings.ToLower(next)] == nil {
			return err
		}
		read := &writer{} // pictures of a design are said of no slide
		if err := p.text(next, read, prose{layout: true}); err != nil && !errors.Is(err, errFull) {
			return err
		}
		if text := strings.TrimSpace(read.done()); text != "" {
			if err := w.write("--- of the " + kind[len("/slide"):] + " ---\n" + text + "\n"); err != nil {
				return err
			}
		}
		if beside, err = p.relations(next); err != nil {
			return err
		}
		part = next
	}
	return nil
}

func (p *pack) slide(part string, w *writer) error {
	if err := p.prose(part, w); err != nil {
		return err
	}
	beside, err := p.relations(part)
	if err == nil {
		err = p.drawnOn(part, beside, w)
	}
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

// shape is one that is read. People circle a word by one without text, or cross out a line.
type shape struct{ text, placeholder bool }

// drawn are shapes: a connector and ink have no text, and others may have one. Those of the older form stand in pict.
var (
	drawn    = map[string]bool{"sp": true, "wsp": true}
	drawnVML = map[string]bool{"shape": true, "oval": true, "rect": true, "roundrect": true, "line": true,
		"polyline": true, "arc": true, "curve": true}
)

func (x *prose) isShape(name string) bool { return drawn[name] || x.pict > 0 && drawnVML[name] }
