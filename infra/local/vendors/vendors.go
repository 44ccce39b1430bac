// Package vendors stands in for freee HR, Google Sheets, GitHub and an MCP server. It has a small company's employees
// and attendance to read, a spreadsheet to write, a repository to begin with, rooms to book and suppliers to order
// from. It can be made to fail.
package vendors

import (
	"bytes"
	"crypto/rand"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// Sheet is the id of the only spreadsheet, and its name.
const Sheet = "ringi-demo-sheet"

// Vendors stands in for all vendors. It keeps data in memory.
type Vendors struct {
	GitHub     *GitHubServer
	Rooms      *Rooms // the MCP server that RoomsPath serves
	RoomsToken string // the bearer token that it accepts
	*book

	accounts map[string]*accounts // by provider
	staff    atomic.Pointer[[]employee]
	faults   *faults
	english  atomic.Bool // names are in English
}

// New makes a company with 42 employees and an empty spreadsheet, with new tokens.
func New() *Vendors {
	v := &Vendors{faults: &faults{of: map[string]*fault{}}, book: &book{}, Rooms: NewRooms(),
		RoomsToken: "rooms-" + rand.Text()}
	v.staff.Store(new(staff()))
	v.Rooms.named = v.named
	v.accounts = map[string]*accounts{
		"freee":  newAccounts("freee", 6*time.Hour, true),
		"google": newAccounts("google", time.Hour, false),
		"rooms":  newAccounts("rooms", time.Hour, true),
	}
	v.GitHub = newGitHub(v)
	v.accounts["rooms"].resource = RoomsPath
	return v
}

// Speak sets the language in which people, departments, positions and rooms are named, ja or en.
func (v *Vendors) Speak(language string) { v.english.Store(language == "en") }

func (v *Vendors) named(ja, en string) string {
	if v.english.Load() && en != "" {
		return en
	}
	return ja
}

// Handler serves freee at /freee/hr, GitHub's API at GitHubPath, Sheets at /sheets, a page of the spreadsheet at
// /sheets/<spreadsheet id>, pages of repositories below GitHubPages, and the MCP server at RoomsPath. The authorization
// servers are at /<provider>/authorize, /<provider>/token and /<provider>/revoke. That of the MCP server can also be
// discovered and registers clients.
func (v *Vendors) Handler() http.Handler {
	m := http.NewServeMux()
	for provider, a := range v.accounts {
		m.HandleFunc("GET /"+provider+"/authorize", a.authorize)
		for name, do := range map[string]http.HandlerFunc{"token": a.token, "revoke": a.revoke} {
			m.HandleFunc("POST /"+provider+"/"+name, func(w http.ResponseWriter, r *http.Request) {
				v.faults.apply(provider+"_"+name, w, r, do,
					func(w http.ResponseWriter, status int) { refuseToken(w, status, "temporarily_unavailable") })
			})
		}
	}
	v.accounts["rooms"].discoverable(m)
	const hr = "/freee/hr/api/v1"
	for _, one := range freeeRoutes {
		m.HandleFunc("GET "+hr+one.path,
			v.freee(one.tool, func(w http.ResponseWriter, r *http.Request) { one.answer(v, w, r) }))
	}
	m.HandleFunc(hr+"/", v.freee("", func(w http.ResponseWriter, _ *http.Request) {
		freeeError(w, http.StatusNotFound, "指定されたパスは存在しません。")
	}))
	const books = "/sheets/v4/spreadsheets"
	m.HandleFunc("GET "+books+"/{id}", v.google("", v.spreadsheet))
	m.HandleFunc("POST "+books+"/{id}", v.google("", v.batchUpdate)) // {id}:batchUpdate
	m.HandleFunc("GET "+books+"/{id}/values/{range}", v.google("", v.readValues))
	m.HandleFunc("PUT "+books+"/{id}/values/{range}", v.google(writeRows, v.writeValues))
	m.HandleFunc("GET /sheets/{id}", v.page)
	m.HandleFunc(RoomsPath, v.meetings)
	m.HandleFunc("GET "+GitHubPages+"{owner}/{name}/pull/{number}", v.pullPage)
	m.HandleFunc("GET "+GitHubPages+"{owner}/{name}/tree/{tree...}", v.treePage)
	m.Handle(GitHubPath+"/", http.StripPrefix(GitHubPath, v.GitHub.Handler()))
	return m
}

const writeRows = "write_rows_to_google_sheet"

// Tools returns the names of the tools that Fail can make fail.
func Tools() (names []string) {
	for _, one := range freeeRoutes {
		if one.tool != "" {
			names = append(names, one.tool)
		}
	}
	return append(names, writeRows, listRooms, BookRoom)
}

// faults are what calls of tools meet, by tool.
type faults struct {
	mu sync.Mutex
	of map[string]*fault
}

type fault struct {
	status int // that calls get without any effect; 0: none
	hang   hanging
	lost   int // the part of the next answer that is lost, half or all of it; 0: none
	calls  int
}

const half, all = 1, 2

// hanging is how long calls wait. Closing over ends the wait early.
type hanging struct {
	d    time.Duration
	over chan struct{}
}

// change changes what a tool's calls meet, and returns what it was before.
func (f *faults) change(tool string, how func(*fault)) fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of[tool] == nil {
		f.of[tool] = &fault{}
	}
	before := *f.of[tool]
	how(f.of[tool])
	return before
}

// Fail makes a tool's calls return an HTTP status without any effect, until it is switched off.
func (v *Vendors) Fail(tool string, status int, on bool) {
	v.faults.change(tool, func(x *fault) { x.status = map[bool]int{true: status}[on] })
}

