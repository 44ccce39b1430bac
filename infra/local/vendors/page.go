package vendors

import (
	_ "embed"
	"html/template"
	"net/http"
	"strings"
)

//go:embed page.html
var pageText string

// page shows the spreadsheet, with the newest tab first.
func (v *Vendors) page(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("id") != Sheet {
		http.NotFound(w, r)
		return
	}
	type view struct {
		Title string
		Head  []any
		Rows  [][]any
	}
	tabs := []view{}
	titles := v.book.titles()
	for i := len(titles) - 1; i >= 0; i-- {
		t := view{Title: titles[i]}
		if rows := v.book.rows(titles[i]); len(rows) > 0 {
			t.Head, t.Rows = rows[0], rows[1:]
		}
		tabs = append(tabs, t)
	}
	page, err := template.New("page").Funcs(template.FuncMap{"kind": kind}).Parse(pageText)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	_ = page.Execute(w, map[string]any{"ID": Sheet, "Tabs": tabs}) // a failure means that the client has disconnected
}

// kind returns the CSS class of a cell: numbers are aligned to the right, and flags stand out.
func kind(v any) string {
	switch v := v.(type) {
	case float64:
		return "n"
	case string:
		if strings.HasPrefix(v, "> ") || strings.HasPrefix(v, "≥ ") {
			return "flag"
		}
	}
	return ""
}
