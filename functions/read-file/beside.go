package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"strings"
)

// Kinds of relations of what stands beside a sheet's cells. A comment with answers is there twice: as such, and for older
// programs with a sentence about them before it.
const (
	ofComments = "/comments"
	ofThreads  = "/threadedComment"
	ofDrawing  = "/drawing"
	forOlder   = "[Threaded comment]"
)

// beside writes a sheet's comments, each with its cell, and its text boxes.
func (p *pack) beside(part, name string, w *writer) error {
	relations, err := p.relations(part)
	if err != nil {
		return err
	}
	comments, boxes := &writer{}, &writer{}
	for _, r := range relations {
		switch {
		case strings.HasSuffix(r.kind, ofComments), strings.HasSuffix(r.kind, ofThreads):
			err = p.comments(r.target, comments)
		case strings.HasSuffix(r.kind, ofDrawing):
			err = p.prose(r.target, boxes)
		}
		if err != nil && !errors.Is(err, errFull) {
			return err
		}
	}
	for _, x := range []struct {
		of string
		w  *writer
	}{{"comments", comments}, {"text boxes", boxes}} {
		text := strings.Trim(x.w.done(), "\n")
		if text == "" {
			continue
		}
		if err := w.write(fmt.Sprintf("--- %s of %s ---\n%s\n", x.of, name, text)); err != nil {
			return err
		}
	}
	return nil
}

// comments writes a part's comments, each as a line.
func (p *pack) comments(part string, w *writer) error {
	var text strings.Builder
	cell, within, aloud := "", false, 0
	return p.each(part, func(e xml.StartElement) error {
		switch e.Name.Local {
		case "comment", "threadedComment":
			cell = attribute(e, "ref")
			text.Reset()
		case "t", "text":
			within = true
		case "rPh":
			aloud++
		}
		return nil
	}, func(name string) error {
		switch name {
		case "t", "text":
			within = false
		case "rPh":
			aloud--
		case "comment", "threadedComment":
			if line := cellText(strings.TrimSpace(text.String())); line != "" && !strings.HasPrefix(line, forOlder) {
				return w.write(oneLine(cell) + ": " + line + "\n")
			}
		}
		return nil
	}, func(s string) error {
		if within && aloud == 0 {
			text.WriteString(s)
		}
		return nil
	})
}
