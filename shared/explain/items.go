package explain

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// item names what the call is about, nil if nobody said.
func (t *teller) item() []Piece {
	v, _ := t.at(t.look.item)
	text, is := v.(string)
	if t.look.item == "" || !is || text == "" {
		return nil
	}
	l := t.writer()
	l.quoted(text)
	return l.out
}

func (t *teller) sheet() {
	form, l := t.w.Acts[string(t.e.Act)], t.writer()
	l.args = t.args
	id, tab := t.args["spreadsheet_id"], t.args["sheet"]
	rows := t.args["rows"]
	list, literal := rows.([]any)
	said := l.w.rows(strconv.Itoa(len(list)))
	if !literal {
		said = fill(l.w.atMost, "n", Grouped(strconv.Itoa(l.most(rows))))
	}
	full := "Bare"
	if t.names(id) && t.names(tab) {
		full = "Both"
		t.gone["/sheet"] = true
		t.gone["/spreadsheet_id"] = true
	}
	to := t.writer()
	if t.names(id) {
		to.value(id)
	}
	tell := func(text string) []Piece {
		l.out = nil
		l.fill(text, func(name string) {
			if name == "tab" {
				l.value(tab)
				return
			}
			l.out = append(l.out, to.out...)
		})
		return l.out
	}
	t.e.Sentence, t.e.done, t.e.short = tell(form[full]+rowsSign+said), tell(form[full+"Done"]), form["ShortBare"]
	if to.out != nil {
		short, in := form["Short"], t.writer()
		if _, known := tab.(string); known && t.gone["/sheet"] {
			short = form["ShortTab"]
			in.value(tab)
		}
		t.e.short = fill(short, "party", language.Clip(Plain(to.out), maxShortParty), "tab",
			language.Clip(Plain(in.out), maxShortParty))
	}
	t.titles(rows)
}

// names reports whether a value is a text or the name of a result, which a sentence can have.
func (t *teller) names(v any) bool {
	switch v.(type) {
	case nil, json.Number, bool:
		return false
	}
	return t.isLeaf(v)
}

// titles writes the columns of a sheet as one argument, if each has a title and what fills it.
func (t *teller) titles(rows any) {
	columns, is := t.args["columns"].([]any)
	odd := func(c any) bool {
		key, title, ok := pair(c, "key", "title")
		_, text := title.(string)
		_, plain := key.(string)
		return !ok || !text || !plain
	}
	if !is || len(columns) == 0 || slices.ContainsFunc(columns, odd) {
		return
	}
	t.gone["/columns"] = true
	l := t.writer()
	l.columns(columns, l.headings(rows))
	_, literal := rows.([]any)
	t.e.Rest = append(t.e.Rest, Argument{Name: t.name([]part{{name: "columns"}}), Value: l.out, Aside: literal})
	t.unwritten(columns, rows)
}

// unwritten names the members of rows that a sheet won't have.
func (t *teller) unwritten(columns []any, rows any) {
	others := map[string]bool{}
	list, _ := rows.([]any)
	for _, x := range list {
		row, _ := x.(map[string]any)
		for key := range row {
			others[key] = others[key] || !t.isReference(row)
		}
	}
	for _, c := range columns {
		key, _, _ := pair(c, "key", "title")
		others[key.(string)] = false
	}
	l := t.writer()
	for _, key := range slices.Sorted(maps.Keys(others)) {
		if !others[key] {
			continue
		}
		if l.out != nil {
			l.words(t.w.Separator)
		}
		l.name(key)
	}
	if l.out != nil {
		t.e.Rest = append(t.e.Rest, Argument{Name: []Piece{{Words, t.w.Unwritten}}, Value: l.out})
	}
}

// party names whom a call is for. exact says that nobody else is named so.
func (t *teller) party(v any) (pieces []Piece, exact bool) {
	l := t.writer()
	switch v := v.(type) {
	case string:
		switch {
		case t.step.Tool == tenancy.MessageTool && userForm.Get().MatchString(v):
			l.add(Person, v)
		case t.step.Tool == tenancy.DecideTool:
			l.quoted(tenancy.MatterCalled(v, t.locale))
		case v != "": // else a name could go on as Ringi's words
			l.quoted(v)
		}
		return l.out, v != ""
	case map[string]any:
		if at, is := reference(v); is && l.from(at) {
			t.result = true
			return l.out, true
		}
	}
	return nil, false
}

// tool names the tool for a notification, and then how its server calls it: anybody may write that.
func (t *teller) tool() string {
	l := t.writer()
	l.foreign(t.step.Tool)
	if title := t.step.ToolTitle; title != "" && !strings.HasSuffix(t.step.Tool, "."+title) {
		l.words(" (")
		l.quoted(language.Clip(title, maxShortParty))
		l.words(")")
	}
	return Plain(l.out)
}

// shortParty names whom a call is for in a notification, which mentions nobody.
func (t *teller) shortParty() string {
	switch to := t.to; {
	case to[0].Kind == Person:
		return t.w.Person
	case len(to) == 3 && to[1].Kind == Value: // the quotation marks stay
		return to[0].Text + language.Clip(to[1].Text, maxShortParty) + to[2].Text
	default:
		return language.Clip(Plain(to), maxShortParty)
	}
}

const maxShortParty = 40
