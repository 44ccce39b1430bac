package vendors

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// maxBody is the maximum size of a request, in bytes.
const maxBody = 10 << 20

// google wraps a handler: it checks the token and the spreadsheet's id, and applies the tool's faults.
func (v *Vendors) google(tool string, do http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !v.accounts["google"].knows(r) {
			googleError(w, http.StatusUnauthorized, "Request had invalid authentication credentials.")
			return
		}
		id, _, _ := strings.Cut(r.PathValue("id"), ":")
		if id != Sheet {
			googleError(w, http.StatusNotFound, "Requested entity was not found.")
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		v.faults.apply(tool, w, r, do, func(w http.ResponseWriter, status int) {
			googleError(w, status, http.StatusText(status))
		})
	}
}

func googleError(w http.ResponseWriter, status int, message string) {
	kind := map[int]string{
		400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
		429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE",
	}[status]
	kind = cmp.Or(kind, "INTERNAL")
	answer(w, status, map[string]any{"error": map[string]any{"code": status, "message": message, "status": kind}})
}

func (v *Vendors) spreadsheet(w http.ResponseWriter, r *http.Request) {
	tabs := []any{}
	for i, t := range v.book.grids() {
		tabs = append(tabs, describe(i, t))
	}
	answer(w, http.StatusOK, map[string]any{"spreadsheetUrl": "http://" + r.Host + "/sheets/" + Sheet,
		"spreadsheetId": Sheet, "sheets": tabs})
}

// describe formats a tab for a spreadsheet and for the reply to addSheet.
func describe(index int, t tab) map[string]any {
	return map[string]any{"properties": map[string]any{
		"sheetId": t.id, "title": t.title, "index": index, "sheetType": "GRID",
		"gridProperties": map[string]any{"rowCount": t.height, "columnCount": t.width},
	}}
}

// sheetProperties has the properties of one tab in a request.
type sheetProperties struct {
	Properties struct {
		SheetID        int    `json:"sheetId,omitempty"`
		Title          string `json:"title,omitempty"`
		GridProperties struct {
			RowCount    int `json:"rowCount"`
			ColumnCount int `json:"columnCount"`
		} `json:"gridProperties"`
	} `json:"properties"`
	Fields string `json:"fields,omitempty"`
}

// batchUpdate creates or resizes a tab. It refuses other requests.
func (v *Vendors) batchUpdate(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Requests []struct {
			Add    *sheetProperties `json:"addSheet"`
			Update *sheetProperties `json:"updateSheetProperties"`
		} `json:"requests"`
	}
	if !strings.HasSuffix(r.PathValue("id"), ":batchUpdate") || json.NewDecoder(r.Body).Decode(&in) != nil ||
		len(in.Requests) != 1 {
		googleError(w, http.StatusBadRequest, "Invalid JSON payload received.")
		return
	}
	var err error
	kind, reply := "addSheet", map[string]any{}
	switch q := in.Requests[0]; {
	case q.Add != nil:
		p := q.Add.Properties
		if err = v.book.add(p.Title, p.GridProperties.RowCount, p.GridProperties.ColumnCount); err == nil {
			grids := v.book.grids()
			reply = map[string]any{"addSheet": describe(len(grids)-1, grids[len(grids)-1])}
		}
	case q.Update != nil && q.Update.Fields == "gridProperties(rowCount,columnCount)":
		kind = "updateSheetProperties"
		p := q.Update.Properties
		err = v.book.resize(p.SheetID, p.GridProperties.RowCount, p.GridProperties.ColumnCount)
	default:
		err = errors.New("No request set.")
	}
	if err != nil {
		googleError(w, http.StatusBadRequest, fmt.Sprintf("Invalid requests[0].%s: %s", kind, err))
		return
	}
	answer(w, http.StatusOK, map[string]any{"spreadsheetId": Sheet, "replies": []any{reply}})
}

func (v *Vendors) readValues(w http.ResponseWriter, r *http.Request) {
	a, err := parseArea(r.PathValue("range"))
	if err != nil {
		googleError(w, http.StatusBadRequest, err.Error())
		return
	}
	values, ok := v.book.get(a)
	if !ok {
		googleError(w, http.StatusBadRequest, "Unable to parse range: "+r.PathValue("range"))
		return
	}
	out := map[string]any{"range": r.PathValue("range"), "majorDimension": "ROWS"}
	if len(values) > 0 {
		out["values"] = values
	}
	answer(w, http.StatusOK, out)
}

func (v *Vendors) writeValues(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Range          string  `json:"range"`
		MajorDimension string  `json:"majorDimension"`
		Values         [][]any `json:"values"`
	}
	at := r.PathValue("range")
	a, err := parseArea(at)
	switch {
	case err != nil:
		googleError(w, http.StatusBadRequest, err.Error())
		return
	case r.URL.Query().Get("valueInputOption") != "RAW":
		googleError(w, http.StatusBadRequest, "'valueInputOption' is required but not specified")
		return
	case json.NewDecoder(r.Body).Decode(&in) != nil:
		googleError(w, http.StatusBadRequest, "Invalid JSON payload received.")
		return
	case in.Range != at || in.MajorDimension != "ROWS":
		googleError(w, http.StatusBadRequest, "Requested range and majorDimension do not match.")
		return
	}
	cells, err := v.book.put(a, in.Values)
	if err != nil {
		googleError(w, http.StatusBadRequest, err.Error())
		return
	}
	columns := 0
	for _, row := range in.Values {
		columns = max(columns, len(row))
	}
	answer(w, http.StatusOK, map[string]any{
		"spreadsheetId": Sheet, "updatedRange": at, "updatedRows": len(in.Values), "updatedColumns": columns,
		"updatedCells": cells,
	})
}

// The default size of a tab, and Google's limits: cells in all tabs, columns of one, and characters of a cell and a
// title.
const (
	defaultHeight, defaultWidth = 1000, 26
	maxCells                    = 10_000_000
	maxColumns                  = 18_278
	maxCell                     = 50_000
	maxTitle                    = 100
)
