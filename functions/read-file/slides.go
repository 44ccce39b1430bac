package main

import (
	"encoding/xml"
	"fmt"

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

func (p *pack) slide(part string, w *writer) error {
	if err := p.prose(part, w, nil); err != nil {
		return err
	}
	beside, err := p.relations(part)
	if err != nil {
		return err
	}
	if notes := related(beside, ofNotes); notes != "" {
		if err := p.under("--- notes ---\n", w, func(w *writer) error { return p.prose(notes, w, nil) }); err != nil {
			return err
		}
	}
	return p.under("--- comments ---\n", w, func(w *writer) error { return p.allComments(beside, w) })
}
