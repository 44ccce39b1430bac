package sheets

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"ringi/shared/tool"
)

// tab makes the tab if it is missing and returns the address at which people find
// the spreadsheet. When making it has an unknown outcome, the call as a whole has
// failed: no row was written, and the next call finds the tab.
func (c *Client) tab(ctx context.Context, t Table) (address string, err error) {
	var s struct {
		SpreadsheetURL string `json:"spreadsheetUrl"`
		Sheets         []struct {
			Properties struct {
				Title string `json:"title"`
			} `json:"properties"`
		} `json:"sheets"`
	}
	path := "/" + url.PathEscape(t.SpreadsheetID)
	if err := c.wire.Read(ctx, path+"?fields=spreadsheetUrl,sheets.properties.title", &s); err != nil {
		return "", err
	}
	for _, sheet := range s.Sheets {
		if sheet.Properties.Title == t.Sheet {
			return s.SpreadsheetURL, nil
		}
	}
	add := map[string]any{"requests": []any{map[string]any{"addSheet": map[string]any{"properties": map[string]any{"title": t.Sheet}}}}}
	var done struct{}
	err = c.wire.Write(ctx, http.MethodPost, path+":batchUpdate", add, &done)
	if e := (*tool.Error)(nil); errors.As(err, &e) {
		e.Outcome = tool.Failed
	}
	return s.SpreadsheetURL, err
}

// values are the table's rows as the API takes them, the titles first.
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

// cell is a value as a cell holds it. A null would leave the old value standing.
func cell(v any) any {
	switch v := v.(type) {
	case nil:
		return ""
	case string, bool, float64, int:
		return v
	case interface{ String() string }: // json.Number
		if f, err := strconv.ParseFloat(v.String(), 64); err == nil {
			return f
		}
	}
	return fmt.Sprint(v)
}

// a1 is the range from A1 over columns and rows, in A1 notation.
func a1(sheet string, columns, rows int) string {
	return fmt.Sprintf("'%s'!A1:%s%d", strings.ReplaceAll(sheet, "'", "''"), letters(columns), rows)
}

// letters names a column: 1 is A, 27 is AA.
func letters(n int) string {
	if n == 0 {
		return ""
	}
	n--
	return letters(n/26) + string(rune('A'+n%26))
}
