package main

import (
	"bytes"
	"encoding/xml"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// look is how the text of a run looks, as far as it changes what the text says.
type look struct {
	struck bool
	hidden bool
	raised string // ^ for a superscript, _ for a subscript
	font   string // of letters, which may be one of pictures
	signs  string // the font of characters that only such fonts have, if it is another
}

// take notes what an element of a run's properties says of its look.
func (l *look) take(e xml.StartElement) {
	switch e.Name.Local {
	case "strike", "dstrike":
		l.struck = isOn(e)
	case "sym":
		l.signs = attribute(e, "typeface")
	case "rFonts", "rFont", "name", "latin":
		for _, attribute := range []string{"val", "ascii", "hAnsi", "typeface"} {
			if name := valued(e, attribute); name != "" {
				l.font = name
				break
			}
		}
	case "vertAlign":
		l.raised = map[string]string{"superscript": "^", "subscript": "_"}[valued(e, "val")]
	case "sz": // of a sheet
		l.hidden = tiny(valued(e, "val"), 1)
	case "rPr", "defRPr": // of a slide
		if size := attribute(e, "sz"); size != "" {
			l.hidden = tiny(size, 100)
		}
		if s := attribute(e, "strike"); s != "" {
			l.struck = s != "noStrike"
		}
		switch b := attribute(e, "baseline"); {
		case strings.HasPrefix(b, "-"):
			l.raised = "_"
		case strings.Trim(b, "0%") != "":
			l.raised = "^"
		}
	}
}

// tiny reports whether a size of letters is one that nobody can read: 2 points at most.
func tiny(size string, point float64) bool {
	n, err := strconv.ParseFloat(size, 64)
	return err == nil && n <= 2*point
}

// isOn reports whether a property is on: with no value it is.
func isOn(e xml.StartElement) bool {
	v := valued(e, "val")
	return v == "" || isTrue(v) || v == "on"
}

// struckMark stands before and after what is struck out. What people don't see stands between hiddenBegins and
// hiddenEnds.
const (
	struckMark   = "~~"
	hiddenBegins = "[invisible: "
	hiddenEnds   = "]"
)

// withoutBrackets takes out what would end what is hidden.
var withoutBrackets = strings.NewReplacer("[", "［", "]", "］")

// marked is a text in which marks say what is struck out, raised or lowered.
type marked struct {
	text   []byte
	now    look
	since  int // where the raised or lowered part begins
	struck bool
}

// add adds a text that looks so.
func (m *marked) add(s string, as look) {
	if s = as.pictured(s); s == "" {
		return
	}
	if m.now.raised != as.raised {
		m.settle(s)
		if m.now.raised = as.raised; as.raised != "" && len(m.text) > 0 {
			m.mark(look{hidden: m.now.hidden})
			m.text = append(m.text, as.raised...)
		}
		m.since = len(m.text)
	}
	if strings.TrimSpace(s) != "" {
		m.mark(as)
	}
	if m.now.hidden {
		s = withoutBrackets.Replace(s)
	}
	if m.now.struck {
		m.struck = true
		s = strings.ReplaceAll(s, "~", "∼") // nothing within ends the mark
	}
	m.text = append(m.text, s...)
}

// before puts a text before all others.
func (m *marked) before(s string) {
	m.text = append([]byte(s), m.text...)
	m.since += len(s)
}

func (m *marked) mark(as look) {
	if m.now.struck && (!as.struck || as.hidden != m.now.hidden) {
		m.text, m.now.struck = append(m.text, struckMark...), false
	}
	if as.hidden != m.now.hidden {
		sign := hiddenEnds
		if m.now.hidden = as.hidden; as.hidden {
			sign = hiddenBegins
		}
		m.text = append(m.text, sign...)
	}
	if as.struck && !m.now.struck {
		m.text, m.now.struck = append(m.text, struckMark...), true
	}
}

// settle ends a raised or lowered part, which gets brackets where next would seem to belong to it.
func (m *marked) settle(next string) {
	if r, _ := utf8.DecodeRuneInString(next); m.now.raised != "" && (inWord(r) || !simple(m.text[m.since:])) {
		m.bracket(m.since, "(", ")")
	}
}

// bracket puts brackets around the text from a place on.
func (m *marked) bracket(from int, left, right string) {
	part := string(m.text[from:])
	m.text = append(append(append(m.text[:from], left...), part...), right...)
}

func inWord(r rune) bool { return r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// simple reports whether a part of a formula needs no brackets.
func simple(part []byte) bool {
	return !strings.ContainsFunc(string(part), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '.' && r != ','
	})
}

// done returns the text, and begins another.
func (m *marked) done() (text string, struck bool) {
	m.settle("")
	m.mark(look{})
	text, struck = string(m.text), m.struck
	*m = marked{text: m.text[:0]}
	return text, struck
}

// formula is an element of a formula: where its text begins, and what ends it.
type formula struct {
	name, end string
	at        int
}

// formulas are those around a text.
type formulas []formula

func (f formulas) around() string {
	if len(f) == 0 {
		return ""
	}
	return f[len(f)-1].name
}

// begin takes an element of a formula, which is written on a line: a/b, a^b, a_b, [n]√(a).
func (f *formulas) begin(e xml.StartElement, m *marked) {
	x := formula{name: e.Name.Local}
	switch x.name {
	case "sup":
		m.text = append(m.text, '^')
	case "sub", "lim":
		m.text = append(m.text, '_')
	case "d":
		m.text, x.end = append(m.text, '('), ")"
	case "begChr", "endChr":
		f.delimiter(x.name, valued(e, "val"), m)
	}
	x.at = len(m.text)
	*f = append(*f, x)
}

// delimiter takes the sign that stands in place of a bracket.
func (f *formulas) delimiter(name, sign string, m *marked) {
	for i := range *f {
		switch d := &(*f)[i]; {
		case d.name != "d" || i != len(*f)-2 || f.around() != "dPr":
		case name == "endChr":
			d.end = sign
		default:
			m.text = append(m.text[:d.at-1], sign...)
			d.at = len(m.text) + 1
		}
	}
}

// end ends an element of a formula, if it is one.
func (f *formulas) end(name string, m *marked) {
	if f.around() != name {
		return
	}
	x := (*f)[len(*f)-1]
	*f = (*f)[:len(*f)-1]
	empty := len(m.text) <= x.at
	switch name {
	case "num", "den", "sup", "sub", "lim":
		switch part := m.text[min(x.at, len(m.text)):]; {
		case empty && name != "num" && name != "den":
			m.text = m.text[:x.at-1]
		case !simple(part):
			m.bracket(x.at, "(", ")")
		}
		if name == "num" {
			m.text = append(m.text, '/')
		}
	case "deg":
		if !empty {
			m.bracket(x.at, "[", "]")
		}
		m.text = append(m.text, "√("...)
	case "rad":
		m.text = append(m.text, ')')
	case "d", "eqArr", "m", "mr":
		m.text = append(bytes.TrimRight(m.text, ";"), x.end...)
		if name == "mr" {
			m.text = append(m.text, ';')
		}
	case "e":
		if slices.Contains([]string{"d", "eqArr", "mr"}, f.around()) {
			m.text = append(m.text, ';')
		}
	}
}
