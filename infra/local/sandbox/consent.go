package sandbox

import (
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/words/language"
)

// ClientID is the OAuth client id of the app.
const ClientID = "5130.8086"

// consent is an OAuth page to which the app leads a browser. The person chooses who they are, since the sandbox has no
// passwords. The browser takes a code back to the app, which exchanges the code for an answer.
type consent struct {
	path, method           string // of the page, and the Web API method that exchanges codes
	title, question, about language.Spoken[string]
	refuse                 language.Spoken[string]                                // text of the link; nil: there is none
	scope                  string                                                 // must be asked for; empty: any
	may                    func(u webapi.User, team string) bool                  // whether the page offers this person
	answer                 func(s *Sandbox, user string, asked url.Values) object // in exchange for the code
}

type object = map[string]any

var consents = []consent{{ // https://docs.slack.dev/authentication/sign-in-with-slack
	path: "/openid/connect", method: "openid.connect.token", scope: "openid",
	title:    language.InEach("サインイン", "Sign in"),
	question: language.InEach("誰としてサインインしますか?", "Who signs in?"),
	about: language.InEach("Slack のサインイン画面の代わりです。サンドボックスにパスワードはありません。",
		"This page plays Slack's sign-in: the sandbox has no passwords."),
	may:    func(u webapi.User, _ string) bool { return !u.Bot },
	answer: (*Sandbox).signedIn,
}, { // https://docs.slack.dev/authentication/installing-with-oauth
	path: "/oauth/v2", method: "oauth.v2.access",
	title:    language.InEach("Ringi のインストール", "Install Ringi"),
	question: language.InEach("誰がこのワークスペースに Ringi をインストールしますか?", "Who installs Ringi in this workspace?"),
	about:    language.InEach("Slack の画面の代わりです。Ringi が求める権限:", "This page plays Slack's. Ringi asks for:"),
	refuse:   language.InEach("キャンセル", "Cancel"),
	may:      func(u webapi.User, team string) bool { return !u.Bot && !u.Restricted && u.TeamID == team },
	answer:   (*Sandbox).installed,
}}

var consentPage = template.Must(template.New("").Parse(`<!doctype html>
<html lang="{{.Lang}}"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{{.Title}} · Slack sandbox</title><link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/style.css">
<main class="signin"><h1>{{.Question}}</h1><p>{{.About}} {{if .Refuse}}{{.Scope}}{{end}}</p>
<ul>{{range .People}}<li><a href="{{$.Allow}}&amp;user={{.ID}}"><b>{{.Name}}</b> <span>{{.Title}}</span></a></li>{{end}}
{{with .Refuse}}<li><a href="{{$.Allow}}&amp;user=">{{.}}</a></li>{{end}}</ul></main></html>
`))

// installs has the codes of consents that wait to be exchanged, and the bot's token, which is valid until it is
// revoked.
type installs struct {
	mu      sync.Mutex
	codes   map[string]consented
	token   string // empty while the app is not installed
	revoked []string
}

// consented is a person's consent.
type consented struct {
	page, user string
	asked      url.Values
}

// serve registers the page and the Web API method that exchanges codes. Whoever is chosen on the page asks for it again
// with "user".
func (c *consent) serve(mux *http.ServeMux, s *Sandbox) {
	mux.HandleFunc("GET "+c.path+"/authorize", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if why := c.wrong(q, s.opts.Self); why != "" {
			http.Error(w, why, http.StatusBadRequest)
		} else if q.Has("user") {
			c.allow(s, w, r)
		} else {
			c.ask(s, w, r)
		}
	})
	mux.HandleFunc("POST /api/"+c.method, func(w http.ResponseWriter, r *http.Request) {
		answer := c.exchange(s, r)
		answer["ok"] = answer["error"] == nil
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_ = json.NewEncoder(w).Encode(answer)
	})
}

// wrong is Slack's message for an invalid request, or "".
func (c *consent) wrong(q url.Values, self string) string {
	switch {
	case q.Get("client_id") != ClientID:
		return "Invalid client_id parameter"
	case c.scope != "" && q.Get("response_type") != "code":
		return "Invalid response_type parameter"
	case q.Get("scope") == "", !strings.Contains(" "+q.Get("scope")+" ", c.scope):
		return "Invalid permissions requested"
	case !strings.HasPrefix(q.Get("redirect_uri"), self+"/console/"):
		return "redirect_uri did not match any configured URIs"
	}
	return ""
}

