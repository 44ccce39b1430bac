package task

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/words/legible"
)

const (
	mostSaved = 3
	maxSaved  = 20 // characters of a name
)

// filterCookie names the cookie of a viewer's filters.
func filterCookie(v *web.Viewer) string {
	return "ringi-approvals-" + aggregate.HashOf(v.Tenant + "/" + v.User)[:16]
}

// savedFilters returns the filters that the viewer gave names, in their order. They are kept in the viewer's browser
// alone, where nobody else who signs in there sees them.
func savedFilters(r *http.Request, v *web.Viewer) (out []web.View) {
	kept, _ := base64.RawURLEncoding.DecodeString(web.CookieOf(r, filterCookie(v)))
	for line := range strings.Lines(string(kept)) {
		name, query, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		q, err := url.ParseQuery(query)
		f, bad := readApprovalFilter(q)
		name = savedName(name)
		if err == nil && len(bad) == 0 && name != "" && len(out) < mostSaved {
			path := f.at("")
			out = append(out, web.View{Path: path, Text: name, Here: path == r.URL.RequestURI()})
		}
	}
	return out
}

// savedName returns a name as it is kept; empty: it is none.
func savedName(name string) string {
	return legible.First(strings.Join(strings.Fields(legible.Visible(name)), " "), maxSaved)
}

// saves returns the query by which the filter may be saved, "" if it is no filter or one of those saved.
func (f approvalFilter) saves(saved []web.View) string {
	at := f.at("")
	here := slices.ContainsFunc(saved, func(s web.View) bool { return s.Path == at })
	if _, query, _ := strings.Cut(at, "?"); !here && (f.Narrows() || f.Sort != "") {
		return query
	}
	return ""
}

// saveFilter keeps a filter by its name, in the place of one with the same name, or forgets it.
func (c *Pages) saveFilter(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	name, forget := savedName(r.PostFormValue("name")), savedName(r.PostFormValue("forget"))
	of := func(s web.View) bool { return s.Text == name || s.Text == forget }
	all := slices.DeleteFunc(savedFilters(r, v), of)
	to := approvalsPath
	if q, err := url.ParseQuery(r.PostFormValue("query")); err == nil && name != "" {
		if f, _ := readApprovalFilter(q); f != (approvalFilter{}) {
			to = f.at("")
			all = append(all, web.View{Path: to, Text: name})
		}
	}
	var kept strings.Builder
	for _, s := range all[max(0, len(all)-mostSaved):] {
		_, query, _ := strings.Cut(s.Path, "?")
		kept.WriteString(s.Text + "\t" + query + "\n")
	}
	value := base64.RawURLEncoding.EncodeToString([]byte(kept.String()))
	web.SetCookie(w, r, filterCookie(v), value, 365*24*time.Hour)
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}
