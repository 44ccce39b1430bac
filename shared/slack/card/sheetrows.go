package card

import (
	"maps"
	"slices"
	"strings"
)

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
