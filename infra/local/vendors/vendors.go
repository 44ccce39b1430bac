// Package vendors stands in for freee HR and Google Sheets: a small company's
// employees and attendance to read, a spreadsheet to write, faults on demand.
package vendors

import (
	"crypto/rand"
	"net/http"
	"strings"
	"time"
)

// Sheet is the spreadsheet that exists.
const Sheet = "ringi-demo-sheet"

// Vendors is both of them. What is written lives as long as it does.
type Vendors struct {
	freeeToken  string
	googleToken string
	staff       []employee
	faults      *faults
	book        *book
	now         func() time.Time
}

// New makes a company with 42 employees and an empty spreadsheet. Its tokens are its own.
func New() *Vendors {
	return &Vendors{
		freeeToken: "freee-" + rand.Text(), googleToken: "google-" + rand.Text(),
		staff: staff(), faults: newFaults(), book: &book{}, now: time.Now,
	}
}

// Token is what calls to a provider, freee or google, must carry; empty for any other.
func (v *Vendors) Token(provider string) string {
	return map[string]string{"freee": v.freeeToken, "google": v.googleToken}[provider]
}

// Handler serves freee below /freee/hr and Sheets below /sheets, and a page for
// people at /sheets/<spreadsheet id>.
func (v *Vendors) Handler() http.Handler {
	m := http.NewServeMux()
	const hr = "/freee/hr/api/v1"
	m.HandleFunc("GET "+hr+"/users/me", v.freee("", v.me))
	m.HandleFunc("GET "+hr+"/companies/{company}/employees", v.freee(listEmployees, v.employees))
	m.HandleFunc("GET "+hr+"/employees/{employee}/work_record_summaries/{year}/{month}", v.freee(listAttendance, v.summary))
	m.HandleFunc(hr+"/", v.freee("", func(w http.ResponseWriter, _ *http.Request) {
		freeeError(w, http.StatusNotFound, "指定されたパスは存在しません。")
	}))
	const books = "/sheets/v4/spreadsheets"
	m.HandleFunc("GET "+books+"/{id}", v.google("", v.spreadsheet))
	m.HandleFunc("POST "+books+"/{id}", v.google("", v.batchUpdate)) // {id}:batchUpdate
	m.HandleFunc("GET "+books+"/{id}/values/{range}", v.google("", v.readValues))
	m.HandleFunc("PUT "+books+"/{id}/values/{range}", v.google(writeRows, v.writeValues))
	m.HandleFunc("GET /sheets/{id}", v.page)
	return m
}

// bearer reports whether a request carries a token.
func bearer(r *http.Request, token string) bool {
	got, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && got == token
}
