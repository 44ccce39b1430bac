package sheets

import (
	"context"
	"net/url"
	"time"
)

// How much is read below a table: at most so many cells, for at most so long.
const (
	cellsBelow  = 50_000
	belowWithin = 10 * time.Second
)

// below counts the rows that stand below a table in its columns; whole is false when
// the tab goes on below what was read. height is the tab's before the table was written.
// It returns nil when they can't be counted: what was written stands all the same.
// Rows without any value are not counted; Google leaves them out at the end, and says of
// those before it nothing or empty texts (spreadsheets.values.get, "Empty trailing rows
// and columns are omitted").
func (c *Client) below(ctx context.Context, t Table, height int) (count *int, whole bool) {
	first := len(t.Rows) + 2
	last := min(height, first+max(1, cellsBelow/len(t.Columns))-1)
	n := 0
	if last < first {
		return &n, true
	}
	ctx, cancel := context.WithTimeout(ctx, belowWithin)
	defer cancel()
	var read struct {
		Values [][]any `json:"values"`
	}
	path := "/" + url.PathEscape(t.SpreadsheetID) + "/values/" + url.PathEscape(a1(t.Sheet, first, len(t.Columns), last))
	if err := c.wire.Read(ctx, path+"?majorDimension=ROWS&fields=values", &read); err != nil {
		return nil, true
	}
	for _, row := range read.Values {
		if holdsAny(row) {
			n++
		}
	}
	return &n, last == height
}

// holdsAny reports whether a row has a value.
func holdsAny(row []any) bool {
	for _, v := range row {
		if v != nil && v != "" {
			return true
		}
	}
	return false
}
