package explain

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"ringi/shared/domain/catalog"
	"ringi/shared/words/legible"
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

// listOf returns the pointer of the list whose rows the mark speaks of, or "".
func (t *teller) listOf() string {
	if t.step.Tool == toolSheet {
		return "/rows"
	}
	if t.look.own != nil || t.look.mark == nil {
		return ""
	}
	for _, pointer := range t.look.mark.Pointers {
		if list, name, inRows := strings.Cut(pointer, "/*/"); inRows && !strings.Contains(name, "/") {
			return list
		}
	}
	return ""
}

// items makes a table of the mark's list, or else of the longest one.
func (t *teller) items() {
	pointer := t.listOf()
	v, _ := t.at(pointer)
	rows := t.tabular(v)
	marked := pointer != "" && rows != nil && !t.gone[pointer]
	var path []part
	if !marked {
		path, rows = t.longest(nil, t.args)
		if pointer = pointerOf(path); rows == nil {
			return
		}
	}
	table := &Table{}
	if !marked {
		table.Name = Plain(t.name(path))
	}
	t.fill(table, pointer, rows)
	t.e.Items, t.gone[pointer] = table, true
}

// tabular returns the rows of a list of objects that have no nested values; nil: it is none.
func (t *teller) tabular(v any) (rows []map[string]any) {
	list, _ := v.([]any)
	some := false
	for _, x := range list {
		row, is := x.(map[string]any)
		if !is || t.isReference(row) {
			return nil
		}
		for _, v := range row {
			switch v.(type) {
			case []any, map[string]any:
				return nil
			}
			some = true
		}
		rows = append(rows, row)
	}
	if !some {
		return nil
	}
	return rows
}

// longest returns the longest list that a table can show, the first of several.
func (t *teller) longest(path []part, v any) (best []part, rows []map[string]any) {
	members, is := v.(map[string]any)
	if !is {
		return path, t.tabular(v)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		below := append(path[:len(path):len(path)], part{name: name})
		if t.isGone(below) {
			continue
		}
		if at, found := t.longest(below, members[name]); len(found) > len(rows) {
			best, rows = at, found
		}
	}
	return best, rows
}

func (t *teller) fill(table *Table, pointer string, rows []map[string]any) {
	keys, titles := t.columns(pointer, rows)
	lacking := map[string]int{}
	for i, key := range keys {
		l := t.writer()
		lacking[key] = 0 // two columns may have one key
		if titles != nil {
			l.name(titles[i])
		} else {
			t.member(l, inRows(pointer, key), key)
		}
		c := Column{Number: true}
		for _, row := range rows {
			_, number := row[key].(json.Number)
			if _, had := row[key]; !had {
				lacking[key]++
				continue
			}
			c.Number = c.Number && number
		}
		if lacking[key] == len(rows) {
			l.words(t.w.NoValues)
		}
		c.Name = Plain(l.out)
		table.Columns = append(table.Columns, c)
	}
	for _, row := range rows {
		var cells []string
		for _, key := range keys {
			v, had := row[key]
			cell := ""
			if had && (v != "" || lacking[key] > 0) {
				cell = t.cell(v)
			}
			cells = append(cells, cell)
		}
		table.Rows = append(table.Rows, cells)
	}
}

// inRows returns the pointer of a member of a list's rows.
func inRows(list, name string) string { return list + "/*" + pointerOf([]part{{name: name}}) }

// columns returns the members of rows. Of rows for a sheet, they are those that it will have, with their titles; the
// rest tells of others.
func (t *teller) columns(pointer string, rows []map[string]any) (keys, titles []string) {
	if t.step.Tool == toolSheet && t.gone["/columns"] {
		list, _ := t.args["columns"].([]any)
		for _, c := range list {
			key, title, _ := pair(c, "key", "title")
			keys, titles = append(keys, key.(string)), append(titles, title.(string))
		}
	}
	order := func(key string) int { return 3*t.look.place(inRows(pointer, key)) + Rank(key) }
	others := map[string]bool{}
	for _, row := range rows {
		for key := range row {
			others[key] = !slices.Contains(keys, key)
		}
	}
	maps.DeleteFunc(others, func(_ string, other bool) bool { return !other })
	more := slices.SortedFunc(maps.Keys(others), func(a, b string) int {
		return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(a, b))
	})
	if titles == nil {
		return more, nil
	}
	if len(more) > 0 {
		t.e.Rest = append(t.e.Rest, Argument{Name: []Piece{{Words, t.w.Unwritten}}, Value: t.unwritten(more)})
	}
	return keys, titles
}

// unwritten names the members of rows that a sheet won't have, those with a title first, and how many others there are.
func (t *teller) unwritten(keys []string) []Piece {
	l, said := t.writer(), map[string]string{}
	for _, key := range keys {
		said[key] = catalog.Title(t.locale, key)
	}
	keys = slices.Clone(keys)
	sort.SliceStable(keys, func(i, j int) bool { return said[keys[i]] != "" && said[keys[j]] == "" })
	for i, key := range keys {
		switch {
		case i == mostUnwritten:
			l.words(fillLine(t.w.Others, "n", len(keys)-i))
			return l.out
		case i > 0:
			l.words(t.w.Separator)
		}
		if said[key] == "" {
			l.name(key)
		} else {
			l.add(Value, said[key])
		}
	}
	return l.out
}

const mostUnwritten = 12 // members of rows that are named although a sheet won't have them

// Rank orders columns: ids that identify a row come first, then names.
func Rank(key string) int {
	switch lower := strings.ToLower(key); {
	case lower == "id" || lower == "num" || strings.HasSuffix(lower, "_id"):
		return 0
	case strings.Contains(lower, "name") || lower == "title" || lower == "label":
		return 1
	}
	return 2
}

// cell writes a value. A text stands in quotation marks only if it could be taken for another type, as "5", or for
// Ringi's own word.
func (t *teller) cell(v any) string {
	text, is := v.(string)
	switch {
	case v == nil:
		return noValue
	case !is:
		out, _ := json.Marshal(v) // of a number, true or false
		return string(out)
	case text == "":
		return t.w.EmptyText
	case text == noValue || text == t.w.EmptyText || t.look.owned(text) ||
		strings.HasPrefix(text, `"`) || json.Valid([]byte(text)):
		return legible.OneLine(InQuotes(text))
	}
	return legible.OneLine(text)
}

const noValue = "–" // a cell whose value is null; one without a value is empty

// InQuotes puts a text in quotation marks and escapes those inside.
func InQuotes(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

func (t *teller) sheet() {
	form, l := t.w.Acts[string(t.e.Act)], t.writer()
	l.args = t.args
	id, tab := t.args["spreadsheet_id"], t.args["sheet"]
	rows := t.args["rows"]
	list, literal := rows.([]any)
	said := l.w.rows(strconv.Itoa(len(list)))
	if !literal {
		said = fillLine(l.w.atMost, "n", Grouped(strconv.Itoa(l.most(rows))))
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
		t.e.short = fillLine(short, "party", legible.Clip(Plain(to.out), maxShortParty), "tab",
			legible.Clip(Plain(in.out), maxShortParty))
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
	if t.tabular(rows) != nil { // the table has them
		return
	}
	l := t.writer()
	l.columns(columns, l.headings(rows))
	t.e.Rest = append(t.e.Rest, Argument{Name: t.name([]part{{name: "columns"}}), Value: l.out})
}
