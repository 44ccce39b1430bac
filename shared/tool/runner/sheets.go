package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"ringi/shared/explain"
	"ringi/shared/tool/wire"
	"ringi/shared/words/language"
)

// MaxCells is Google's limit for a spreadsheet. It counts the cells of all tabs, including empty ones.
const MaxCells = 10_000_000

// MaxCell is Google's limit for a cell, in characters. They are counted as Google's own editor does, in units of
// UTF-16.
const MaxCell = 50_000

// Sheets writes rows into a tenant's Google spreadsheets. It writes one fixed range, so repeating a call changes
// nothing. Cells below or next to that range are kept, because they may be a person's. The result says how many rows
// are below.
type Sheets struct{ wire wire.Client }

// NewSheets makes a client. base is the API's address without /v4.
func NewSheets(base string, tokens wire.Tokens, http wire.HTTP) *Sheets {
	return &Sheets{wire.Client{
		Provider: explain.Google, Base: strings.TrimRight(base, "/") + "/v4/spreadsheets", Tokens: tokens, HTTP: http,
		Explain: ofGoogle,
	}}
}

// Column says which member of each row a column shows, and its title.
type Column struct {
	Key   string `json:"key"`
	Title string `json:"title"`
}

// Table is the input of a write. The titles are written first.
type Table struct {
	SpreadsheetID string           `json:"spreadsheet_id"`
	Sheet         string           `json:"sheet"`
	Columns       []Column         `json:"columns"`
	Rows          []map[string]any `json:"rows"`
}

// Written is the result of write_rows_to_google_sheet. UpdatedRows does not count the titles.
type Written struct {
	SpreadsheetID string `json:"spreadsheet_id"`
	UpdatedRange  string `json:"updated_range"`
	UpdatedRows   int    `json:"updated_rows"`
	UpdatedCells  int    `json:"updated_cells"`
	URL           string `json:"url"`
	RowsBelow     *int   `json:"rows_below"`           // that stand below the table; null: not known
	MoreBelow     bool   `json:"more_below,omitempty"` // there may be more than those
}

// Write writes the table at A1 of its tab. It makes a missing tab and enlarges a tab that is too small. If the
// spreadsheet or a cell would exceed its limit, Write changes nothing. Values are stored raw, so that none becomes a
// formula.
func (c *Sheets) Write(ctx context.Context, t Table) (Written, error) {
	if !idForm.Get().MatchString(t.SpreadsheetID) {
		return Written{}, explain.Fail(explain.ProblemBadArguments, nil, "write_rows_to_google_sheet",
			wire.Short(t.SpreadsheetID)+" is no spreadsheet id")
	}
	values := t.values()
	if err := t.tooLong(values); err != nil {
		return Written{}, err
	}
	address, height, err := c.tab(ctx, t)
	if err != nil {
		return Written{}, err
	}
	at := a1(t.Sheet, 1, len(t.Columns), len(t.Rows)+1)
	body := struct {
		Range          string  `json:"range"`
		MajorDimension string  `json:"majorDimension"`
		Values         [][]any `json:"values"`
	}{at, "ROWS", values}
	var done struct {
		UpdatedRange string `json:"updatedRange"`
		UpdatedRows  int    `json:"updatedRows"`
		UpdatedCells int    `json:"updatedCells"`
	}
	if err := c.wire.Write(ctx, http.MethodPut, t.cells(at)+"?valueInputOption=RAW", body, &done); err != nil {
		return Written{}, err
	}
	rows, whole := c.below(ctx, t, height)
	return Written{
		SpreadsheetID: t.SpreadsheetID, UpdatedRange: done.UpdatedRange, UpdatedRows: max(0, done.UpdatedRows-1),
		UpdatedCells: done.UpdatedCells, URL: address, RowsBelow: rows, MoreBelow: !whole,
	}, nil
}

