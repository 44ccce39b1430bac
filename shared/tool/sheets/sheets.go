// Package sheets writes rows into Google spreadsheets. It writes one fixed range, so repeating a call changes nothing.
// Cells below or next to that range are kept, because they may be a person's. The result says how many rows are below.
package sheets

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"ringi/shared/explain"
	"ringi/shared/tool/wire"
	"ringi/shared/words/language"
)

// MaxCells is Google's limit for a spreadsheet. It counts the cells of all tabs, including empty ones.
const MaxCells = 10_000_000

// MaxCell is Google's limit for a cell, in characters. They are counted as Google's own editor does, in units of UTF-16.
const MaxCell = 50_000

// Client accesses Google Sheets for one tenant.
type Client struct{ wire wire.Client }

// New makes a client. base is the API's address without /v4.
func New(base string, tokens wire.Tokens, http wire.HTTP) *Client {
	return &Client{wire.Client{
		Provider: explain.Google, Base: strings.TrimRight(base, "/") + "/v4/spreadsheets", Tokens: tokens, HTTP: http,
		Explain: explainFailure,
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
func (c *Client) Write(ctx context.Context, t Table) (Written, error) {
	if !idForm.Get().MatchString(t.SpreadsheetID) {
		return Written{}, explain.Fail(explain.ProblemBadArguments, nil, "write_rows_to_google_sheet",
			wire.Short(t.SpreadsheetID)+" is no spreadsheet id")
	}
	values := t.values()
	if err := t.tooLong(values); err != nil {
		return Written{}, err
	}
	address, title, height, err := c.tab(ctx, t)
	if err != nil {
		return Written{}, err
	}
	t.Sheet = title
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
	path := "/" + url.PathEscape(t.SpreadsheetID) + "/values/" + url.PathEscape(at) + "?valueInputOption=RAW"
	if err := c.wire.Write(ctx, http.MethodPut, path, body, &done); err != nil {
		return Written{}, err
	}
	rows, whole := c.below(ctx, t, height)
	return Written{
		SpreadsheetID: t.SpreadsheetID, UpdatedRange: done.UpdatedRange, UpdatedRows: max(0, done.UpdatedRows-1),
		UpdatedCells: done.UpdatedCells, URL: address, RowsBelow: rows, MoreBelow: !whole,
	}, nil
}

// idForm is the form of a spreadsheet's id: letters, digits, hyphens and underscores, according to Google's guide on
// Sheets concepts. Any other character could change the address of the call.
var idForm = language.Regexp{Text: `^[A-Za-z0-9_-]{1,200}$`}

// explain reads Google's errors: {error: {code, message, status, details: [{reason}]}}, and in older answers errors:
// [{reason}]. A 403 may also mean that a quota is used up.
func explainFailure(status int, body []byte) wire.Refusal {
	type reasons []struct {
		Reason string `json:"reason"`
	}
	var e struct {
		Error struct {
			Message string  `json:"message"`
			Status  string  `json:"status"`
			Details reasons `json:"details"`
			Errors  reasons `json:"errors"`
		} `json:"error"`
	}
	_ = json.Unmarshal(body, &e) // an unreadable body has no message
	r := wire.Refusal{Said: e.Error.Message}
	for _, why := range append(e.Error.Details, e.Error.Errors...) {
		switch why.Reason {
		case "RATE_LIMIT_EXCEEDED", "RESOURCE_QUOTA_EXCEEDED", "rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded",
			"dailyLimitExceeded":
			r.Problem = explain.ProblemRateLimited
		}
	}
	switch {
	case e.Error.Status == "RESOURCE_EXHAUSTED":
		r.Problem = explain.ProblemRateLimited
	case r.Problem == "" && status == http.StatusForbidden && e.Error.Status == "PERMISSION_DENIED" && r.Said != "":
		r.Problem = explain.ProblemDenied
	}
	return r
}
