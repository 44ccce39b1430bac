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
	return p.texts(part, []string{"comment", "threadedComment"}, []string{"t", "text"},
		func(e xml.StartElement, text string) error {
			line := cellText(strings.TrimSpace(text))
			if line == "" || strings.HasPrefix(line, forOlder) {
				return nil
			}
			return w.write(oneLine(attribute(e, "ref")) + ": " + line + "\n")
		})
}
