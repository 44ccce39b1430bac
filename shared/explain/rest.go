package explain

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// part is a step from a value to one inside: to a member of an object, or to a row of a list, which counts from 1.
type part struct {
	name string
	row  int
}

// inside returns the path to a part of what is at path.
func inside(path []part, p part) []part { return append(path[:len(path):len(path)], p) }

// pointerOf returns the pointer of a mark that leads to a value. No row has a pointer of its own.
func pointerOf(path []part) string {
	var b strings.Builder
	for _, p := range path {
		b.WriteString("/")
		if p.row > 0 {
			b.WriteString("*")
			continue
		}
		b.WriteString(rules.Token(p.name))
	}
	return b.String()
}

// at returns the argument at a pointer that goes through no list.
func (t *teller) at(pointer string) (v any, found bool) {
	v = t.args
	for _, name := range rules.Tokens(pointer) {
		members, is := v.(map[string]any)
		if !is {
			return nil, false
		}
		if v, found = members[name]; !found {
			return nil, false
		}
	}
	return v, true
}

// argumentName returns what people call an argument of a step's tool.
func argumentName(locale string, s task.Step, name string) string {
	t := teller{locale: locale, w: effectWordsOf.In(locale), look: lookOf(&s)}
	return Plain(t.name([]part{{name: name}}))
}

// PathSign stands between the names that lead to a value.
const PathSign = " › "

// name writes the names that lead to a value, in quotation marks where people could have given such a name.
func (t *teller) name(path []part) []Piece {
	l := t.writer()
	for i, p := range path {
		if i > 0 {
			l.add(Words, PathSign)
		}
		if p.row > 0 {
			l.add(Value, strconv.Itoa(p.row))
			continue
		}
		t.member(l, pointerOf(path[:i+1]), p.name)
	}
	return l.out
}

func (t *teller) member(l *writer, pointer, name string) {
	said, title, inWords := "", "", name
	if name != "*" {
		said, title = t.look.names[pointer].In(t.locale), t.look.titles[pointer]
	}
	if slices.Contains(t.look.declared, pointer) && snake.Get().MatchString(name) {
		inWords = strings.ReplaceAll(name, "_", " ")
	}
	switch {
	case said != "":
		l.add(Value, said)
	case title != "" && !strings.EqualFold(title, inWords): // the server's words, which may be those of another argument
		l.quoted(title)
		l.words(" (")
		l.name(name)
		l.words(")")
	case inWords != name && !t.look.taken[language.Folded(inWords)]:
		l.add(Value, inWords)
	case t.look.taken[language.Folded(name)]:
		l.quoted(name)
	default:
		l.name(name)
	}
}

// rest returns a value's leaves, without those that other parts have: each with the names that lead to it.
func (t *teller) rest(path []part, v any) (all []Argument) {
	switch v := v.(type) {
	case map[string]any:
		if t.isReference(v) {
			break
		}
		if len(v) == 0 && len(path) > 0 {
			return []Argument{{Name: t.name(path), Value: []Piece{{Words, t.w.EmptyObject}}}}
		}
		for _, name := range t.sorted(path, v) {
			if below := inside(path, part{name: name}); !t.isGone(below) {
				all = append(all, t.rest(below, v[name])...)
			}
		}
		return all
	case []any:
		if len(v) == 0 {
			return []Argument{{Name: t.name(path), Value: []Piece{{Words, t.w.EmptyList}}}}
		}
		if !slices.ContainsFunc(v, func(x any) bool { return !t.isLeaf(x) }) {
			return []Argument{t.listed(path, v)}
		}
		brief := !slices.ContainsFunc(v, func(x any) bool { return !t.inLine(x) })
		for i, x := range v {
			below := inside(path, part{row: i + 1})
			if row, is := x.(map[string]any); is && brief {
				cells := t.row(below, row)
				all = append(all, Argument{Name: t.name(below), Value: inOneLine(cells), Cells: cells})
			} else {
				all = append(all, t.rest(below, x)...)
			}
		}
		return all
	}
	l := t.writer()
	text, _ := v.(string)
	if t.step.Tool == tenancy.MessageTool && pointerOf(path) == t.look.party && userForm.Get().MatchString(text) {
		l.add(Person, text)
	} else {
		l.leaf(v)
	}
	return []Argument{{Name: t.name(path), Value: l.out, Text: text}}
}

