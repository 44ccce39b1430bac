package sheets_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringi/infra/local/vendors"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool/sheets"
	"ringi/shared/tool/wire"
)

type tokens struct{}

func (tokens) Token(context.Context) (string, error)         { return "token", nil }
func (tokens) Renew(context.Context, string) (string, error) { return "", errors.New("no other") }
func (tokens) Refused(context.Context, string)               {}

// Requests and the answers in these tests have the names and types that Google publishes.
func TestRequestsAreAsGooglePublishesThem(t *testing.T) {
	api := expect.Value(vendors.Published("sheets"))(t)
	answers := map[string]map[string]any{
		"values": api.Example("ValueRange", map[string]any{"range": "a!A4:B9",
			"values": []any{[]any{"x"}, []any{}, []any{"", ""}, []any{"", 0}}}),
		http.MethodGet: api.Example("Spreadsheet", map[string]any{"spreadsheetUrl": "https://docs.example/x", "sheets": []any{
			map[string]any{"properties": map[string]any{"sheetId": 5, "title": "a chart", "sheetType": "OBJECT"}},
			map[string]any{"properties": map[string]any{"sheetId": 0, "title": "a",
				"gridProperties": map[string]any{"rowCount": 9, "columnCount": 1}}},
		}}),
		http.MethodPost: api.Example("BatchUpdateSpreadsheetResponse", map[string]any{"replies": []any{map[string]any{}}}),
		http.MethodPut: api.Example("UpdateValuesResponse", map[string]any{"updatedRange": "a!A1:B3", "updatedRows": 3,
			"updatedCells": 6, "updatedData": map[string]any{}}),
	}
	schemas := map[string]string{http.MethodPost: "BatchUpdateSpreadsheetRequest", http.MethodPut: "ValueRange"}
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.EscapedPath())
		if schema := schemas[r.Method]; schema != "" {
			var body any
			b, _ := io.ReadAll(r.Body)
			err := json.Unmarshal(b, &body)
			expect.That(t, err == nil, "%v: %s", err, b)
			for _, d := range api.Differences(schema, body) {
				t.Error(d)
			}
		}
		answer := r.Method
		if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/values/") {
			answer = "values"
		}
		_ = json.NewEncoder(w).Encode(answers[answer]) // it fails only if the client is gone
	}))
	defer s.Close()
	c := sheets.New(s.URL, tokens{}, wire.NewHTTP())
	for _, tab := range []string{"a", "a new one"} {
		got, err := c.Write(t.Context(), sheets.Table{SpreadsheetID: "1AbC_-", Sheet: tab,
			Columns: []sheets.Column{{Key: "n", Title: "N"}, {Key: "h", Title: "H"}}, Rows: []map[string]any{{"n": "x",
				"h": 1.5}, {"n": nil, "h": true}}})
		below := map[string]int{"a": 2}[tab]
		want := sheets.Written{SpreadsheetID: "1AbC_-", UpdatedRange: "a!A1:B3", UpdatedRows: 2, UpdatedCells: 6,
			URL: "https://docs.example/x", RowsBelow: &below}
		d := cmp.Diff(want, got)
		expect.That(t, err == nil && d == "", "%v %v", d, err)
	}
	want := "GET /v4/spreadsheets/1AbC_- POST /v4/spreadsheets/1AbC_-:batchUpdate PUT " +
		"/v4/spreadsheets/1AbC_-/values/%27a%27%21A1:B3 GET /v4/spreadsheets/1AbC_-/values/%27a%27%21A4:B9"
	expect.Is(t, strings.Join(asked[:4], " "), want, "asked")
}

// A spreadsheet's id is checked as a whole, so that nothing else gets into an address.
func TestOnlyAnIDNamesASpreadsheet(t *testing.T) {
	called := false
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	defer s.Close()
	for _, id := range []string{"", "..", "1AbC/../../other", "1AbC../../../other", "1AbC?x=", "1AbC:batchUpdate",
		"1AbC%2f", "１ＡｂＣ", strings.Repeat("a", 201)} {
		_, err := sheets.New(s.URL, tokens{}, wire.NewHTTP()).Write(t.Context(),
			sheets.Table{SpreadsheetID: id, Sheet: "a", Columns: []sheets.Column{{Key: "n", Title: "N"}}})
		var e *explain.CallError
		expect.That(t, errors.As(err, &e) && e.Outcome == explain.CallFailed &&
			e.Problem == explain.ProblemBadArguments && !called, "%q: %v, called: %t", id, err, called)
	}
}
