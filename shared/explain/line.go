package explain

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// PieceKind says who wrote a piece of a line.
type PieceKind int

const (
	Words  PieceKind = iota // Ringi's
	Value                   // planned; must be shown without its formatting
	Person                  // a Slack user id
	Break                   // separates two items of a line, or two lines of a text
)

// Piece is a part of a line.
type Piece struct {
	Kind PieceKind
	Text string
}

// Plain returns pieces as one text.
func Plain(pieces []Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.Text)
	}
	return b.String()
}

// line tells a call in the words of its tool's file. Lists of anything but references stand beside them.
func (t *teller) line() {
	l := t.writer()
	l.args = maps.Clone(t.args)
	for name, v := range t.args {
		list, is := v.([]any)
		switch {
		case t.isLeaf(v), is && !slices.ContainsFunc(list, func(x any) bool { _, ref := reference(x); return !ref }):
			t.gone[pointerOf([]part{{name: name}})] = true
		case strings.Contains(t.look.own.Line.In(t.locale), "{"+name+"}"):
			l.args[name] = told{max(1, len(list))}
		default:
			delete(l.args, name)
		}
	}
	l.template(t.look.own, t.look.own.Line.In(t.locale))
	for _, name := range slices.Sorted(maps.Keys(l.args)) { // which the line doesn't mention
		l.add(Break, between)
		l.words(l.w.more)
		l.name(name)
		l.words(": ")
		l.value(l.args[name])
	}
	t.e.Sentence, t.e.short = l.out, Plain(l.out)
	t.e.Rest = t.rest(nil, t.args)
}

// decode reads planned arguments. Numbers are not changed.
func decode(raw aggregate.JSON) (map[string]any, bool) {
	d := json.NewDecoder(bytes.NewReader([]byte(raw)))
	d.UseNumber()
	var args map[string]any
	if d.Decode(&args) != nil || args == nil {
		return nil, false
	}
	_, err := d.Token()
	return args, err == io.EOF
}

// writer builds one line.
type writer struct {
	locale  string
	w       *lineWords
	args    map[string]any
	earlier []task.Step // to whose results values may refer
	named   bool        // a result has the name of its tool
	out     []Piece
}

//go:noinline
func (l *writer) add(k PieceKind, text string) {
	if text != "" {
		l.out = append(l.out, Piece{k, text})
	}
}

// words writes Ringi's own text, which may have several items.
func (l *writer) words(text string) {
	for i, item := range strings.Split(text, between) {
		if i > 0 {
			l.add(Break, between)
		}
		l.add(Words, item)
	}
}

// missing is a missing argument, as opposed to null.
type missing struct{}

// told is an argument that stands beside the line: so many entries.
type told struct{ n int }

// take returns an argument and marks it as mentioned.
func (l *writer) take(name string) any {
	v, had := l.args[name]
	delete(l.args, name)
	if !had {
		return missing{}
	}
	return v
}

// fill writes a text and calls part for each {name} in it.
//
//go:noinline
func (l *writer) fill(text string, part func(name string)) {
	for {
		before, rest, found := strings.Cut(text, "{")
		l.words(before)
		if !found {
			return
		}
		name, after, _ := strings.Cut(rest, "}")
		part(name)
		text = after
	}
}

func (l *writer) value(v any) {
	switch v := v.(type) {
	case nil:
		l.words(l.w.nothing)
	case missing:
		l.words(l.w.missing)
	case told:
		l.words(l.w.entries(v.n))
	case string:
		l.quoted(v)
	case json.Number:
		l.add(Value, v.String())
	case bool:
		l.add(Value, strconv.FormatBool(v))
	case []any:
		l.words("[")
		for i, x := range v {
			if i > 0 {
				l.words(", ")
			}
			l.value(x)
		}
		l.words("]")
	case map[string]any:
		if at, ok := reference(v); ok && l.from(at) {
			return
		}
		l.words("{")
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				l.words(", ")
			}
			l.name(name)
			l.words(": ")
			l.value(v[name])
		}
		l.words("}")
	}
}

func (l *writer) quoted(s string) {
	l.words(l.w.open)
	l.add(Value, Within(l.locale, s))
	l.words(l.w.shut)
}

// Within is a text as it stands between quotation marks. Marks within it are replaced or escaped by a backslash, so
// that the end is unambiguous. Invisible characters are spelled out.
func Within(locale, s string) string { return language.OneLine(language.Within(locale, s)) }

// name writes the name of a member, a label or a title: a plain word without quotation marks, anything else quoted.
func (l *writer) name(s string) {
	if plainName(s) && language.OneLine(s) == s {
		l.add(Value, s)
		return
	}
	l.quoted(s)
}

// plainName reports whether a name is unambiguous: letters, digits and few signs, and not a number, true or false.
func plainName(s string) bool {
	if s == "" || s == "true" || s == "false" || unicode.IsDigit(rune(s[0])) || s[0] == '-' {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r == utf8.RuneError || language.Blank(r) || language.Ignorable(r) || !unicode.IsLetter(r) &&
			!unicode.IsDigit(r) && !strings.ContainsRune("_.-$", r)
	})
}

// reference returns the path if a value is a reference.
func reference(v any) (path string, ok bool) {
	m, _ := v.(map[string]any)
	path, ok = m["$ref"].(string)
	return path, ok && len(m) == 1
}

// from writes the name of an earlier step's result or a part of it, by its heading if it has one. It returns false for
// any other path.
func (l *writer) from(path string) bool {
	s, inside := source(path, l.earlier)
	if s == nil {
		return false
	}
	step := fill(l.w.step, "n", s.Order)
	f, _ := tenancy.OwnToolNamed(s.Tool)
	heading := f.Heading(l.locale, inside)
	switch {
	case inside == "":
		l.words(fill(l.w.result, "step", step))
	case heading != "":
		l.words(fill(l.w.resultCalled, "step", step, "heading", heading))
	default:
		l.fill(fill(l.w.resultAt, "step", step), func(string) { l.inside(inside) })
	}
	if l.named {
		l.words(" (")
		l.foreign(s.Tool)
		l.words(")")
	}
	return true
}

// inside writes where in a result a part is: in words, none of which has a digit, as a row's place has. Names that
// stand as they are have no space, and in quotation marks what could be taken for another's.
func (l *writer) inside(path string) {
	for i, name := range strings.Split(path, ".") {
		if i > 0 {
			l.words(PathSign)
		}
		n, err := strconv.Atoi(name)
		switch {
		case err == nil && strconv.Itoa(n) == name:
			l.words(fill(l.w.nth, "n", n+1))
		case snake.Get().MatchString(name):
			l.add(Value, strings.ReplaceAll(name, "_", " "))
		default:
			l.name(name)
		}
	}
}

// snake is a name whose words are told apart by underscores.
var snake = language.Regexp{Text: `^[A-Za-z]+(_[a-z]+)+$`}

// source returns the earlier step that a path leads to, nil if there is none, and the path inside its result.
func source(path string, earlier []task.Step) (s *task.Step, inside string) {
	step, rest, _ := strings.Cut(path, ".")
	inside, deeper := strings.CutPrefix(rest, "result.")
	if rest == "result" {
		inside = ""
	} else if !deeper || inside == "" {
		return nil, ""
	}
	for i := range earlier {
		if earlier[i].StepID == step {
			return &earlier[i], inside
		}
	}
	return nil, ""
}
