package main

import (
	"encoding/xml"
	"slices"
	"strings"
)

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
