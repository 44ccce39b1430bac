// Package vendors stands in for freee HR, Google Sheets, GitHub and an MCP server. It has a small company's employees
// and attendance to read, a spreadsheet to write, a repository to begin with, rooms to book and suppliers to order
// from. It can be made to fail.
package vendors

import (
	"crypto/rand"
	"net/http"
	"sync/atomic"
	"time"
)

// Sheet is the id of the only spreadsheet.
const Sheet = "ringi-demo-sheet"

// Vendors stands in for all vendors. It keeps data in memory.
type Vendors struct {
	GitHub *GitHubServer
	Own    []Own // repositories of a person's that GitHub has, see Serve

	accounts map[string]*accounts // by provider
	tokens   map[string]string    // one access token for each provider
	staff    atomic.Pointer[[]employee]
	faults   *faults
	book     *book
	rooms    *Rooms
	now      func() time.Time

	roomsToken string
}

// New makes a company with 42 employees and an empty spreadsheet, with new tokens.
func New() *Vendors {
	v := &Vendors{tokens: map[string]string{}, faults: newFaults(), book: &book{}, rooms: NewRooms(), now: time.Now,
		roomsToken: "rooms-" + rand.Text()}
	v.staff.Store(new(staff()))
	v.accounts = map[string]*accounts{
		"freee":  newAccounts("freee", 6*time.Hour, true, v.now),
		"google": newAccounts("google", time.Hour, false, v.now),
		"rooms":  newAccounts("rooms", time.Hour, true, v.now),
	}
	v.GitHub = newGitHub(v)
	v.accounts["rooms"].resource = RoomsPath
	for provider := range v.accounts {
		v.tokens[provider] = v.Grant(provider).Access
	}
	return v
}

// Token returns an access token for a provider, or "" if there is no such provider.
func (v *Vendors) Token(provider string) string { return v.tokens[provider] }

// Handler serves freee at /freee/hr, GitHub's API at GitHubPath, Sheets at /sheets, a page of the spreadsheet at
// /sheets/<spreadsheet id>, pages of repositories below GitHubPages, and the MCP server at RoomsPath. The authorization servers are at /<provider>/authorize,
// /<provider>/token and /<provider>/revoke. That of the MCP server can also be discovered and registers clients.
func (v *Vendors) Handler() http.Handler {
	m := http.NewServeMux()
	for provider, tokens := range map[string]string{"freee": FreeeTokens, "google": GoogleTokens, "rooms": RoomsTokens} {
		a := v.accounts[provider]
		m.HandleFunc("GET /"+provider+"/authorize", a.authorize)
		m.HandleFunc("POST /"+provider+"/revoke", func(w http.ResponseWriter, r *http.Request) {
			v.faults.apply(Revoking(provider), w, r, a.revoke,
				func(w http.ResponseWriter, status int) { refuseToken(w, status, "temporarily_unavailable") })
		})
		m.HandleFunc("POST /"+provider+"/token", func(w http.ResponseWriter, r *http.Request) {
			v.faults.apply(tokens, w, r, a.token,
				func(w http.ResponseWriter, status int) { refuseToken(w, status, "temporarily_unavailable") })
		})
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
