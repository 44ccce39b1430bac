package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/xml"
	"io"
	"iter"
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

// pack is an office file: a zip archive of parts in XML, whose text is written while they are read. Once the text is
// full, or something is wrong, nothing more is read.
type pack struct {
	writer
	parts map[string]*zip.File // by their names in small letters
	until time.Time
	why   isolated.Unreadable // the first that is wrong
}

func (p *pack) fail(why isolated.Unreadable) { p.why = cmp.Or(p.why, why) }

// ends reports whether nothing more is read. One that takes too long fails.
func (p *pack) ends() bool {
	if time.Now().After(p.until) {
		p.fail(isolated.TooComplex)
	}
	return p.full || p.why != ""
}

// office returns the text of an office file. What it is follows from its main part, which all programs call alike.
func office(file []byte, until time.Time) (out isolated.FileText) {
	p := &pack{parts: map[string]*zip.File{}, until: until}
	p.open(file)
	switch {
	case p.parts["xl/workbook.xml"] != nil:
		out.Form = isolated.Sheets
		p.workbook(file)
	case p.parts["word/document.xml"] != nil:
		out.Form = isolated.Document
		p.document()
	case p.parts["ppt/presentation.xml"] != nil:
		out.Form = isolated.Slides
		p.presentation()
	default:
		p.fail(isolated.OtherType)
	}
	if p.why != "" {
		return isolated.FileText{Why: p.why}
	}
	for _, name := range p.names() {
		if path.Base(name) == "vbaproject.bin" {
			p.remark(isolated.HasMacros)
		}
		switch path.Base(path.Dir(name)) {
		case "media", "charts", "embeddings", "diagrams":
			p.remark(isolated.HasPictures)
		}
	}
	out.Text, out.Remarks = p.done(), p.remarks
	return out
}

// open lists the parts of an archive. It fails if one is encrypted, if two have the same name, since programs disagree
// about which counts, and if they are too many or too large.
func (p *pack) open(file []byte) {
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		p.fail(isolated.Broken)
		return
	}
	unpacked := uint64(0)
	for _, f := range z.File {
		name := strings.ToLower(strings.TrimPrefix(strings.ReplaceAll(f.Name, `\`, "/"), "/"))
		unpacked += f.UncompressedSize64
		switch {
		case p.parts[name] != nil:
			p.fail(isolated.Broken)
		case f.Flags&1 != 0:
			p.fail(isolated.Encrypted)
		case len(z.File) > maxParts, f.UncompressedSize64 > maxUnpacked, unpacked > maxUnpacked:
			p.fail(isolated.TooComplex)
		}
		p.parts[name] = f
	}
}

func (p *pack) names() []string { return slices.Sorted(maps.Keys(p.parts)) }

// tokens goes through a part's elements and texts. A part that is missing has none. Declarations of types, which could
// declare entities, fail.
func (p *pack) tokens(name string) iter.Seq[xml.Token] {
	return func(yield func(xml.Token) bool) {
		f := p.parts[strings.ToLower(name)]
		if f == nil || p.ends() {
			return
		}
		r, err := f.Open()
		if err != nil {
			p.fail(isolated.Broken)
			return
		}
		defer r.Close()
		d, depth, found := xml.NewDecoder(r), 0, false
		for {
			token, err := d.Token()
			switch token.(type) {
			case xml.StartElement:
				depth, found = depth+1, true
			case xml.EndElement:
				depth--
			case xml.Directive:
				p.fail(isolated.Broken)
			case nil:
				if err != io.EOF || !found {
					p.fail(isolated.Broken)
				}
				return
			}
			if depth > maxDepth {
				p.fail(isolated.TooComplex)
			}
			if p.ends() || !yield(token) {
				return
			}
		}
	}
}

// elements goes through a part's elements of a name.
func (p *pack) elements(part, name string) iter.Seq[xml.StartElement] {
	return func(yield func(xml.StartElement) bool) {
		for t := range p.tokens(part) {
			if e, begins := t.(xml.StartElement); begins && e.Name.Local == name && !yield(e) {
				return
			}
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// isOn tells what an attribute says that need not be there to say yes.
func isOn(value string) bool { return !slices.Contains([]string{"0", "false", "off"}, value) }

// relation is what one part says of another.
type relation struct{ id, kind, target string }

// relations returns those of a part to other parts.
func (p *pack) relations(part string) (all []relation) {
	folder, file := path.Split(part)
	for e := range p.elements(folder+"_rels/"+file+".rels", "Relationship") {
		target, absolute := strings.CutPrefix(attribute(e, "Target"), "/")
		if !absolute {
			target = path.Join(folder, target)
		}
		all = append(all, relation{attribute(e, "Id"), path.Base(attribute(e, "Type")), target})
	}
	return all
}

// part is a sheet or a slide.
type part struct {
	name, path string
	hidden     bool
}

// listed returns the parts that a main part lists in elements of a name, in its order.
func (p *pack) listed(main, element string) (all []part) {
	relations := p.relations(main)
	for e := range p.elements(main, element) {
		x := part{name: attribute(e, "name"), hidden: strings.Contains(strings.ToLower(attribute(e, "state")), "hidden")}
		for _, r := range relations {
			if slices.ContainsFunc(e.Attr, func(a xml.Attr) bool {
				return a.Name.Local == "id" && a.Name.Space != "" && a.Value == r.id
			}) {
				x.path = r.target
			}
		}
		all = append(all, x)
	}
	return all
}
