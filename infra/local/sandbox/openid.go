package sandbox

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"ringi/infra/local/sandbox/workspace"
)

// ClientID is the app's, with which people sign in to its pages.
const ClientID = "5130.8086"

const tokenLasts = 5 * time.Minute

// openID is Slack's part of "Sign in with Slack" (https://docs.slack.dev/authentication/sign-in-with-slack): a page where a
// person says who they are, as the sandbox knows no passwords, and the exchange of the code that follows.
type openID struct {
	sandbox *Sandbox
	secret  string // of the client
	codes   codes[grant]
}

// grant is what a code stands for.
type grant struct{ user, redirect, nonce string }

func (o *openID) routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /openid/connect/authorize", o.ask)
	mux.HandleFunc("GET /openid/connect/allow", o.allow)
	mux.HandleFunc("POST /api/openid.connect.token", o.token)
}

// refused says what a request to authorize lacks, nothing if it is fine.
func (o *openID) refused(q url.Values) string {
	switch redirect := q.Get("redirect_uri"); {
	case q.Get("client_id") != ClientID:
		return "Invalid client_id parameter"
	case q.Get("response_type") != "code":
		return "Invalid response_type parameter"
	case !strings.Contains(" "+q.Get("scope")+" ", " openid "):
		return "Invalid permissions requested"
	case !strings.HasPrefix(redirect, o.sandbox.endpoints().Self+"/console/"):
		return "redirect_uri did not match any configured URIs"
	}
	return ""
}

var signInPage = template.Must(template.New("").Parse(`<!doctype html>
<html lang="{{if .English}}en{{else}}ja{{end}}"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{{if .English}}Sign in{{else}}サインイン{{end}} · Slack sandbox</title><link rel="icon" href="/icon.svg" type="image/svg+xml"><link rel="stylesheet" href="/style.css"><link rel="stylesheet" href="/signin.css">
<main class="signin"><h1>{{if .English}}Who signs in?{{else}}だれとしてサインインしますか?{{end}}</h1>
<p>{{if .English}}This page plays Slack's sign-in: the sandbox has no passwords.{{else}}Slack のサインイン画面の代わりです。サンドボックスにパスワードはありません。{{end}}</p>
<ul>{{range .People}}<li><a href="/openid/connect/allow?{{$.Query}}&amp;user={{.ID}}"><b>{{.Name}}</b> <span>{{.Title}}</span></a></li>{{end}}</ul></main></html>
`))

func (o *openID) ask(w http.ResponseWriter, r *http.Request) {
	if why := o.refused(r.URL.Query()); why != "" {
		http.Error(w, why, http.StatusBadRequest)
		return
	}
	english := strings.HasPrefix(r.Header.Get("Accept-Language"), "en")
	var people []workspace.User
	for _, u := range o.sandbox.ws.Users() {
		if u.Bot {
			continue
		}
		if english && u.NameEN != "" {
			u.Name = u.NameEN
		}
		if english && u.TitleEN != "" {
			u.Title = u.TitleEN
		}
		people = append(people, u)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'")
	_ = signInPage.Execute(w, map[string]any{"English": english, "People": people, "Query": template.URL(r.URL.Query().Encode())})
}

func (o *openID) allow(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if why := o.refused(q); why != "" {
		http.Error(w, why, http.StatusBadRequest)
		return
	}
	u, err := o.sandbox.ws.User(q.Get("user"))
	if err != nil {
		http.Error(w, "there is no such person", http.StatusNotFound)
		return
	}
	code := o.codes.give(grant{user: u.ID, redirect: q.Get("redirect_uri"), nonce: q.Get("nonce")})
	back := url.Values{"code": {code}, "state": {q.Get("state")}}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (o *openID) token(w http.ResponseWriter, r *http.Request) {
	say := func(v map[string]any) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_ = json.NewEncoder(w).Encode(v)
	}
	refuse := func(code string) { say(map[string]any{"ok": false, "error": code}) }
	if r.ParseForm() != nil {
		refuse("invalid_form_data")
		return
	}
	g, ok := o.codes.take(r.PostForm.Get("code"))
	switch {
	case r.PostForm.Get("client_id") != ClientID:
		refuse("invalid_client_id")
	case r.PostForm.Get("client_secret") != o.secret:
		refuse("bad_client_secret")
	case !ok:
		refuse("invalid_code")
	case r.PostForm.Get("redirect_uri") != g.redirect:
		refuse("bad_redirect_uri")
	default:
		say(map[string]any{"ok": true, "access_token": "xoxp-" + rand.Text(), "token_type": "Bearer", "id_token": o.idToken(g)})
	}
}

// idToken is a JWT with the claims that Slack documents. Its signature is none: no one gets it but over the call above.
func (o *openID) idToken(g grant) string {
	u, _ := o.sandbox.ws.User(g.user) // it was there when the code was made, and nobody is ever removed
	now := o.sandbox.opts.Now()
	part := func(v any) string {
		b, _ := json.Marshal(v) // of strings and numbers
		return base64.RawURLEncoding.EncodeToString(b)
	}
	return part(map[string]any{"alg": "RS256", "typ": "JWT", "kid": "sandbox"}) + "." + part(map[string]any{
		"iss": "https://slack.com", "sub": u.ID, "aud": ClientID, "exp": now.Add(tokenLasts).Unix(), "iat": now.Unix(), "auth_time": now.Unix(),
		"nonce": g.nonce, "at_hash": "sandbox", "https://slack.com/team_id": u.TeamID, "https://slack.com/user_id": u.ID,
		"name": u.Name, "locale": u.Locale, "https://slack.com/team_name": workspace.Name,
	}) + "." + base64.RawURLEncoding.EncodeToString([]byte("sandbox"))
}
