package main

import (
	"cmp"
	"encoding/xml"
	"slices"
	"strconv"
	"strings"

	"ringi/shared/runtime/isolated"
	"ringi/shared/words/language"
)

// field is one of a document: a code, and what Word saved as its result, which is all that people see.
type field struct {
	code   strings.Builder
	result bool // what follows is its result
	link   string
}

// fields are those around a text.
type fields []*field

// coding returns the field whose code is being read: nothing that stands there is text, not even the result of another
// field in it. It is nil elsewhere.
func (f fields) coding() *field {
	for i := len(f) - 1; i >= 0; i-- {
		if !f[i].result {
			return f[i]
		}
	}
	return nil
}

// fieldChar takes the end of an element that begins a field, parts its code from its result, or ends it.
func (x *prose) fieldChar() {
	n := len(x.fields) - 1
	switch kind := x.fieldKind; {
	case kind == "begin":
		x.fields = append(x.fields, &field{})
	case n < 0:
	case kind == "separate":
		x.fields[n].result, x.fields[n].link = true, linkOf(x.fields[n].code.String())
	case kind == "end":
		ended := x.fields[n]
		x.fields = x.fields[:n]
		if !ended.result {
			x.withoutResult(ended.code.String())
		}
	}
	x.fieldKind = ""
}

// Fields that show nothing, and those whose value follows from the page.
var (
	silent = []string{"xe", "tc", "ta", "rd", "set", "ask", "private", "formcheckbox", "formdropdown", "formtext", "toc",
		"advance", "skipif", "nextif", "next"}
	paged = map[string]string{"page": "(page)", "numpages": "(pages)", "sectionpages": "(pages)", "date": "(date)",
		"time": "(time)", "filename": "(file)"}
)

