package main

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"ringi/shared/runtime/isolated"
)

// Limits of an office file, by the sizes in its archive's directory: Go's reader gives no part more than it says.
const (
	maxParts    = 10_000
	maxUnpacked = 50 << 20 // bytes of all parts
	maxPart     = 4 << 20  // bytes of a part that excelize keeps whole
	maxStyles   = 2 << 20  // of which it makes about a hundred times as much
	maxTexts    = 500_000  // texts that cells share, of which it makes about a hundred bytes each
	maxDepth    = 128      // elements within each other
)

// pack is an office file: a zip archive of parts in XML.
type pack struct {
	parts map[string]*zip.File // by their names in small letters
	until time.Time
}

// openPack lists the parts of an archive. It returns errEncrypted if one is encrypted, errBroken if two have the same
// name, since programs disagree about which counts, and errTooComplex if they are too many or too large.
func openPack(file []byte, until time.Time) (*pack, error) {
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	switch {
	case err != nil:
		return nil, errBroken
	case len(z.File) > maxParts:
		return nil, errTooComplex
	}
	p, unpacked := &pack{parts: map[string]*zip.File{}, until: until}, uint64(0)
	for _, f := range z.File {
		name := strings.ToLower(strings.TrimPrefix(strings.ReplaceAll(f.Name, `\`, "/"), "/"))
		unpacked += f.UncompressedSize64
		switch {
		case p.parts[name] != nil:
			return nil, errBroken
		case f.Flags&1 != 0:
			return nil, errEncrypted
		case f.UncompressedSize64 > maxUnpacked, unpacked > maxUnpacked:
			return nil, errTooComplex
		}
		p.parts[name] = f
	}
	return p, nil
}

// remarks says what the archive has beside the text.
func (p *pack) remarks(w *writer) {
	for _, name := range p.names() {
		if path.Base(name) == "vbaproject.bin" {
			w.remark(isolated.HasMacros)
		}
		for _, folder := range []string{"/media/", "/charts/", "/embeddings/", "/diagrams/"} {
			if strings.Contains(name, folder) {
				w.remark(isolated.HasPictures)
			}
		}
	}
}

func (p *pack) names() []string { return slices.Sorted(maps.Keys(p.parts)) }

// read writes the file's text. What it is follows from its main part, which all programs call alike.
func (p *pack) read(file []byte, w *writer) (isolated.FileForm, error) {
	switch {
	case p.parts["xl/workbook.xml"] != nil:
		return isolated.Sheets, p.workbook(file, w)
	case p.parts["word/document.xml"] != nil:
		return isolated.Document, p.document(w)
	case p.parts["ppt/presentation.xml"] != nil:
		return isolated.Slides, p.presentation(w)
	}
	return "", errOther
}

// each goes through a part's elements and texts. A part that is missing has none. The first error of a function ends
// it. Declarations of types, which could declare entities, are refused.
func (p *pack) each(name string, begin func(xml.StartElement) error, end func(name string) error,
	text func(string) error) error {
	f := p.parts[strings.ToLower(name)]
	if f == nil {
		return nil
	}
	r, err := f.Open()
	if err != nil {
		return errBroken
	}
	defer r.Close()
	d, depth, found := xml.NewDecoder(timed{r, p.until}), 0, false
	for {
		token, err := d.Token()
		switch {
		case errors.Is(err, io.EOF) && found:
			return nil
		case errors.Is(err, errTooComplex):
			return errTooComplex
		case err != nil:
			return errBroken
		}
		switch t := token.(type) {
		case xml.Directive:
			return errBroken
		case xml.StartElement:
			if depth++; depth > maxDepth {
				return errTooComplex
			}
			found, err = true, begin(t)
		case xml.EndElement:
			depth--
			if end != nil {
				err = end(t.Name.Local)
			}
		case xml.CharData:
			if text != nil {
				err = text(string(t))
			}
		}
		if err != nil {
			return err
		}
	}
}

// timed reads until its time is over.
type timed struct {
	io.Reader
	until time.Time
}

func (t timed) Read(b []byte) (int, error) {
	if time.Now().After(t.until) {
		return 0, errTooComplex
	}
	return t.Reader.Read(b)
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// relation is what one part says of another.
type relation struct{ id, kind, target string }

// relations returns those of a part to other parts.
func (p *pack) relations(part string) (all []relation, err error) {
	err = p.each(path.Join(path.Dir(part), "_rels", path.Base(part)+".rels"), func(e xml.StartElement) error {
		is := relation{attribute(e, "Id"), path.Base(attribute(e, "Type")), attribute(e, "Target")}
		if rest, absolute := strings.CutPrefix(is.target, "/"); absolute {
			is.target = rest
		} else {
			is.target = path.Join(path.Dir(part), is.target)
		}
		if e.Name.Local == "Relationship" && attribute(e, "TargetMode") != "External" {
			all = append(all, is)
		}
		return nil
	}, nil, nil)
	return all, err
}

// listed returns the parts that a main part lists in elements of a name, in its order.
func (p *pack) listed(main, element string) (all []part, err error) {
	relations, err := p.relations(main)
	if err != nil {
		return nil, err
	}
	err = p.each(main, func(e xml.StartElement) error {
		if e.Name.Local != element {
			return nil
		}
		x := part{name: attribute(e, "name"), hidden: strings.Contains(strings.ToLower(attribute(e, "state")), "hidden")}
		for _, a := range e.Attr {
			if i := slices.IndexFunc(relations, func(r relation) bool { return r.id == a.Value }); i >= 0 &&
				a.Name.Local == "id" && a.Name.Space != "" {
				x.path = relations[i].target
			}
		}
		all = append(all, x)
		return nil
	}, nil, nil)
	return all, err
}

// part is a sheet or a slide.
type part struct {
	name, path string
	hidden     bool
}
