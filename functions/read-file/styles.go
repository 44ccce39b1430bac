package main

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ringi/shared/runtime/isolated"
)

// styles are a document's styles by their ids, and its lists.
type styles struct {
	by       map[string]*style
	standard string // of paragraphs that name none
	lists    lists
}

// style is what a style says itself; what it leaves out, the one says that it is based on.
type style struct {
	basedOn    string
	set        map[string]bool // strike, dstrike, vanish, tiny: on or off
	color      string          // of its letters; "" is not said
	ground     string          // of its shading
	marker     string          // of its highlighter
	num, level string
}

// mostBased is how many styles are based on each other.
const mostBased = 20

// looks reads the parts beside a document that say how it looks.
func (p *pack) looks(relations []relation) (*styles, error) {
	s := &styles{by: map[string]*style{}}
	var now *style
	err := p.each(related(relations, ofStyles), func(e xml.StartElement) error {
		switch name := e.Name.Local; {
		case name == "style":
			id := valued(e, "styleId")
			now = &style{set: map[string]bool{}}
			s.by[id] = now
			if isTrue(valued(e, "default")) && valued(e, "type") == "paragraph" {
				s.standard = id
			}
		case now == nil:
		case name == "basedOn":
			now.basedOn = valued(e, "val")
		case name == "numId":
			now.num = valued(e, "val")
		case name == "ilvl":
			now.level = valued(e, "val")
		default:
			now.take(e)
		}
		return nil
	}, func(name string) error {
		if name == "style" {
			now = nil
		}
		return nil
	}, nil)
	if err != nil {
		return nil, err
	}
	return s, p.lists(related(relations, ofLists), &s.lists)
}

// take notes an element of a run's properties.
func (s *style) take(e xml.StartElement) {
	switch e.Name.Local {
	case "strike", "dstrike", "vanish":
		s.set[e.Name.Local] = isOn(e)
	case "sz":
		s.set["tiny"] = tiny(valued(e, "val"), 2)
	case "rPr": // of a shape
		if strike := attribute(e, "strike"); strike != "" {
			s.set["strike"] = strike != "noStrike"
		}
	case "color":
		s.color = cmp.Or(colorInWord(e, "val", "theme"), automatic)
	case "highlight":
		s.marker = highlights[valued(e, "val")]
	case "shd":
		s.ground = groundOf(e)
	}
}

// reds are the colors that Word calls red and dark red, and its newest theme has for red.
var reds = []string{"FF0000", "C00000", "EE0000"}

// automatic is the color that is black, or white on a dark shading.
const automatic = "auto"

// colorInWord returns a color of Word, or of a shading by the beginning of its attributes' names. That of its theme
// counts, if it names one.
func colorInWord(e xml.StartElement, attribute, theme string) string {
	name := valued(e, theme+"Color")
	if theme == "themeFill" {
		name = valued(e, theme)
	}
	part := func(of string) int {
		n, err := strconv.ParseUint(valued(e, theme+of), 16, 8)
		if err != nil {
			return 255
		}
		return int(n)
	}
	switch gray := func(n int) string { return strings.Repeat(fmt.Sprintf("%02X", n), 3) }; name {
	case "":
		return strings.ToUpper(strings.Replace(valued(e, attribute), automatic, "", 1))
	case "background1", "light1":
		return gray(part("Shade"))
	case "text1", "dark1":
		return gray(255 - part("Tint"))
	}
	return fmt.Sprint("theme ", name, part("Shade"), part("Tint"))
}

// groundOf returns the color of a shading, or "" where there is none.
func groundOf(shading xml.StartElement) string {
	switch pattern := valued(shading, "val"); pattern {
	case "", "clear":
		return colorInWord(shading, "fill", "themeFill")
	case "nil":
		return ""
	case "solid":
		return cmp.Or(colorInWord(shading, "color", "theme"), black)
	}
	return mixed
}

