package card

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slack-go/slack"

	"ringi/shared/words/legible"
)

// Slack's limits of table blocks: one in a message, up to 100 rows with the header, 20 columns, and 10,000 characters
// in all cells together (docs.slack.dev, reference/block-kit/blocks/table-block).
const (
	maxTableRows       = 100
	maxTableColumns    = 20
	maxTableCharacters = 10000
)

// table shows a list of objects or of lists.
type table struct {
	name    string // of the argument
	columns []string
	rows    [][]string
	numbers []bool // whether a column has only numbers
}

// tableOf makes a table of a list if all its items are objects or all are lists.
func tableOf(name string, list []any) (t table, ok bool) {
	t.name = name
	var keys []string
	width, objects := 0, 0
	for _, item := range list {
		switch item := item.(type) {
		case map[string]any:
			objects++
			for key := range item {
				keys = append(keys, key)
			}
		case []any:
			width = max(width, len(item))
		default:
			return t, false
		}
	}
	if len(keys) == 0 && width == 0 || objects > 0 && objects < len(list) {
		return t, false
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
	keys = slices.Compact(keys)
	for _, key := range keys {
		t.columns = append(t.columns, memberName(key))
	}
	for i := range width {
		t.columns = append(t.columns, fmt.Sprint(i+1))
	}
	t.numbers = slices.Repeat([]bool{true}, len(t.columns))
	for _, item := range list {
		row := make([]string, len(t.columns))
		for i := range row {
			v, had := cell(item, keys, i)
			if had {
				row[i] = cellText(v)
			}
			t.numbers[i] = t.numbers[i] && (!had || strings.Trim(row[i], "-0123456789.,:") == "")
		}
		t.rows = append(t.rows, row)
	}
	return t, true
}

func cell(item any, keys []string, i int) (v any, had bool) {
	switch item := item.(type) {
	case map[string]any:
		v, had = item[keys[i]]
	case []any:
		if had = i < len(item); had {
			v = item[i]
		}
	}
	return v, had
}

func cellText(v any) string {
	if isScalar(v) {
		return scalar(v)
	}
	return compact(v)
}

// rank orders columns: ids that identify a row come first, then names.
func rank(key string) int {
	switch lower := strings.ToLower(key); {
	case lower == "id" || lower == "num" || strings.HasSuffix(lower, "_id"):
		return 0
	case strings.Contains(lower, "name") || lower == "title" || lower == "label":
		return 1
	}
	return 2
}

// longest returns the index of the table with the most rows, -1 if there is none.
func longest(tables []table) int {
	found := -1
	for i, t := range tables {
		if found < 0 || len(t.rows) > len(tables[found].rows) {
			found = i
		}
	}
	return found
}

// block makes Slack's table block with as many rows as fit in room characters; left counts the others. ok is false if
// no row fits or there are too many columns.
func (t table) block(room int) (b *slack.TableBlock, left int, ok bool) {
	if len(t.columns) > maxTableColumns {
		return nil, 0, false
	}
	b = slack.NewTableBlock("")
	add := func(texts []string) bool {
		cells := make([]slack.TableCell, len(texts))
		used := 0
		for i, s := range texts {
			text := tableText(s)
			used += units(text)
			cells[i] = slack.NewTableRawTextCell(text)
		}
		if used > room || len(b.Rows) == maxTableRows {
			return false
		}
		room -= used
		b.AddRow(cells...)
		return true
	}
	fits := add(t.columns)
	for i := 0; fits && i < len(t.rows); i++ {
		fits = add(t.rows[i])
	}
	for _, number := range t.numbers {
		setting := slack.ColumnSetting{Align: slack.ColumnAlignmentLeft, IsWrapped: true}
		if number {
			setting.Align = slack.ColumnAlignmentRight
		}
		b.ColumnSettings = append(b.ColumnSettings, setting)
	}
	return b, len(t.rows) + 1 - len(b.Rows), len(b.Rows) > 1
}

// tableText is a cell's text in one line. Slack neither formats it nor accepts an empty one.
func tableText(s string) string {
	if s == "" {
		return " "
	}
	s = breakMentions(legible.OneLine(s))
	if strings.ContainsFunc(s, legible.RightToLeft) {
		s = isolate + s + endIsolate
	}
	return s
}

// rowsOf draws tables without a table block: each row becomes a section of fields in a dialog, and a line on a card.
func (d drawing) rowsOf(tables []table, most int) body {
	if most != everything {
		return d.packed(d.rowParts(tables), most)
	}
	var out body
	for _, t := range tables {
		out.blocks = append(out.blocks, section(d.label(t.name)))
		for i, row := range t.rows {
			out.add(d.rowFields(fmt.Sprint(i+1), t.columns, row))
		}
	}
	return out
}

// rowFields draws one row with up to ten fields to a section. A value that is too long for a field gets a section of
// its own.
func (d drawing) rowFields(number string, columns, row []string) body {
	var out body
	var texts []string
	flush := func() {
		if len(texts) > 0 {
			out.blocks = append(out.blocks, fields(texts...))
		}
		texts = nil
	}
	for i, v := range row {
		name := columns[i]
		if i == 0 {
			name = number + ". " + name
		}
		field := "*" + strings.TrimSpace(asWritten(legible.OneLine(name))) + "*\n" + d.cellCode(v)
		if units(field) > maxField {
			flush()
			out.add(d.packed(d.argumentParts(argument{path: []string{name}, values: []string{v}}), everything))
			continue
		}
		if texts = append(texts, field); len(texts) == maxFields {
			flush()
		}
	}
	flush()
	return out
}

func (d drawing) rowParts(tables []table) []string {
	var out []string
	for _, t := range tables {
		out = append(out, d.label(t.name)+":")
		for i, row := range t.rows {
			cells := make([]string, len(row))
			for j, v := range row {
				cells[j] = inlineCode(t.columns[j]) + " " + d.cellCode(v)
			}
			out = append(out, fmt.Sprintf("%d. %s", i+1, strings.Join(cells, " · ")))
		}
	}
	return out
}

// sheetTool writes rows to a sheet. It writes only those members of a row that its columns name.
const sheetTool = "write_rows_to_google_sheet"

// sheetRows are the rows as they will stand in the sheet, with its columns in order and their titles.
type sheetRows struct {
	table     table
	unwritten []string // members of rows that no column has
}

// sheetRowsOf reads the rows that a call would write to a sheet. rest has the arguments that remain to be drawn. ok is
// false, and rest has all arguments, if columns or rows have the wrong form or masking renamed a member.
func sheetRowsOf(tool string, shown, given map[string]any) (sheet sheetRows, rest map[string]any, ok bool) {
	keys, titles := columnsOf(given["columns"])
	list, isList := shown["rows"].([]any)
	before, _ := given["rows"].([]any)
	if tool != sheetTool || len(keys) == 0 || !isList || len(list) == 0 || len(list) != len(before) {
		return sheet, shown, false
	}
	t := table{name: "rows", columns: titles, numbers: slices.Repeat([]bool{true}, len(keys))}
	unwritten := map[string]bool{}
	for i := range list {
		row, ok := list[i].(map[string]any)
		was, _ := before[i].(map[string]any)
		if !ok || !slices.Equal(sorted(row), sorted(was)) {
			return sheet, shown, false
		}
		for name := range row {
			if !slices.Contains(keys, name) {
				unwritten[name] = true
			}
		}
		t.rows = append(t.rows, t.sheetRow(row, keys))
	}
	rest = maps.Clone(shown)
	delete(rest, "columns")
	delete(rest, "rows")
	return sheetRows{table: t, unwritten: sorted(unwritten)}, rest, true
}

// sheetLines name the columns of a sheet, and the members that will not be written.
func (d drawing) sheetLines(s sheetRows) []string {
	lines := []string{d.label("columns") + ": " + listed(s.table.columns)}
	if len(s.unwritten) > 0 {
		lines = append(lines, d.w.NotWritten+": "+listed(s.unwritten))
	}
	return lines
}

// sheetRow returns a row's cells. A missing or null member is written as an empty cell.
func (t *table) sheetRow(row map[string]any, keys []string) []string {
	cells := make([]string, len(keys))
	for i, key := range keys {
		if v := row[key]; v != nil && v != "" {
			cells[i] = cellText(v)
		}
		t.numbers[i] = t.numbers[i] && strings.Trim(cells[i], "-0123456789.,:") == ""
	}
	return cells
}

// columnsOf returns the keys and titles of the columns, or nothing if a column lacks one of the two.
func columnsOf(v any) (keys, titles []string) {
	list, _ := v.([]any)
	for _, c := range list {
		m, _ := c.(map[string]any)
		key, _ := m["key"].(string)
		title, _ := m["title"].(string)
		if key == "" || title == "" || len(m) != 2 {
			return nil, nil
		}
		keys, titles = append(keys, key), append(titles, title)
	}
	return keys, titles
}

// listed joins names in one line, with invisible characters spelled out.
func listed(names []string) string {
	coded := make([]string, len(names))
	for i, name := range names {
		coded[i] = inlineCode(name)
	}
	return strings.Join(coded, ", ")
}

func (d drawing) cellCode(v string) string {
	if v == "" {
		return d.w.EmptyCell
	}
	return inlineCode(v)
}
