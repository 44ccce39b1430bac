package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/text/encoding/htmlindex"
	utf16 "golang.org/x/text/encoding/unicode"

	"ringi/shared/runtime/isolated"
)

// Limits of an office file. Its parts are unpacked one after the other and never kept.
const (
	maxParts    = 10_000
	maxUnpacked = 64 << 20 // bytes of all parts that are read
	maxToken    = 8 << 20  // bytes of one text, or of one element with its attributes
	maxDepth    = 128      // elements within each other
)

// pack is an office file: a zip archive of parts in XML, found by their relations to each other.
type pack struct {
	parts    map[string]*zip.File
	unpacked int64
	until    time.Time
	by       map[string]string // who may comment, by id
}

// openPack lists the parts of an archive. It returns errEncrypted if one is encrypted, and errBroken if two have the
// same name, since programs disagree about which counts.
func openPack(file []byte, until time.Time) (*pack, error) {
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	switch {
	case err != nil:
		return nil, errBroken
	case len(z.File) > maxParts:
		return nil, errTooComplex
	}
	p := &pack{parts: map[string]*zip.File{}, until: until}
	for _, f := range z.File {
		name := strings.ToLower(strings.TrimPrefix(strings.ReplaceAll(f.Name, `\`, "/"), "/"))
		if p.parts[name] != nil {
			return nil, errBroken
		}
		if f.Flags&1 != 0 {
			return nil, errEncrypted
		}
		p.parts[name] = f
	}
	return p, nil
}

func (p *pack) macros() bool {
	for name := range p.parts {
		if path.Base(name) == "vbaproject.bin" {
			return true
		}
	}
	return false
}

// Kinds of relations, by the end of their address. Strict files have other beginnings.
const (
	ofMain    = "/officeDocument"
	ofStrings = "/sharedStrings"
	ofStyles  = "/styles"
	ofNotes   = "/notesSlide"
)

// relation is what one part says of another, or of an address outside of the file.
type relation struct {
	id, kind, target string
	outside          bool
}

// relations returns those of a part; the empty name stands for the whole file. Of what is outside of the file the
// addresses of links alone are returned, which are shown: nothing there is read.
func (p *pack) relations(part string) (all []relation, err error) {
	name := path.Join(path.Dir(part), "_rels", path.Base(part)+".rels")
	if part == "" {
		name = "_rels/.rels"
	}
	if p.parts[strings.ToLower(name)] == nil {
		return nil, nil
	}
	err = p.each(name, func(e xml.StartElement) error {
		is := relation{id: attribute(e, "Id"), kind: attribute(e, "Type"), target: attribute(e, "Target"),
			outside: attribute(e, "TargetMode") == "External"}
		switch rest, absolute := strings.CutPrefix(is.target, "/"); {
		case e.Name.Local != "Relationship", is.outside && !strings.HasSuffix(is.kind, "/hyperlink"):
			return nil
		case is.outside:
		case absolute:
			is.target = rest
		default:
			is.target = path.Join(path.Dir(part), is.target)
		}
		all = append(all, is)
		return nil
	}, nil, nil)
	return all, err
}

// related returns the first part that stands in a relation to another, or "".
func related(all []relation, kind string) string {
	return targetOf(all, func(r relation) bool { return strings.HasSuffix(r.kind, kind) })
}

// byID returns the target of a relation, or "".
func byID(all []relation, id string) string {
	return targetOf(all, func(r relation) bool { return r.id == id })
}

func targetOf(all []relation, is func(relation) bool) string {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i].target
	}
	return ""
}

// read writes the text of the file's main part, whose root element says what it is.
func (p *pack) read(w *writer) (isolated.FileForm, error) {
	top, err := p.relations("")
	if err != nil {
		return "", err
	}
	main := related(top, ofMain)
	if main == "" || p.parts[strings.ToLower(main)] == nil {
		return "", errOther
	}
	if path.Ext(main) == ".bin" { // a binary workbook
		return "", errOther
	}
	root, err := p.root(main)
	if err != nil {
		return "", err
	}
	if p.by, err = p.people(main); err != nil {
		return "", err
	}
	switch root.Name.Local {
	case "workbook":
		return isolated.Sheets, p.workbook(main, w)
	case "document":
		return isolated.Document, p.document(main, w)
	case "presentation":
		return isolated.Slides, p.presentation(main, w)
	}
	return "", errOther
}

// root returns a part's outermost element. It returns errBroken if there is none.
func (p *pack) root(name string) (root xml.StartElement, err error) {
	found := errors.New("found")
	err = p.each(name, func(e xml.StartElement) error { root = e.Copy(); return found }, nil, nil)
	switch {
	case err == nil:
		return root, errBroken
	case err != found:
		return root, err
	}
	return root, nil
}

// each goes through a part's elements but for those of extensions, so that whoever reads them compares local names.
// Each of the three functions may be nil; the first error ends it. A part that is missing has no elements. Declarations
// of types, which could declare entities, are refused.
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
	in := &bounded{r: r, p: p}
	d := decoder(in)
	for out := (extensions{}); ; {
		in.since = 0
		token, err := d.Token()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errTooComplex):
			return errTooComplex
		case err != nil:
			return errBroken
		}
		err = nil
		switch t := token.(type) {
		case xml.StartElement:
			if out.begin(t) && begin != nil {
				err = begin(t)
			}
			if out.depth > maxDepth {
				return errTooComplex
			}
		case xml.EndElement:
			if out.end(t.Name.Local) && end != nil {
				err = end(t.Name.Local)
			}
		case xml.CharData:
			if text != nil && out.left == 0 {
				err = text(string(t))
			}
		case xml.Directive:
			err = errBroken
		}
		if err != nil {
			return err
		}
	}
}

// decoder reads XML in UTF-8 or UTF-16, as parts may be, or in the encoding that its first line names.
func decoder(in io.Reader) *xml.Decoder {
	r := bufio.NewReader(in)
	begin, _ := r.Peek(2)
	wide := string(begin) == "\xff\xfe" || string(begin) == "\xfe\xff"
	if wide {
		r = bufio.NewReader(utf16.UTF16(utf16.LittleEndian, utf16.ExpectBOM).NewDecoder().Reader(r))
	}
	d := xml.NewDecoder(r)
	d.CharsetReader = func(name string, in io.Reader) (io.Reader, error) {
		switch name = strings.ToLower(name); {
		case wide || name == "utf8" || name == "us-ascii" || name == "ascii":
			return in, nil
		case strings.HasPrefix(name, "utf-16"):
			return nil, errBroken
		}
		e, err := htmlindex.Get(name)
		if err != nil {
			return nil, errBroken
		}
		return e.NewDecoder().Reader(in), nil
	}
	return d
}

// bounded reads a part within the file's limits.
type bounded struct {
	r     io.Reader
	p     *pack
	since int // bytes read since the last token
}

func (b *bounded) Read(to []byte) (int, error) {
	if b.p.unpacked >= maxUnpacked || b.since >= maxToken || time.Now().After(b.p.until) {
		return 0, errTooComplex
	}
	n, err := b.r.Read(to)
	b.p.unpacked += int64(n)
	b.since += n
	return n, err
}

// attribute returns an attribute without a name space, or "".
func attribute(e xml.StartElement, name string) string {
	return valueOf(e, func(n xml.Name) bool { return n.Local == name && n.Space == "" })
}

// valued returns an attribute in any name space, or "".
func valued(e xml.StartElement, name string) string {
	return valueOf(e, func(n xml.Name) bool { return n.Local == name })
}

// relationID returns the id by which an element names a relation.
func relationID(e xml.StartElement) string {
	return valueOf(e, func(n xml.Name) bool { return n.Local == "id" && strings.HasSuffix(n.Space, "/relationships") })
}

func valueOf(e xml.StartElement, is func(xml.Name) bool) string {
	if i := slices.IndexFunc(e.Attr, func(a xml.Attr) bool { return is(a.Name) }); i >= 0 {
		return e.Attr[i].Value
	}
	return ""
}

// Name spaces whose elements are read wherever they stand: those of the standard, without what its two versions have
// before and between, and those of older shapes and of what was added later. Programs know more of what an alternative
// may require; none of those has a text that is read.
var (
	standardSpaces = strings.Fields(`wordprocessingml/main presentationml/main spreadsheetml/main drawingml/main
		drawingml/picture drawingml/chart drawingml/chartDrawing drawingml/diagram drawingml/lockedCanvas
		drawingml/wordprocessingDrawing drawingml/spreadsheetDrawing officeDocument/math markup-compatibility`)
	laterSpaces = strings.Fields(`word/2006/wordml word/2010/wordml word/2010/wordprocessingShape
		word/2010/wordprocessingGroup word/2010/wordprocessingCanvas word/2010/wordprocessingInk drawing/2010/main
		drawing/2014/chartex drawing/2017/model3d`)
	olderSpaces    = strings.Fields("vml office:office office:word office:excel office:powerpoint")
	requiredSpaces = strings.Fields(`powerpoint/2010/main spreadsheetml/2009/9/main word/2010/wordprocessingDrawing
		drawing/2010/slicer drawing/2012/slicer drawing/2012/timeslicer drawing/2015/9/8/chartex drawing/2015/10/21/chartex
		drawing/2016/5/9/chartex drawing/2016/5/10/chartex drawing/2016/5/11/chartex drawing/2016/5/12/chartex
		drawing/2016/5/13/chartex drawing/2016/5/14/chartex drawing/2016/ink`)
)

const microsoft = "http://schemas.microsoft.com/office/"

func isRead(space string) bool {
	if later, ok := strings.CutPrefix(space, microsoft); ok {
		return slices.Contains(laterSpaces, later)
	}
	if older, ok := strings.CutPrefix(space, "urn:schemas-microsoft-com:"); ok {
		return slices.Contains(olderSpaces, older)
	}
	strict, ok := strings.CutPrefix(space, "http://purl.oclc.org/ooxml/")
	if !ok {
		strict, ok = strings.CutPrefix(space, "http://schemas.openxmlformats.org/")
		strict = strings.Replace(strict, "/2006", "", 1)
	}
	return ok && slices.Contains(standardSpaces, strict)
}

// extensions tell which elements of a part are left out. Those of an extension may have the names of others that say
// something else: PowerPoint lists slides by their sections again. Of alternatives the first counts whose needs are
// known and that has anything to read.
type extensions struct {
	own      string // the name space of the part's root
	depth    int
	left     int    // the depth of the element that is left out with all within it; 0: none
	taken    []bool // of the alternatives around: whether there was anything to read
	declared []declared
}

// declared is a name space that an element declares by a prefix.
type declared struct {
	depth         int
	prefix, space string
}

func (x *extensions) begin(e xml.StartElement) (read bool) {
	name := e.Name
	if x.depth++; x.depth == 1 {
		x.own = name.Space
	}
	for _, a := range e.Attr {
		if a.Name.Space == "xmlns" {
			x.declared = append(x.declared, declared{x.depth, a.Name.Local, a.Value})
		}
	}
	last := len(x.taken) - 1
	switch {
	case x.left > 0:
	case name.Space != x.own && !isRead(name.Space), name.Local == "extLst",
		name.Local == "Choice" && !x.knows(attribute(e, "Requires")),
		(name.Local == "Choice" || name.Local == "Fallback") && last >= 0 && x.taken[last]:
		x.left = x.depth
	case name.Local == "AlternateContent":
		x.taken = append(x.taken, false)
	case name.Local != "Choice" && last >= 0:
		x.taken[last] = true
	}
	return x.left == 0
}

// knows reports whether programs know all that an alternative requires, by prefixes.
func (x *extensions) knows(required string) bool {
	for prefix := range strings.FieldsSeq(required) {
		space := ""
		for _, d := range slices.Backward(x.declared) {
			if d.prefix == prefix {
				space = d.space
				break
			}
		}
		later, is := strings.CutPrefix(space, microsoft)
		if !isRead(space) && !(is && slices.Contains(requiredSpaces, later)) {
			return false
		}
	}
	return true
}

func (x *extensions) end(name string) (read bool) {
	read = x.left == 0
	if name == "AlternateContent" && read {
		x.taken = x.taken[:max(0, len(x.taken)-1)]
	}
	if x.depth--; x.depth < x.left {
		x.left = 0
	}
	for n := len(x.declared); n > 0 && x.declared[n-1].depth > x.depth; n-- {
		x.declared = x.declared[:n-1]
	}
	return read
}