// highlights are the colors of highlighters.
var highlights = map[string]string{"black": black, "white": white, "red": "FF0000", "green": "00FF00", "blue": "0000FF",
	"yellow": "FFFF00", "cyan": "00FFFF", "magenta": "FF00FF", "darkRed": "800000", "darkGreen": "008000",
	"darkBlue": "000080", "darkYellow": "808000", "darkCyan": "008080", "darkMagenta": "800080", "darkGray": "808080",
	"lightGray": "C0C0C0"}

// whole returns what a style says with all that it is based on.
func (s *styles) whole(id string) style {
	out := style{set: map[string]bool{}}
	for range mostBased {
		is := s.by[id]
		if is == nil {
			break
		}
		for name, on := range is.set {
			if _, said := out.set[name]; !said {
				out.set[name] = on
			}
		}
		out.color, out.ground = cmp.Or(out.color, is.color), cmp.Or(out.ground, is.ground)
		out.marker = cmp.Or(out.marker, is.marker)
		if out.num == "" {
			out.num, out.level = is.num, is.level
		}
		id = is.basedOn
	}
	return out
}

// within returns how a run of this style looks in a paragraph that looks so. What both styles strike out is not, in
// Word.
func (s style) within(p style) style {
	out := style{set: map[string]bool{}, color: cmp.Or(s.color, p.color), ground: cmp.Or(s.ground, p.ground),
		marker: cmp.Or(s.marker, p.marker)}
	for _, name := range []string{"strike", "vanish"} {
		out.set[name] = p.set[name] != s.set[name]
	}
	out.set["dstrike"] = p.set["dstrike"] || s.set["dstrike"]
	on, said := s.set["tiny"]
	if out.set["tiny"] = on; !said {
		out.set["tiny"] = p.set["tiny"]
	}
	return out
}

// paragraph is one that is read.
type paragraph struct {
	style  string
	looks  style
	num    string
	level  string
	ground string
	joined bool // its end is deleted, so that the next one goes on with it
	indent int  // its level on a slide
}

func (x *prose) paragraph() paragraph {
	if n := len(x.in); n > 0 {
		return x.in[n-1]
	}
	return paragraph{looks: style{}}
}

// styled returns a paragraph of a style; empty: of the one of paragraphs that name none.
func (x *prose) styled(id string) paragraph {
	if x.styles == nil {
		return paragraph{}
	}
	id = cmp.Or(id, x.styles.standard)
	whole := x.styles.whole(id)
	return paragraph{style: id, looks: whole, num: whole.num, level: whole.level, ground: whole.ground}
}

// property takes a property of a paragraph.
func (x *prose) property(e xml.StartElement) {
	n := len(x.in)
	if n == 0 || x.props == 0 || x.styles == nil {
		return
	}
	p := &x.in[n-1]
	switch e.Name.Local {
	case "pStyle":
		*p = x.styled(valued(e, "val"))
	case "numId":
		p.num = valued(e, "val")
	case "ilvl":
		p.level = valued(e, "val")
	case "shd":
		p.ground = cmp.Or(groundOf(e), p.ground)
	}
}

// deletes takes an element that says that the end of a paragraph, or a row, is deleted.
func (x *prose) deletes(name string) {
	switch rows, paragraphs := len(x.rows), len(x.in); {
	case name != "del" && name != "moveFrom" || x.props == 0:
	case x.rowProps && rows > 0:
		x.rows[rows-1].deleted = true
	case !x.rowProps && paragraphs > 0:
		x.in[paragraphs-1].joined = true
	}
}

// number writes the number or the bullet before a paragraph. Those whose ends are deleted are one with the next, which
// has the number.
func (x *prose) number() {
	p := x.paragraph()
	if x.styles == nil || p.num == "" || p.num == "0" || p.joined {
		return
	}
	label, ok := x.styles.lists.label(p.num, p.level, p.style)
	if !ok {
		x.w.remark(isolated.HasNumbers)
	}
	x.line.before(label)
}