// Find returns what Write returns if the table stands in its tab, cell by cell, as after a write whose answer was lost.
// found is false if anything differs or can't be read.
func (c *Sheets) Find(ctx context.Context, t Table) (w Written, found bool) {
	if !idForm.Get().MatchString(t.SpreadsheetID) {
		return w, false
	}
	s, err := c.spreadsheet(ctx, t)
	if err != nil {
		return w, false
	}
	is := s.tab(t.Sheet)
	if is == nil {
		return w, false
	}
	at := a1(t.Sheet, 1, len(t.Columns), len(t.Rows)+1)
	var read struct{ Values [][]any }
	query := "?majorDimension=ROWS&valueRenderOption=UNFORMATTED_VALUE&fields=values"
	if err := c.wire.Read(ctx, t.cells(at)+query, &read); err != nil {
		return w, false
	}
	for i, row := range t.values() {
		for j, want := range row {
			var has any = ""
			if i < len(read.Values) && j < len(read.Values[i]) {
				has = read.Values[i][j]
			}
			if has != want {
				return w, false
			}
		}
	}
	rows, whole := c.below(ctx, t, is.Grid.RowCount)
	return Written{SpreadsheetID: t.SpreadsheetID, UpdatedRange: at, UpdatedRows: len(t.Rows),
		UpdatedCells: len(t.Columns) * (len(t.Rows) + 1), URL: s.SpreadsheetURL, RowsBelow: rows, MoreBelow: !whole}, true
}

// cells is the path of an area of the table's spreadsheet.
func (t Table) cells(at string) string {
	return "/" + url.PathEscape(t.SpreadsheetID) + "/values/" + url.PathEscape(at)
}

// idForm is the form of a spreadsheet's id: letters, digits, hyphens and underscores, according to Google's guide on
// Sheets concepts. Any other character could change the address of the call.
var idForm = language.Regexp{Text: `^[A-Za-z0-9_-]{1,200}$`}

// ofGoogle reads Google's errors: {error: {code, message, status}}.
func ofGoogle(status int, body []byte) wire.Refusal {
	var e struct {
		Error struct{ Message, Status string }
	}
	_ = json.Unmarshal(body, &e) // an unreadable body has no message
	r := wire.Refusal{Said: e.Error.Message}
	switch {
	case e.Error.Status == "RESOURCE_EXHAUSTED":
		r.Problem = explain.ProblemRateLimited
	case status == http.StatusForbidden && e.Error.Status == "PERMISSION_DENIED" && r.Said != "":
		r.Problem = explain.ProblemDenied
	}
	return r
}

// The size of a new tab unless the table is larger. It is Google's own default.
const defaultRows, defaultColumns = 1000, 26

type grid struct {
	RowCount    int `json:"rowCount"`
	ColumnCount int `json:"columnCount"`
}

func (g grid) cells() int { return g.RowCount * g.ColumnCount }

func (g grid) atLeast(rows, columns int) grid {
	return grid{max(g.RowCount, rows), max(g.ColumnCount, columns)}
}

// properties are a tab's properties in the API.
type properties struct {
	SheetID int    `json:"sheetId"`
	Title   string `json:"title"`
	Grid    grid   `json:"gridProperties"`
}

// spreadsheet is a spreadsheet's address for people and its tabs.
type spreadsheet struct {
	SpreadsheetURL string `json:"spreadsheetUrl"`
	Sheets         []struct {
		Properties properties `json:"properties"`
	} `json:"sheets"`
}

// tab returns the tab with this title, nil if there is none.
func (s spreadsheet) tab(title string) *properties {
	for i := range s.Sheets {
		if p := &s.Sheets[i].Properties; p.Title == title {
			return p
		}
	}
	return nil
}

func (c *Sheets) spreadsheet(ctx context.Context, t Table) (s spreadsheet, err error) {
	fields := "?fields=" + url.QueryEscape("spreadsheetUrl,"+
		"sheets.properties(sheetId,title,gridProperties(rowCount,columnCount))")
	err = c.wire.Read(ctx, "/"+url.PathEscape(t.SpreadsheetID)+fields, &s)
	return s, err
}

// tab makes a missing tab and enlarges a tab that is too small. It returns the spreadsheet's address for people and the
// previous height of the tab in rows. If the outcome of making or enlarging is unknown, the call fails: no row was
// written, and the next call finds the tab. Beside a tab whose title differs only in case Google makes none.
func (c *Sheets) tab(ctx context.Context, t Table) (address string, height int, err error) {
	s, err := c.spreadsheet(ctx, t)
	if err != nil {
		return "", 0, err
	}
	rows, columns, cells := len(t.Rows)+1, len(t.Columns), 0
	for _, sheet := range s.Sheets {
		cells += sheet.Properties.Grid.cells()
	}
	found := s.tab(t.Sheet)
	var request map[string]any
	if found == nil {
		size := grid{defaultRows, defaultColumns}.atLeast(rows, columns)
		cells += size.cells()
		request = map[string]any{"addSheet": map[string]any{"properties": map[string]any{"title": t.Sheet,
			"gridProperties": size}}}
	} else {
		height = found.Grid.RowCount
		size := found.Grid.atLeast(rows, columns)
		if size == found.Grid {
			return s.SpreadsheetURL, height, nil
		}
		cells += size.cells() - found.Grid.cells()
		request = map[string]any{"updateSheetProperties": map[string]any{
			"properties": map[string]any{"sheetId": found.SheetID, "gridProperties": size},
			"fields":     "gridProperties(rowCount,columnCount)",
		}}
	}
	if cells > MaxCells {
		return "", 0, explain.Fail(explain.ProblemSheetFull, nil, explain.Google, cells, MaxCells)
	}
	var done struct{}
	err = c.wire.Write(ctx, http.MethodPost, "/"+url.PathEscape(t.SpreadsheetID)+":batchUpdate",
		map[string]any{"requests": []any{request}}, &done)
	if e := (*explain.CallError)(nil); errors.As(err, &e) {
		e.Outcome = explain.CallFailed
	}
	return s.SpreadsheetURL, height, err
}

