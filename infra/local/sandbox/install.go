package sandbox

import (
	"crypto/rand"
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"ringi/infra/local/sandbox/workspace"
)

// installs is Slack's part of installing the app in the workspace
// (https://docs.slack.dev/authentication/installing-with-oauth), and the bot's token, which ends when it is revoked.
type installs struct {
	sandbox *Sandbox

	mu      sync.Mutex
	token   string // the bot's; empty while the app is not installed
	revoked []string

	codes codes[installing]
}

// installing is what a code stands for.
type installing struct{ user, redirect, scope string }

func (i *installs) routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /oauth/v2/authorize", i.ask)
	mux.HandleFunc("GET /oauth/v2/allow", i.allow)
	mux.HandleFunc("POST /api/oauth.v2.access", i.access)
}

// check says why a call with a token is refused, nothing if it is the bot's.
func (i *installs) check(token string) string {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case token == "":
		return "not_authed"
	case token == i.token:
		return ""
	case slices.Contains(i.revoked, token):
		return "token_revoked"
	}
	return "invalid_auth"
}

// revoke ends the bot's token.
func (i *installs) revoke() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.revoked, i.token = append(i.revoked, i.token), ""
}

func (i *installs) refused(q url.Values) string {
	switch {
	case q.Get("client_id") != ClientID:
		return "Invalid client_id parameter"
	case q.Get("scope") == "":
		return "No scopes requested"
	case !strings.HasPrefix(q.Get("redirect_uri"), i.sandbox.endpoints().Self+"/console/"):
		return "redirect_uri did not match any configured URIs"
	}
	return ""
}

var installPage = template.Must(template.New("").Parse(`<!doctype html>
<html lang="{{if .English}}en{{else}}ja{{end}}"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{{if .English}}Install Ringi{{else}}Ringi のインストール{{end}} · Slack sandbox</title><link rel="icon" href="/icon.svg" type="image/svg+xml"><link rel="stylesheet" href="/style.css"><link rel="stylesheet" href="/signin.css">
<main class="signin"><h1>{{if .English}}Who installs Ringi in this workspace?{{else}}だれがこのワークスペースに Ringi を入れますか?{{end}}</h1>
<p>{{if .English}}This page plays Slack's. Ringi asks for: {{.Scope}}{{else}}Slack の画面の代わりです。Ringi が求める権限: {{.Scope}}{{end}}</p>
<ul>{{range .People}}<li><a href="/oauth/v2/allow?{{$.Query}}&amp;user={{.ID}}"><b>{{.Name}}</b></a></li>{{end}}
<li><a href="/oauth/v2/allow?{{.Query}}">{{if .English}}Cancel{{else}}キャンセル{{end}}</a></li></ul></main></html>
`))

func (i *installs) ask(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if why := i.refused(q); why != "" {
		http.Error(w, why, http.StatusBadRequest)
		return
	}
	english := strings.HasPrefix(r.Header.Get("Accept-Language"), "en")
	var people []workspace.User
	for _, u := range i.sandbox.ws.Users() {
		if u.Bot || u.Restricted || u.TeamID != i.sandbox.ws.TeamID() {
			continue
		}
		if english && u.NameEN != "" {
			u.Name = u.NameEN
		}
		people = append(people, u)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'")
	_ = installPage.Execute(w, map[string]any{"English": english, "People": people, "Scope": q.Get("scope"), "Query": template.URL(q.Encode())})
}

func (i *installs) allow(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if why := i.refused(q); why != "" {
		http.Error(w, why, http.StatusBadRequest)
		return
	}
	back := url.Values{"state": {q.Get("state")}}
	if u, err := i.sandbox.ws.User(q.Get("user")); err != nil {
		back.Set("error", "access_denied")
	} else {
		back.Set("code", i.codes.give(installing{user: u.ID, redirect: q.Get("redirect_uri"), scope: q.Get("scope")}))
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

// access answers as https://docs.slack.dev/reference/methods/oauth.v2.access has it. While the app is installed its token
// stays; after it was revoked there is a new one.
func (i *installs) access(w http.ResponseWriter, r *http.Request) {
	say := func(v map[string]any) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_ = json.NewEncoder(w).Encode(v)
	}
	refuse := func(code string) { say(map[string]any{"ok": false, "error": code}) }
	i.mu.Lock()
	defer i.mu.Unlock()
	g, ok := i.codes.take(r.PostFormValue("code"))
	switch {
	case r.PostFormValue("client_id") != ClientID:
		refuse("invalid_client_id")
	case r.PostFormValue("client_secret") != i.sandbox.opts.ClientSecret:
		refuse("bad_client_secret")
	case !ok:
		refuse("invalid_code")
	case r.PostFormValue("redirect_uri") != g.redirect:
		refuse("bad_redirect_uri")
	default:
		if i.token == "" {
			i.token = "xoxb-local-" + rand.Text()
		}
		say(map[string]any{
			"ok": true, "access_token": i.token, "token_type": "bot", "scope": g.scope, "bot_user_id": workspace.Bot, "app_id": i.sandbox.ws.AppID(),
			"team": map[string]any{"id": i.sandbox.ws.TeamID(), "name": workspace.Name}, "enterprise": nil,
			"authed_user": map[string]any{"id": g.user}, "is_enterprise_install": false,
		})
	}
}