// seen returns how a run of a document looks. What is behind a table, a text box or a page isn't known, where nothing
// says it.
func (x *prose) seen(run style) look {
	ground := cmp.Or(run.marker, run.ground, x.paragraph().ground)
	if ground == "" && len(x.rows) == 0 && !x.paper {
		ground = white
	}
	color := cmp.Or(run.color, automatic)
	if color == automatic && run.marker != "" { // people black out by highlighters
		color = black
	}
	return look{struck: run.set["strike"] || run.set["dstrike"],
		hidden: run.set["vanish"] || run.set["tiny"] || color != automatic && near(color, ground)}
}

// marks says of colors by which people mark words: highlighters, as a shading too, and red letters.
func (x *prose) marks(e xml.StartElement) {
	color := ""
	switch e.Name.Local {
	case "highlight":
		if color = highlights[valued(e, "val")]; valued(e, "val") == "" {
			color = mixed // of a slide
		}
	case "shd":
		color = groundOf(e)
	case "color":
		if color = colorInWord(e, "val", "theme"); !slices.Contains(reds, color) {
			return
		}
	}
	if color != "" && !near(color, white) && !near(color, black) {
		x.w.remark(isolated.HasColors)
	}
}

// look takes what an element says of a run's look.
func (x *prose) look(as *look, run *style, e xml.StartElement) {
	x.marks(e)
	as.take(e)
	if x.styles == nil {
		return
	}
	if e.Name.Local == "rStyle" {
		*run = x.styles.whole(valued(e, "val")).within(x.paragraph().looks)
	} else {
		run.take(e)
	}
	now := x.seen(*run)
	as.struck, as.hidden = now.struck, now.hidden
}

// pictures are what fonts show for letters, as far as people fill in forms and mark lines by them.
var pictures = map[string]map[rune]string{
	"wingdings": {0x4a: "☺", 0x4b: "😐", 0x4c: "☹", 0x6c: "●", 0x6d: "❍", 0x6e: "■", 0x6f: "☐", 0x70: "☐", 0x71: "❑",
		0x72: "❒", 0x74: "◆", 0x75: "◆", 0x76: "❖", 0x77: "◆", 0x9f: "•", 0xa1: "○", 0xa7: "▪", 0xa8: "☐", 0xd8: "➢",
		0xdf: "←", 0xe0: "→", 0xe1: "↑", 0xe2: "↓", 0xe8: "➔", 0xf0: "⇨", 0xfb: "✗", 0xfc: "✓", 0xfd: "☒", 0xfe: "☑"},
	"wingdings 2": {0x4f: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0x97: "●", 0xa3: "☐"},
	"wingdings 3": {},
	"webdings":    {0x61: "✓", 0x63: "☐", 0x67: "■", 0x72: "✗"},
}

// pictured returns a text as its fonts show it.
func (l look) pictured(s string) string {
	if l.signs == "" || l.signs == l.font {
		return pictured(l.font, s)
	}
	var out strings.Builder
	for _, r := range s {
		font := l.font
		if r >= 0xf000 && r <= 0xf0ff {
			font = l.signs
		}
		out.WriteString(pictured(font, string(r)))
	}
	return out.String()
}

// pictured returns a text as a font shows it. What is not known of a font of pictures is named by its number;
// characters that such a font doesn't have, such as kanji, are shown in another.
func pictured(font, s string) string {
	font = strings.TrimSpace(font)
	known := pictures[strings.ToLower(font)]
	if known == nil {
		return s
	}
	var out strings.Builder
	for _, r := range s {
		code := r
		if r >= 0xf000 && r <= 0xf0ff {
			code -= 0xf000
		}
		switch picture := known[code]; {
		case picture != "":
			out.WriteString(picture)
		case r < 0x80 && !isLetter(r), r >= 0x100 && r == code:
			out.WriteRune(r)
		default:
			fmt.Fprintf(&out, "[%s %X]", oneLine(font), r)
		}
	}
	return out.String()
}