func (c *consent) ask(s *Sandbox, w http.ResponseWriter, r *http.Request) {
	lang := "ja"
	if strings.HasPrefix(r.Header.Get("Accept-Language"), "en") {
		lang = "en"
	}
	people := slices.DeleteFunc(s.Workspace.Users(), func(u webapi.User) bool { return !c.may(u, s.Workspace.TeamID()) })
	for i, u := range people {
		if lang == "en" {
			people[i].Name, people[i].Title = cmp.Or(u.NameEN, u.Name), cmp.Or(u.TitleEN, u.Title)
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'")
	said := object{"Lang": lang, "Title": c.title.In(lang), "Question": c.question.In(lang), "About": c.about.In(lang),
		"People": people, "Scope": r.URL.Query().Get("scope"),
		"Allow": template.URL(c.path + "/authorize?" + r.URL.Query().Encode())}
	if c.refuse != nil {
		said["Refuse"] = c.refuse.In(lang)
	}
	_ = consentPage.Execute(w, said) // a failure means that the browser has disconnected
}

// allow leads the browser back with a code, or with Slack's error where nobody was chosen.
func (c *consent) allow(s *Sandbox, w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back := url.Values{"state": {q.Get("state")}}
	if u, err := s.Workspace.User(q.Get("user")); err != nil {
		back.Set("error", "access_denied")
	} else {
		back.Set("code", rand.Text())
		s.installs.mu.Lock()
		s.installs.codes[back.Get("code")] = consented{c.path, u.ID, q}
		s.installs.mu.Unlock()
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

// exchange answers the Web API call that exchanges a code. Each code works once, for what was consented to.
func (c *consent) exchange(s *Sandbox, r *http.Request) object {
	code := r.PostFormValue("code")
	s.installs.mu.Lock()
	is, ok := s.installs.codes[code]
	delete(s.installs.codes, code)
	s.installs.mu.Unlock()
	switch {
	case r.PostFormValue("client_id") != ClientID:
		return object{"error": "invalid_client_id"}
	case r.PostFormValue("client_secret") != s.opts.ClientSecret:
		return object{"error": "bad_client_secret"}
	case !ok || is.page != c.path:
		return object{"error": "invalid_code"}
	case r.PostFormValue("redirect_uri") != is.asked.Get("redirect_uri"):
		return object{"error": "bad_redirect_uri"}
	}
	return c.answer(s, is.user, is.asked)
}

const tokenLasts = 5 * time.Minute

// signedIn answers with an id token, a JWT with the claims that Slack documents. Its signature is a dummy: apps get the
// token directly in exchange for a code.
func (s *Sandbox) signedIn(user string, asked url.Values) object {
	u, _ := s.Workspace.User(user) // the user existed when the code was made, and users are never removed
	now := s.opts.Now()
	part := func(v any) string {
		b, _ := json.Marshal(v) // marshaling strings and numbers can't fail
		return base64.RawURLEncoding.EncodeToString(b)
	}
	claims := object{
		"iss": "https://slack.com", "sub": u.ID, "aud": ClientID, "exp": now.Add(tokenLasts).Unix(), "iat": now.Unix(),
		"auth_time": now.Unix(), "nonce": asked.Get("nonce"), "at_hash": "sandbox", "https://slack.com/team_id": u.TeamID,
		"https://slack.com/user_id": u.ID, "https://slack.com/team_name": webapi.Name,
		"name": s.Workspace.Named(u.Name, u.NameEN), "locale": u.Locale,
	}
	return object{"access_token": "xoxp-" + rand.Text(), "token_type": "Bearer", "id_token": part(object{"alg": "RS256",
		"typ": "JWT", "kid": "sandbox"}) + "." + part(claims) + "." + part("sandbox")}
}

// installed answers as https://docs.slack.dev/reference/methods/oauth.v2.access. The token stays the same until it is
// revoked; then the next installation makes a new one.
func (s *Sandbox) installed(user string, asked url.Values) object {
	s.installs.mu.Lock()
	defer s.installs.mu.Unlock()
	s.installs.token = cmp.Or(s.installs.token, "xoxb-local-"+rand.Text())
	return object{
		"access_token": s.installs.token, "token_type": "bot", "scope": asked.Get("scope"), "bot_user_id": webapi.Bot,
		"app_id": s.Workspace.AppID(), "team": object{"id": s.Workspace.TeamID(), "name": webapi.Name}, "enterprise": nil,
		"authed_user": object{"id": user}, "is_enterprise_install": false,
	}
}

// check returns Slack's error code for a token, or "" for the bot's token.
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

func (i *installs) revoke() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.revoked, i.token = append(i.revoked, i.token), ""
}