// inLine reports whether a row of a list can stand in one line.
func (t *teller) inLine(v any) bool {
	row, is := v.(map[string]any)
	if !is || len(row) == 0 || t.isReference(row) || t.apart {
		return false
	}
	for _, v := range row {
		if text, _ := v.(string); !t.isLeaf(v) || strings.Contains(text, "\n") || len(text) > mostInRow {
			return false
		}
	}
	return true
}

const mostInRow = 300 // bytes of a text in a row's line

// row returns the values of a row of a list, by name: of a sheet's, what it will have below its columns.
func (t *teller) row(path []part, row map[string]any) (cells []Argument) {
	cell := func(v any, name func(l *writer)) {
		names, values := t.writer(), t.writer()
		name(names)
		values.leaf(v)
		cells = append(cells, Argument{Name: names.out, Value: values.out})
	}
	if list, is := t.args["columns"].([]any); is && t.step.Tool == toolSheet && t.gone["/columns"] {
		for _, c := range list {
			key, title, _ := pair(c, "key", "title")
			v, had := row[key.(string)]
			if !had {
				v = missing{}
			}
			cell(v, func(l *writer) { l.name(title.(string)) })
		}
		return cells
	}
	for _, name := range t.sorted(path, row) {
		cell(row[name], func(l *writer) { t.member(l, pointerOf(inside(path, part{name: name})), name) })
	}
	return cells
}

// inOneLine writes the values of a row behind their names.
func inOneLine(cells []Argument) (line []Piece) {
	for i, c := range cells {
		if i > 0 {
			line = append(line, Piece{Words, " · "})
		}
		line = append(append(append(line, c.Name...), Piece{Words, ": "}), c.Value...)
	}
	return line
}

// sorted returns the names of members: whom the call is for, arguments that consist of addresses, and the others, of
// which those that a server's schema declares have its order.
func (t *teller) sorted(path []part, members map[string]any) []string {
	other := func(name string) int {
		list, is := members[name].([]any)
		if t.look.party != "" && pointerOf(inside(path, part{name: name})) == t.look.party {
			return -1
		}
		if len(path) == 0 && language.MaskDestination(members[name]) && (!is || len(list) > 0) {
			return 0
		}
		return 1
	}
	place := func(name string) int {
		return t.look.place(pointerOf(inside(path, part{name: name})))
	}
	return slices.SortedFunc(maps.Keys(members), func(a, b string) int {
		return cmp.Or(cmp.Compare(other(a), other(b)), cmp.Compare(place(a), place(b)), cmp.Compare(a, b))
	})
}

// isGone reports whether another part has the argument at a path.
func (t *teller) isGone(path []part) bool {
	return !slices.ContainsFunc(path, func(p part) bool { return p.row > 0 }) && t.gone[pointerOf(path)]
}

// listed writes a list of leaves as one argument. Of one leaf its name has the number, or it would be that leaf.
func (t *teller) listed(path []part, list []any) Argument {
	l, name := t.writer(), t.name(path)
	if len(list) == 1 {
		name = append(name, Piece{Words, PathSign}, Piece{Value, "1"})
	}
	for i, v := range list {
		if i > 0 {
			l.add(Words, t.w.Separator)
		}
		l.leaf(v)
	}
	return Argument{Name: name, Value: l.out}
}

func (t *teller) isReference(v map[string]any) bool {
	path, is := reference(v)
	s, _ := source(path, t.earlier)
	return is && s != nil
}

// isLeaf reports whether one argument can have a value: it is no list, and an object only if it is a reference.
func (t *teller) isLeaf(v any) bool {
	switch v := v.(type) {
	case []any:
		return false
	case map[string]any:
		return t.isReference(v)
	}
	return true
}

func (l *writer) leaf(v any) {
	if s, is := v.(string); is {
		l.text(s)
		return
	}
	l.value(v)
}