// withoutResult writes a field that has no result: what an equation shows stands in its code alone, of others the code.
func (x *prose) withoutResult(code string) {
	name, rest, _ := strings.Cut(oneLine(strings.TrimSpace(code)), " ")
	switch name = strings.ToLower(name); {
	case name == "" || slices.Contains(silent, name):
	case name == "eq" || strings.HasPrefix(name, `eq\`):
		x.say(equation(strings.TrimPrefix(name, "eq") + " " + rest))
	case paged[name] != "":
		x.say(paged[name])
	case strings.HasPrefix(name, "autonum"), name == "listnum":
		x.w.remark(isolated.HasNumbers)
	default:
		x.say("{" + oneLine(strings.TrimSpace(code)) + "}")
		x.w.remark(isolated.HasFormulas)
	}
}

// unended takes fields that a part doesn't end: what stands after their beginning was not taken for text.
func (x *prose) unended() error {
	for len(x.fields) > 0 {
		x.fieldKind = "end"
		x.fieldChar()
	}
	if len(x.line.text) > 0 {
		if err := x.lineEnd(); err != nil {
			return err
		}
	}
	return x.boxes()
}

// general matches the switches of all fields, such as \* "Font:MS 明朝" and \* jc2.
var general = language.Regexp{Text: `\\[*#@]\s*(?:"[^"]*"|[^\s\\]+)`}

// equation returns the text of an equation's code, as Word writes circled characters, readings and fractions.
func equation(code string) string {
	q := &equations{code: []rune(general.Get().ReplaceAllString(code, ""))}
	return strings.TrimSpace(q.part(0).text)
}

// equations reads a code. at is the next of its characters.
type equations struct {
	code []rune
	at   int
}

// part is one between the brackets of a switch.
type part struct {
	text, bare string // with and without marks of what is raised or lowered
	level      string // ^ or _ for one that is so as a whole
}

func (q *equations) more() bool { return q.at < len(q.code) }

// deepest is how many switches stand within each other.
const deepest = 30

// part reads until a bracket closes or a comma parts what is within brackets.
func (q *equations) part(depth int) (out part) {
	n, open := 0, 0
	add := func(p part) {
		if strings.TrimSpace(p.bare) != "" {
			if n++; n > 1 {
				out.level = ""
			} else {
				out.level = p.level
			}
		}
		out.text, out.bare = out.text+p.text, out.bare+p.bare
	}
	for q.more() {
		c := q.code[q.at]
		switch {
		case c == '\\' && q.at+1 < len(q.code) && isLetter(q.code[q.at+1]):
			add(q.switched(depth))
			continue
		case c == '\\' && q.at+1 < len(q.code):
			q.at++
			c = q.code[q.at]
		case c == '(':
			open++
		case c == ')' && open > 0:
			open--
		case depth > 0 && open == 0 && (c == ')' || c == ',' || c == ';'):
			return out
		}
		add(part{text: string(c), bare: string(c)})
		q.at++
	}
	return out
}

func isLetter(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' }

// option reads the letters, numbers and signs between a switch and its brackets: up 9, or lc\{.
func (q *equations) option() string {
	from := q.at
	for q.more() && (isLetter(q.code[q.at]) || q.code[q.at] >= '0' && q.code[q.at] <= '9' || q.code[q.at] == ' ') {
		q.at++
	}
	return strings.ToLower(string(q.code[from:q.at]))
}

// switched reads a switch with its options and what stands in its brackets.
func (q *equations) switched(depth int) part {
	q.at++
	options, left, right := []string{strings.TrimSpace(q.option())}, "(", ")"
	for q.at+1 < len(q.code) && q.code[q.at] == '\\' {
		q.at++
		if isLetter(q.code[q.at]) {
			options = append(options, strings.TrimSpace(q.option()))
			continue
		}
		sign := string(q.code[q.at])
		switch q.at++; options[len(options)-1] {
		case "lc":
			left = sign
		case "rc":
			right = sign
		case "bc":
			left, right = sign, cmp.Or(map[string]string{"{": "}", "[": "]", "(": ")", "<": ">"}[sign], sign)
		}
		q.option()
	}
	switch {
	case depth >= deepest:
		q.at = len(q.code)
		return part{}
	case !q.more() || q.code[q.at] != '(':
		return part{}
	}
	var all []part
	for q.more() && (q.code[q.at] != ')' || len(all) == 0) {
		q.at++
		all = append(all, q.part(depth+1))
	}
	q.at++
	switch name := options[0]; {
	case name == "o":
		return over(all)
	case name == "s":
		return moved(all[0], options[1:])
	case name == "b":
		return joined(all, left, ",", right)
	default:
		return joined(all, before[name], between[name], after[name])
	}
}

// What stands before, between and after the parts of switches: fractions, roots, integrals, lists and columns.
var (
	before  = map[string]string{"f": "(", "r": "[", "i": "∫"}
	between = map[string]string{"f": ")/(", "r": "]√(", "i": ", ", "l": ",", "a": "; "}
	after   = map[string]string{"f": ")", "r": ")"}
)

func joined(all []part, before, between, after string) part {
	var texts []string
	for _, p := range all {
		texts = append(texts, strings.TrimSpace(p.text))
	}
	if between == "]√(" && (len(all) == 1 || texts[0] == "") { // a square root
		texts, before = texts[len(texts)-1:], "√("
	}
	text := before + strings.Join(texts, between) + after
	return part{text: text, bare: text}
}

// over writes what stands above each other: a circle around a word, and a word without how it is read.
func over(all []part) (out part) {
	based := slices.ContainsFunc(all, func(p part) bool { return p.level == "" && strings.TrimSpace(p.bare) != "" })
	for _, p := range all {
		if !based || p.level != "^" {
			out.text += strings.TrimSpace(p.bare)
		}
	}
	out.bare = out.text
	return out
}

// moved writes what options raise or lower.
func moved(p part, options []string) part {
	for _, o := range options {
		level := map[bool]string{true: "^", false: "_"}[strings.HasPrefix(o, "up")]
		n, err := strconv.Atoi(strings.TrimSpace(strings.TrimLeft(o, "updo")))
		if err == nil && n > 0 && strings.TrimSpace(p.bare) != "" {
			return part{text: level + "(" + p.bare + ")", bare: p.bare, level: level}
		}
	}
	return p
}

// fieldElement takes elements of fields.
func (x *prose) fieldElement(e xml.StartElement) {
	switch e.Name.Local {
	case "fldChar":
		x.fieldKind = valued(e, "fldCharType")
	case "fldSimple":
		x.link.now = linkOf(valued(e, "instr"))
		if code := strings.ToLower(strings.TrimSpace(valued(e, "instr"))); strings.HasPrefix(code, "eq") {
			x.withoutResult(valued(e, "instr"))
		}
	}
}

// linking is the link of a line's texts. Its address stands after them, unless they say the same.
type linking struct {
	now   string // of the text that follows
	shown string // of the text before, which begins at from
	from  int
}

var links = language.Regexp{Text: `(?i)^\s*HYPERLINK\s+(?:"([^"]+)"|([^\s"\\]\S*))`}

// linkOf returns the address in the code of a field, or "".
func linkOf(code string) string {
	if m := links.Get().FindStringSubmatch(code); m != nil {
		return oneLine(m[1] + m[2])
	}
	return ""
}

// addresses returns those that links name by their ids.
func addresses(relations []relation) map[string]string {
	to := map[string]string{}
	for _, r := range relations {
		if r.outside {
			to[r.id] = oneLine(r.target)
		}
	}
	return to
}

// linked takes an element that links a text, or a shape.
func (x *prose) linked(e xml.StartElement) {
	to := x.links[relationID(e)]
	switch n := len(x.shapes); {
	case x.naming && n > 0:
		x.shapes[n-1].link = to
	case e.Name.Local == "hyperlink", x.styles == nil && len(x.looks) > 0:
		x.link.now = to
	}
}

// address returns that of the link of what follows, or "".
func (x *prose) address() string {
	for _, f := range slices.Backward(x.fields) {
		if f.link != "" {
			return f.link
		}
	}
	return x.link.now
}

// bare leaves of an address what people write.
func bare(address string) string {
	for _, scheme := range []string{"https://", "http://", "mailto:"} {
		address = strings.TrimPrefix(address, scheme)
	}
	return strings.TrimSuffix(address, "/")
}

// showLink writes the address of the texts before, if what follows has another.
func (x *prose) showLink(next string) {
	was := x.link.shown
	if next == was {
		return
	}
	text := strings.TrimSpace(string(x.line.text[min(x.link.from, len(x.line.text)):]))
	if x.link.shown = next; was != "" && text != "" && bare(text) != bare(was) {
		x.line.add(" ("+was+")", look{hidden: x.line.now.hidden})
	}
	x.link.from = len(x.line.text)
}
