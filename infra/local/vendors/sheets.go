package vendors

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
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
		if err = v.Add(p.Title, p.GridProperties.RowCount, p.GridProperties.ColumnCount); err == nil {
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
	if values = rendered(values); len(values) > 0 {
		out["values"] = values
	}
	answer(w, http.StatusOK, out)
}

// rendered returns unformatted values as Google answers them: without empty rows and cells at the end.
func rendered(values [][]any) [][]any {
	out := [][]any{}
	for _, row := range values {
		for len(row) > 0 && row[len(row)-1] == "" {
			row = row[:len(row)-1]
		}
		out = append(out, row)
	}
	for len(out) > 0 && len(out[len(out)-1]) == 0 {
		out = out[:len(out)-1]
	}
	return out
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

// The default size of a tab, and Google's limits of the characters of a cell and a title.
const (
	defaultHeight, defaultWidth = 1000, 26
	maxCell                     = 50_000
	maxTitle                    = 100
)

// book is the spreadsheet. Its tabs are in the order of their creation.
type book struct {
	mu   sync.Mutex
	tabs []*tab
}

// tab is a grid of height × width cells. rows has the values that were written.
type tab struct {
	id     int
	title  string
	height int
	width  int
	rows   [][]any
}

// area is a rectangle of cells, counted from 0; right and foot are excluded.
type area struct {
	tab                    string
	left, top, right, foot int
}

var areaForm = regexp.MustCompile(`^'((?:[^']|'')+)'!([A-Z]{1,3})([1-9][0-9]{0,6}):([A-Z]{1,3})([1-9][0-9]{0,6})$`)

// parseArea reads a range in A1 notation with a quoted tab and both corners.
func parseArea(text string) (area, error) {
	m := areaForm.FindStringSubmatch(text)
	if m == nil {
		return area{}, fmt.Errorf("Unable to parse range: %s", text)
	}
	top, _ := strconv.Atoi(m[3])
	foot, _ := strconv.Atoi(m[5])
	a := area{tab: strings.ReplaceAll(m[1], "''", "'"), left: column(m[2]) - 1, top: top - 1, right: column(m[4]),
		foot: foot}
	if a.right <= a.left || a.foot <= a.top {
		return area{}, fmt.Errorf("Unable to parse range: %s", text)
	}
	return a, nil
}

// column returns the number of a column: A is 1, AA is 27.
func column(letters string) int {
	n := 0
	for _, r := range letters {
		n = n*26 + int(r-'A') + 1
	}
	return n
}

func (b *book) Tabs() []string {
	titles := []string{}
	for _, t := range b.grids() {
		titles = append(titles, t.title)
	}
	return titles
}

// grids returns the tabs without their values.
func (b *book) grids() []tab {
	b.mu.Lock()
	defer b.mu.Unlock()
	grids := []tab{}
	for _, t := range b.tabs {
		grids = append(grids, tab{id: t.id, title: t.title, height: t.height, width: t.width})
	}
	return grids
}

// find returns a tab, or nil. The case of a title doesn't count, neither for ranges nor for new tabs. The caller holds
// mu.
func (b *book) find(title string) *tab {
	if i := slices.IndexFunc(b.tabs, func(t *tab) bool { return strings.EqualFold(t.title, title) }); i >= 0 {
		return b.tabs[i]
	}
	return nil
}

// add creates a tab. A height or width of 0 means the default.
func (b *book) Add(title string, height, width int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if title == "" || b.find(title) != nil {
		return fmt.Errorf("A sheet with the name %q already exists. Please enter another name.", title)
	}
	if characters(title) > maxTitle {
		return fmt.Errorf("The sheet name cannot be greater than %d characters.", maxTitle)
	}
	b.tabs = append(b.tabs, &tab{id: len(b.tabs) * 1001, title: title, height: cmp.Or(height, defaultHeight),
		width: cmp.Or(width, defaultWidth)})
	return nil
}

// resize changes the size of a tab.
func (b *book) resize(id, height, width int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.tabs, func(t *tab) bool { return t.id == id })
	if i < 0 || height < 1 || width < 1 {
		return fmt.Errorf("No grid with id: %d", id)
	}
	b.tabs[i].height, b.tabs[i].width = height, width
	return nil
}

// characters counts a text's characters, as editors in JavaScript do.
func characters(text string) int { return len(utf16.Encode([]rune(text))) }

// put writes values into an area. It skips nil values.
func (b *book) put(a area, values [][]any) (cells int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.find(a.tab)
	if t == nil {
		return 0, fmt.Errorf("Unable to parse range: %s", a.tab)
	}
	if a.foot > t.height || a.right > t.width {
		return 0, fmt.Errorf("Range ('%s') exceeds grid limits. Max rows: %d, max columns: %d", a.tab, t.height, t.width)
	}
	if len(values) > a.foot-a.top {
		return 0, fmt.Errorf("Requested writing within range, but tried writing to row [%d]", a.foot+1)
	}
	for _, row := range values {
		if len(row) > a.right-a.left {
			return 0, fmt.Errorf("Requested writing within range, but tried writing to column [%d]", a.right+1)
		}
		for _, v := range row {
			if text, _ := v.(string); characters(text) > maxCell {
				return 0, fmt.Errorf("Your input contains more than the maximum of %d characters in a single cell.", maxCell)
			}
		}
	}
	for i, row := range values {
		for j, v := range row {
			if v != nil {
				t.set(a.top+i, a.left+j, v)
				cells++
			}
		}
	}
	return cells, nil
}

func (t *tab) set(row, col int, v any) {
	for len(t.rows) <= row {
		t.rows = append(t.rows, nil)
	}
	for len(t.rows[row]) <= col {
		t.rows[row] = append(t.rows[row], "")
	}
	t.rows[row][col] = v
}

// Rows returns a copy of a tab's values, with the title row, or nil if there is no such tab.
func (b *book) Rows(title string) [][]any {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.find(title)
	if t == nil {
		return nil
	}
	out := [][]any{}
	for _, r := range t.rows {
		out = append(out, slices.Clone(r))
	}
	return out
}

// get returns the values of an area, or false if there is no such tab.
func (b *book) get(a area) ([][]any, bool) {
	all := b.Rows(a.tab)
	if all == nil {
		return nil, false
	}
	out := [][]any{}
	for _, r := range all[min(a.top, len(all)):min(a.foot, len(all))] {
		out = append(out, r[min(a.left, len(r)):min(a.right, len(r))])
	}
	return out, true
}
