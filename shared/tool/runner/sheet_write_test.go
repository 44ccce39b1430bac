package runner_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool/sheets"
)

const sheetTool = "write_rows_to_google_sheet"

func TestRowsAreWrittenRaw(t *testing.T) {
	w := newWorld(t)
	want := [][]any{{"Name", "Hours"}, {"=1+1", 1.5}, {"", true}, {"", "[1]"}, {"9007199254740993", 25000000.0}}
	for range 2 { // the second time the tab exists, and the same call changes nothing
		var out sheets.Written
		w.run(t, sheetTool, sheetArgs, &out)
		expect.Same(t, sheets.Written{SpreadsheetID: "ringi-demo-sheet", UpdatedRange: "'tab ''a'''!A1:B5", UpdatedRows: 4,
			UpdatedCells: 10, URL: w.url + "/sheets/ringi-demo-sheet", RowsBelow: new(int)}, out)
		expect.Same(t, want, w.vendors.Rows("ringi-demo-sheet", "tab 'a'"))
	}
	expect.Is(t, len(w.vendors.Tabs()), 1, "tabs")
	e := w.refuse(t, sheetTool, strings.Replace(sheetArgs, "ringi-demo-sheet", "another", 1))
	expect.That(t, e.Outcome == explain.CallFailed && e.Problem == explain.ProblemNotFound, "%v", e)
}

// Rows are found where they stand just as they were to be written, and written by no look.
func TestWrittenRowsAreFound(t *testing.T) {
	w := newWorld(t)
	_, found := w.looks(t, sheetTool, sheetArgs)
	expect.That(t, !found && len(w.vendors.Tabs()) == 0, "found before it was written")
	var out, is sheets.Written
	w.run(t, sheetTool, sheetArgs, &out)
	text, found := w.looks(t, sheetTool, sheetArgs)
	expect.Must(t, found, "not found")
	expect.NoError(t, json.Unmarshal([]byte(text), &is))
	expect.Same(t, out, is)
	expect.NoError(t, w.vendors.Put("'tab ''a'''!B3:B3", [][]any{{false}}))
	_, found = w.looks(t, sheetTool, sheetArgs)
	expect.That(t, !found, "found with another cell")
}

// table returns the arguments for a table with this many rows and columns.
func table(t *testing.T, tab string, rows, columns int) string {
	t.Helper()
	var titles []map[string]string
	for i := range columns {
		titles = append(titles, map[string]string{"key": "v", "title": fmt.Sprint(i)})
	}
	lines := make([]map[string]int, rows)
	for i := range lines {
		lines[i] = map[string]int{"v": i}
	}
	b := expect.Value(json.Marshal(map[string]any{"spreadsheet_id": "ringi-demo-sheet", "sheet": tab, "columns": titles,
		"rows": lines}))(t)
	return string(b)
}

func TestASpreadsheetWithoutRoom(t *testing.T) {
	for name, test := range map[string]struct {
		others    int // number of rows of 1,000 cells in other tabs
		tab       string
		rows      int
		full      bool
		wouldHave string
	}{
		"the last cells are free": {9974, "new", 900, false, ""},
		"no room for another tab": {9975, "new", 900, true, "10001000"},
		"no room to enlarge":      {9999, "small", 1001, true, "10001004"},
		"the tab is enlarged":     {900, "small", 1001, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			expect.NoError(t, w.vendors.Add("others", test.others, 1000))
			if test.tab == "small" {
				expect.NoError(t, w.vendors.Add("small", 500, 2))
			}
			if !test.full {
				var out sheets.Written
				w.run(t, sheetTool, table(t, test.tab, test.rows, 2), &out)
				return
			}
			e := w.refuse(t, sheetTool, table(t, test.tab, test.rows, 2))
			expect.That(t, e.Problem == explain.ProblemSheetFull && e.Outcome == explain.CallFailed &&
				strings.Contains(e.Detail, test.wouldHave), "%v: %s", e, e.Detail)
			n := w.paths.of("/sheets/v4/spreadsheets/ringi-demo-sheet:batchUpdate") + w.vendors.Calls(sheetTool)
			expect.That(t, n == 0, "%d calls changed it", n)
		})
	}
}

// A cell that Google would refuse is named before a tab is made. Google counts units of UTF-16.
func TestACellThatIsTooLong(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want string
	}{
		"it just fits":           {strings.Repeat("あ", sheets.MaxCell), ""},
		"one character too many": {strings.Repeat("x", sheets.MaxCell+1), "50001"},
		"of two units each":      {strings.Repeat("𠮷", sheets.MaxCell/2+1), "50002"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			b := expect.Value(json.Marshal(map[string]any{"spreadsheet_id": "ringi-demo-sheet", "sheet": "new",
				"columns": []any{map[string]string{"key": "n", "title": "Name"}, map[string]string{"key": "r", "title": "Reason"}},
				"rows":    []any{map[string]string{"n": "a", "r": "b"}, map[string]string{"n": "c", "r": test.text}}}))(t)
			if test.want == "" {
				var out sheets.Written
				w.run(t, sheetTool, string(b), &out)
				return
			}
			e := w.refuse(t, sheetTool, string(b))
			expect.That(t, e.Problem == explain.ProblemCellTooLong && e.Outcome == explain.CallFailed, "%v", e)
			expect.Has(t, e.Detail, "row 3, column B (Reason)")
			expect.Has(t, e.Detail, test.want)
			expect.Is(t, len(w.vendors.Tabs()), 0, "tabs")
		})
	}
}

// Rows below the written table are kept and counted, so that people know of them. If they can't be counted, the write
// still succeeds.
func TestRowsThatStandBelowATableAreCounted(t *testing.T) {
	for name, test := range map[string]struct {
		before func(t *testing.T, w *world)
		rows   int
		below  *int
		more   bool
		reads  int
		breaks bool
	}{
		"a new tab":              {func(*testing.T, *world) {}, 2, new(0), false, 0, false},
		"a longer and wider one": {wrote(42, 5), 21, new(21), false, 1, false},
		"more than is read": {func(t *testing.T, w *world) {
			expect.NoError(t, w.vendors.Add("tab", 60_000, 2))
			wrote(20_000, 2)(t, w)
		}, 21, new(19_979), true, 1, false},
		"the count fails": {wrote(42, 2), 21, nil, false, 3, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			test.before(t, w)
			reads := 0
			w.breaks = func(r *http.Request) bool {
				if r.Method != http.MethodGet || !strings.Contains(r.URL.Path, "/values/") {
					return false
				}
				reads++
				return test.breaks
			}
			var out sheets.Written
			w.run(t, sheetTool, table(t, "tab", test.rows, 2), &out)
			d := cmp.Diff(test.below, out.RowsBelow)
			expect.That(t, d == "" && out.MoreBelow == test.more && out.UpdatedRows == test.rows, "%+v %s", out, d)
			expect.Is(t, reads, test.reads, "read (times)")
		})
	}
}

// wrote returns a step that writes a table first.
func wrote(rows, columns int) func(t *testing.T, w *world) {
	return func(t *testing.T, w *world) {
		var out sheets.Written
		w.run(t, sheetTool, table(t, "tab", rows, columns), &out)
	}
}