// values returns the table's rows for the API, the titles first.
func (t Table) values() [][]any {
	titles := make([]any, len(t.Columns))
	for i, c := range t.Columns {
		titles[i] = c.Title
	}
	rows := [][]any{titles}
	for _, r := range t.Rows {
		row := make([]any, len(t.Columns))
		for i, c := range t.Columns {
			row[i] = cell(r[c.Key])
		}
		rows = append(rows, row)
	}
	return rows
}

// tooLong returns an error that names the first cell with more characters than a cell has.
func (t Table) tooLong(values [][]any) error {
	for i, row := range values {
		for j, v := range row {
			text, _ := v.(string)
			if len(text) <= MaxCell { // a character has one byte or more
				continue
			}
			if n := len(utf16.Encode([]rune(text))); n > MaxCell {
				return explain.Fail(explain.ProblemCellTooLong, nil, explain.Google, i+1, letters(j+1), t.Columns[j].Title,
					n, MaxCell)
			}
		}
	}
	return nil
}

// cell converts a value to a cell. A null becomes an empty text, because null would leave the old value. Cells hold
// numbers as float64, so an integer that would change is written as text.
func cell(v any) any {
	switch v := v.(type) {
	case nil:
		return ""
	case string, bool, float64, int:
		return v
	case json.Number:
		if f, err := v.Float64(); err == nil && holds(f, v) {
			return f
		}
		return v.String()
	}
	return fmt.Sprint(v)
}

// holds reports whether a float64 represents an integer exactly. Fractions may be rounded.
func holds(f float64, n json.Number) bool {
	want, whole := new(big.Int).SetString(n.String(), 10)
	if !whole {
		return true
	}
	got, _ := big.NewFloat(f).Int(nil)
	return got.Cmp(want) == 0
}

// a1 returns the range of the first columns from row first to row last in A1 notation.
func a1(sheet string, first, columns, last int) string {
	return fmt.Sprintf("'%s'!A%d:%s%d", strings.ReplaceAll(sheet, "'", "''"), first, letters(columns), last)
}

// letters returns the name of a column: 1 is A, 27 is AA.
func letters(n int) string {
	if n == 0 {
		return ""
	}
	n--
	return letters(n/26) + string(rune('A'+n%26))
}

// Limits for reading the rows below a table: the number of cells, and the time.
const (
	cellsBelow  = 50_000
	belowWithin = 10 * time.Second
)

// below counts the rows below a table in its columns. whole is false if the tab has more rows than were read. height is
// the tab's height before the write. If the rows can't be counted, count is nil, and the write has still succeeded.
// Rows without a value don't count: at the end Google omits them, and elsewhere it returns nothing or empty texts
// (spreadsheets.values.get, "Empty trailing rows and columns are omitted").
func (c *Sheets) below(ctx context.Context, t Table, height int) (count *int, whole bool) {
	first := len(t.Rows) + 2
	last := min(height, first+max(1, cellsBelow/len(t.Columns))-1)
	n := 0
	if last < first {
		return &n, true
	}
	ctx, cancel := context.WithTimeout(ctx, belowWithin)
	defer cancel()
	var read struct{ Values [][]any }
	path := t.cells(a1(t.Sheet, first, len(t.Columns), last))
	if err := c.wire.Read(ctx, path+"?majorDimension=ROWS&fields=values", &read); err != nil {
		return nil, true
	}
	for _, row := range read.Values {
		if slices.ContainsFunc(row, func(v any) bool { return v != nil && v != "" }) {
			n++
		}
	}
	return &n, last == height
}