// leftOut returns a server's defaults for arguments that the call lacks. None refers to a step.
func (t *teller) leftOut() []Argument {
	raw := t.step.LeftOut
	defaults, ok := decode(raw)
	if raw == "" {
		return nil
	}
	own := *t
	own.earlier, own.gone = nil, nil
	all := own.rest(nil, defaults)
	if !ok {
		l, name := own.writer(), own.writer()
		name.words(t.w.Unread)
		l.quoted(string(raw))
		all = []Argument{{Name: name.out, Value: l.out, Text: string(raw)}}
	}
	for i := range all {
		all[i].Name, all[i].Cells = append(all[i].Name, Piece{Words, t.w.Default}), nil
	}
	return all
}

// pairs returns the details of a direct message: each value with the label that people will read.
func (t *teller) pairs() (all []Argument) {
	v, found := t.args["details"]
	list, is := v.([]any)
	if t.step.Tool != tenancy.MessageTool || found && !is {
		return nil
	}
	if !found {
		said := Plain(t.name([]part{{name: "details"}}))
		return []Argument{{Name: []Piece{{Words, said}}, Value: []Piece{{Words, t.w.Missing}}}}
	}
	for name := range t.args { // a label could be that of an argument that the tool doesn't have
		if t.look.names["/"+name] == nil {
			return nil
		}
	}
	for _, d := range list {
		label, value, ok := pair(d, "label", "value")
		text, plain := label.(string)
		if !ok || !plain || !t.isLeaf(value) {
			return nil
		}
		name, l := t.writer(), t.writer()
		name.quoted(text)
		l.leaf(value)
		text, _ = value.(string)
		all = append(all, Argument{Name: name.out, Value: l.out, Text: text})
	}
	t.gone["/details"] = true
	return all
}

// literal returns arguments as people see them. It masks personal data that comes from earlier results, but nothing
// planned, no destination, and nothing that a server is given, which may be one. hidden names those with masked data.
func literal(plan, members map[string]any, tool string) (shown map[string]any, hidden []string) {
	if _, _, foreign := tenancy.ServerTool(tool); foreign {
		return members, nil
	}
	shown = make(map[string]any, len(members))
	for _, name := range slices.Sorted(maps.Keys(members)) {
		v := members[name]
		if shown[name] = v; destination(name, v) {
			continue
		}
		of, had := plan[name]
		if shown[name] = revealed(of, had, v); !reflect.DeepEqual(shown[name], v) {
			hidden = append(hidden, name)
		}
	}
	return shown, hidden
}

// revealed masks personal data in a value, except in the parts that equal the planned value.
func revealed(planned any, had bool, v any) any {
	switch v := v.(type) {
	case map[string]any:
		plan, ok := planned.(map[string]any)
		if _, ref := plan["$ref"]; !ok || ref {
			return language.MaskAll(v)
		}
		out := make(map[string]any, len(v))
		for name, member := range v {
			of, had := plan[name]
			out[name] = revealed(of, had, member)
		}
		return out
	case []any:
		plan, ok := planned.([]any)
		if !ok || len(plan) != len(v) {
			return language.MaskAll(v)
		}
		out := make([]any, len(v))
		for i := range v {
			out[i] = revealed(plan[i], true, v[i])
		}
		return out
	}
	if had && reflect.DeepEqual(planned, v) {
		return v
	}
	return language.MaskAll(v)
}

// destinations are the arguments of Ringi's own tools that name the place a call writes or sends to.
var destinations = []string{"recipient", "spreadsheet_id", "sheet"}

// destination reports whether an argument says that, by its name or because it consists of addresses only.
func destination(name string, v any) bool {
	list, isList := v.([]any)
	return slices.Contains(destinations, name) || language.MaskDestination(v) && (!isList || len(list) > 0)
}

// Masked returns the arguments of a step's call as surfaces show them, with personal data masked where cards mask it,
// and what people call those in which something was. ok is false if only a part of the arguments is stored.
func Masked(call task.Step, b aggregate.Blob, locale string) (shown map[string]any, hidden []string, ok bool) {
	members, ok := decode(b.JSON)
	if !ok {
		return nil, nil, false
	}
	planned, _ := decode(call.ToolInput)
	shown, hidden = literal(planned, members, call.Tool)
	for i, name := range hidden {
		hidden[i] = argumentName(locale, call, name)
	}
	return shown, hidden, true
}
