package card

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
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