// Hang delays a tool's calls before they are handled. 0 ends the delay, also for calls that are waiting.
func (v *Vendors) Hang(tool string, d time.Duration) {
	v.faults.change(tool, func(x *fault) {
		if x.hang.over != nil {
			close(x.hang.over)
		}
		if x.hang = (hanging{}); d > 0 {
			x.hang = hanging{d, make(chan struct{})}
		}
	})
}

// Drop handles a tool's next call and closes the connection without an answer.
func (v *Vendors) Drop(tool string) { v.faults.change(tool, func(x *fault) { x.lost = all }) }

// CutAnswer handles a tool's next call and closes the connection in the middle of the answer.
func (v *Vendors) CutAnswer(tool string) { v.faults.change(tool, func(x *fault) { x.lost = half }) }

// Calls counts the HTTP requests for a tool, including failed ones. One call of list_attendance makes a request per
// employee.
func (v *Vendors) Calls(tool string) int { return v.faults.change(tool, func(*fault) {}).calls }

// apply handles a call with the faults of its tool. refuse writes an error in the vendor's format.
func (f *faults) apply(tool string, w http.ResponseWriter, r *http.Request, do http.HandlerFunc,
	refuse func(w http.ResponseWriter, status int)) {
	if tool == "" {
		do(w, r)
		return
	}
	x := f.change(tool, func(x *fault) { x.calls, x.lost = x.calls+1, 0 })
	if x.hang.over != nil {
		// The server only notices that the client disconnects once it has read the body.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		select {
		case <-time.After(x.hang.d):
		case <-x.hang.over:
		case <-r.Context().Done():
			return
		}
	}
	switch {
	case x.status != 0:
		if x.status == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "1")
		}
		refuse(w, x.status)
	case x.lost != 0:
		done := httptest.NewRecorder()
		do(done, r)
		if x.lost == half {
			maps.Copy(w.Header(), done.Header())
			w.Header().Set("Content-Length", strconv.Itoa(done.Body.Len()))
			w.WriteHeader(done.Code)
			_, _ = w.Write(done.Body.Bytes()[:done.Body.Len()/2]) // a failure means that the client has disconnected
			_ = http.NewResponseController(w).Flush()
		}
		panic(http.ErrAbortHandler) // closes the connection
	default:
		do(w, r)
	}
}

//go:embed page.html
var pageText string

var sheetPage = template.Must(template.New("page").Funcs(template.FuncMap{"kind": kind}).Parse(pageText))

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
	for _, title := range slices.Backward(v.Tabs()) {
		t := view{Title: title}
		if rows := v.Rows(title); len(rows) > 0 {
			t.Head, t.Rows = rows[0], rows[1:]
		}
		tabs = append(tabs, t)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	data := map[string]any{"Tabs": tabs, "Lang": v.named("ja", "en"), "Name": Sheet,
		"About": v.named("Google Sheets の代わりのページです", "a stand-in for Google Sheets"),
		"Empty": v.named("まだ何も書き込まれていません。", "Nothing has been written yet.")}
	_ = sheetPage.Execute(w, data) // a failure means that the client has disconnected
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

// Put writes values into an area in A1 notation with both corners, as a person would.
func (v *Vendors) Put(area string, values [][]any) error {
	a, err := parseArea(area)
	if err == nil {
		_, err = v.book.put(a, values)
	}
	return err
}

//go:embed *.json
var files embed.FS

// PublishedAPI has the schemas that a vendor publishes, as $defs. Members that are not published are refused.
type PublishedAPI struct{ *jsonschema.Schema }

const defs = "#/$defs/"

// Published reads the excerpt of a vendor: freee, github, mcp, sheets or slack.
func Published(vendor string) (PublishedAPI, error) {
	a := PublishedAPI{new(jsonschema.Schema)}
	text, err := files.ReadFile(vendor + ".json")
	if err == nil {
		err = json.Unmarshal(text, a.Schema)
	}
	if err != nil {
		return PublishedAPI{}, fmt.Errorf("read what %s publishes: %w", vendor, err)
	}
	return a, nil
}

// Differences says how decoded JSON differs from a schema.
func (a PublishedAPI) Differences(schema string, v any) []string {
	form, err := (&jsonschema.Schema{Ref: defs + schema, Defs: a.Defs}).Resolve(nil)
	if err == nil {
		err = form.Validate(v)
	}
	if err != nil {
		return []string{err.Error()}
	}
	return nil
}

// Example returns a value made of the published examples. A member without an example gets the smallest value of its
// type. over replaces top-level members.
func (a PublishedAPI) Example(schema string, over map[string]any) map[string]any {
	out := a.members(a.Defs[schema])
	maps.Copy(out, over)
	return out
}

func (a PublishedAPI) members(s *jsonschema.Schema) map[string]any {
	out := map[string]any{}
	for name, p := range s.Properties {
		out[name] = a.example(p)
	}
	return out
}

func (a PublishedAPI) example(s *jsonschema.Schema) any {
	kind := s.Type
	if s.Types != nil { // the other one is null
		kind = s.Types[0]
	}
	switch {
	case len(s.Examples) > 0:
		return s.Examples[0]
	case s.Ref != "":
		return a.Example(strings.TrimPrefix(s.Ref, defs), nil)
	case s.AnyOf != nil: // the other one is null
		return a.example(s.AnyOf[0])
	case kind == "array" && s.Items != nil:
		return []any{a.example(s.Items)}
	case kind == "array":
		return []any{}
	case kind == "object":
		return a.members(s)
	case s.Types != nil:
		return nil
	}
	return map[string]any{"string": "", "integer": 1.0, "number": 0.0, "boolean": false}[kind]
}
