package vendors

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// maxBody is how much of a request is read, in bytes.
const maxBody = 10 << 20

// google guards a handler: token, spreadsheet, faults.
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
		400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE",
	}[status]
	if kind == "" {
		kind = "INTERNAL"
	}
	answer(w, status, map[string]any{"error": map[string]any{"code": status, "message": message, "status": kind}})
}

func (v *Vendors) spreadsheet(w http.ResponseWriter, r *http.Request) {
	tabs := []any{}
	for _, title := range v.book.titles() {
		tabs = append(tabs, map[string]any{"properties": map[string]any{"title": title}})
	}
	answer(w, http.StatusOK, map[string]any{"spreadsheetUrl": "http://" + r.Host + "/sheets/" + Sheet, "sheets": tabs})
}

func (v *Vendors) batchUpdate(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Requests []struct {
			AddSheet struct {
				Properties struct {
					Title string `json:"title"`
				} `json:"properties"`
			} `json:"addSheet"`
		} `json:"requests"`
	}
	if !strings.HasSuffix(r.PathValue("id"), ":batchUpdate") || json.NewDecoder(r.Body).Decode(&in) != nil || len(in.Requests) != 1 {
		googleError(w, http.StatusBadRequest, "Invalid JSON payload received.")
		return
	}
	title := in.Requests[0].AddSheet.Properties.Title
	if !v.book.add(title) {
		googleError(w, http.StatusBadRequest, fmt.Sprintf("Invalid requests[0].addSheet: A sheet with the name %q already exists.", title))
		return
	}
	answer(w, http.StatusOK, map[string]any{"spreadsheetId": Sheet, "replies": []any{map[string]any{"addSheet": in.Requests[0].AddSheet}}})
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
	answer(w, http.StatusOK, map[string]any{"range": r.PathValue("range"), "majorDimension": "ROWS", "values": values})
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
		"spreadsheetId": Sheet, "updatedRange": at, "updatedRows": len(in.Values), "updatedColumns": columns, "updatedCells": cells,
	})
}
