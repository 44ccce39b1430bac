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
)

// ClientID is the OAuth client id of the app.
const ClientID = "5130.8086"

// codeLasts is how long an authorization code is valid.
const codeLasts = 10 * time.Minute

// consent is an OAuth page to which the app redirects a browser. The person chooses who they are, since the sandbox has
// no passwords. The browser takes a code back to the app, which exchanges the code for an answer.
type consent struct {
	sandbox *Sandbox
	ja, en  consentWords
	lacks   func(url.Values) string                // Slack's message for an invalid request, or ""
	may     func(webapi.User) bool                 // whether the page offers this person
	answer  func(user string, q url.Values) object // the app's answer in exchange for the code

	mu    sync.Mutex
	codes map[string]consented
}

type object = map[string]any

// consented is a person's consent until its code is exchanged.
type consented struct {
	user  string
	asked url.Values
	until time.Time
}

// consentWords has the page's texts in one language. If Scope is set, the page lists the requested scopes after About.
// No is the text of the link by which a person refuses; if it is empty, the page has no such link.
type consentWords struct {
	Lang, Title, Question, About, No string
	Scope                            bool
}

var consentPage = template.Must(template.New("").Parse(`<!doctype html>
<html lang="{{.Words.Lang}}"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{{.Words.Title}} · Slack sandbox</title><link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/style.css">
<main class="signin"><h1>{{.Words.Question}}</h1>
<p>{{.Words.About}}{{if .Words.Scope}} {{.Scope}}{{end}}</p>
<ul>{{range .People}}<li><a href="{{$.Allow}}&amp;user={{.ID}}"><b>{{.Name}}</b> <span>{{.Title}}</span></a></li>{{end}}
{{with .Words.No}}<li><a href="{{$.Allow}}">{{.}}</a></li>{{end}}</ul></main></html>
`))

// serve registers the pages below path and the Web API method that exchanges codes.
func (c *consent) serve(mux *http.ServeMux, path, method string) {
	c.codes = map[string]consented{}
	mux.HandleFunc("GET "+path+"/authorize", c.asked(c.ask))
	mux.HandleFunc("GET "+path+"/allow", c.asked(c.allow))
	mux.HandleFunc("POST /api/"+method, func(w http.ResponseWriter, r *http.Request) {
		answer := c.exchange(r)
		answer["ok"] = answer["error"] == nil
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_ = json.NewEncoder(w).Encode(answer)
	})
}

// asked refuses invalid requests and passes on the others.
func (c *consent) asked(serve func(http.ResponseWriter, *http.Request, url.Values)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		why := c.lacks(q)
		switch {
		case q.Get("client_id") != ClientID:
			why = "Invalid client_id parameter"
		case why == "" && !strings.HasPrefix(q.Get("redirect_uri"), c.sandbox.endpoints().Self+"/console/"):
			why = "redirect_uri did not match any configured URIs"
		}
		if why != "" {
			http.Error(w, why, http.StatusBadRequest)
			return
		}
		serve(w, r, q)
	}
}

func (c *consent) ask(w http.ResponseWriter, r *http.Request, q url.Values) {
	words := c.ja
	if strings.HasPrefix(r.Header.Get("Accept-Language"), "en") {
		words = c.en
	}
	var people []webapi.User
	for _, u := range c.sandbox.ws.Users() {
		if !c.may(u) {
			continue
		}
		if words.Lang == "en" {
			u.Name, u.Title = cmp.Or(u.NameEN, u.Name), cmp.Or(u.TitleEN, u.Title)
		}
		people = append(people, u)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'")
	allow := strings.TrimSuffix(r.URL.Path, "authorize") + "allow?" + q.Encode()
	_ = consentPage.Execute(w, object{"Words": words, "People": people, "Scope": q.Get("scope"),
		"Allow": template.URL(allow)})
}

func (c *consent) allow(w http.ResponseWriter, r *http.Request, q url.Values) {
	back := url.Values{"state": {q.Get("state")}}
	u, err := c.sandbox.ws.User(q.Get("user"))
	switch {
	case err != nil && c.ja.No == "":
		http.Error(w, "there is no such person", http.StatusNotFound)
		return
	case err != nil:
		back.Set("error", "access_denied")
	default:
		code := rand.Text()
		c.mu.Lock()
		c.codes[code] = consented{u.ID, q, c.sandbox.opts.Now().Add(codeLasts)}
		c.mu.Unlock()
		back.Set("code", code)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

// exchange answers the Web API call that exchanges a code. Each code works once.
func (c *consent) exchange(r *http.Request) object {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.ParseForm() != nil {
		return object{"error": "invalid_form_data"}
	}
	is, ok := c.codes[r.PostForm.Get("code")]
	delete(c.codes, r.PostForm.Get("code"))
	switch {
	case r.PostForm.Get("client_id") != ClientID:
		return object{"error": "invalid_client_id"}
	case r.PostForm.Get("client_secret") != c.sandbox.opts.ClientSecret:
		return object{"error": "bad_client_secret"}
	case !ok || !c.sandbox.opts.Now().Before(is.until):
		return object{"error": "invalid_code"}
	case r.PostForm.Get("redirect_uri") != is.asked.Get("redirect_uri"):
		return object{"error": "bad_redirect_uri"}
	}
	return c.answer(is.user, is.asked)
}

const tokenLasts = 5 * time.Minute

// signIn is the page "Sign in with Slack" (https://docs.slack.dev/authentication/sign-in-with-slack).
func (s *Sandbox) signIn() *consent {
	return &consent{
		sandbox: s,
		ja: consentWords{Lang: "ja", Title: "サインイン", Question: "誰としてサインインしますか?",
			About: "Slack のサインイン画面の代わりです。サンドボックスにパスワードはありません。"},
		en: consentWords{Lang: "en", Title: "Sign in", Question: "Who signs in?",
			About: "This page plays Slack's sign-in: the sandbox has no passwords."},
		lacks: func(q url.Values) string {
			switch {
			case q.Get("response_type") != "code":
				return "Invalid response_type parameter"
			case !strings.Contains(" "+q.Get("scope")+" ", " openid "):
				return "Invalid permissions requested"
			}
			return ""
		},
		may: func(u webapi.User) bool { return !u.Bot },
		answer: func(user string, q url.Values) object {
			return object{"access_token": "xoxp-" + rand.Text(), "token_type": "Bearer",
				"id_token": s.idToken(user, q.Get("nonce"))}
		},
	}
}

// idToken is a JWT with the claims that Slack documents. Its signature is a dummy: apps get the token directly in
// exchange for a code.
func (s *Sandbox) idToken(user, nonce string) string {
	u, _ := s.ws.User(user) // the user existed when the code was made, and users are never removed
	now := s.opts.Now()
	part := func(v any) string {
		b, _ := json.Marshal(v) // marshaling strings and numbers can't fail
		return base64.RawURLEncoding.EncodeToString(b)
	}
	return part(object{"alg": "RS256", "typ": "JWT", "kid": "sandbox"}) + "." + part(object{
		"iss": "https://slack.com", "sub": u.ID, "aud": ClientID, "exp": now.Add(tokenLasts).Unix(), "iat": now.Unix(),
		"auth_time": now.Unix(),
		"nonce":     nonce, "at_hash": "sandbox", "https://slack.com/team_id": u.TeamID, "https://slack.com/user_id": u.ID,
		"name": s.ws.Named(u.Name, u.NameEN), "locale": u.Locale, "https://slack.com/team_name": webapi.Name,
	}) + "." + base64.RawURLEncoding.EncodeToString([]byte("sandbox"))
}

// installs has the bot's token, which is valid until it is revoked.
type installs struct {
	mu      sync.Mutex
	token   string // empty while the app is not installed
	revoked []string
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

// install is the page that installs the app in the workspace
// (https://docs.slack.dev/authentication/installing-with-oauth), with the answer of
// https://docs.slack.dev/reference/methods/oauth.v2.access. The token stays the same until it is revoked; then the next
// installation makes a new one.
func (i *installs) install(s *Sandbox) *consent {
	return &consent{
		sandbox: s,
		ja: consentWords{Lang: "ja", Title: "Ringi のインストール", Question: "誰がこのワークスペースに Ringi をインストールしますか?",
			About: "Slack の画面の代わりです。Ringi が求める権限:", Scope: true, No: "キャンセル"},
		en: consentWords{Lang: "en", Title: "Install Ringi", Question: "Who installs Ringi in this workspace?",
			About: "This page plays Slack's. Ringi asks for:", Scope: true, No: "Cancel"},
		lacks: func(q url.Values) string {
			if q.Get("scope") == "" {
				return "No scopes requested"
			}
			return ""
		},
		may: func(u webapi.User) bool { return !u.Bot && !u.Restricted && u.TeamID == s.ws.TeamID() },
		answer: func(user string, q url.Values) object {
			i.mu.Lock()
			defer i.mu.Unlock()
			i.token = cmp.Or(i.token, "xoxb-local-"+rand.Text())
			return object{
				"access_token": i.token, "token_type": "bot", "scope": q.Get("scope"), "bot_user_id": webapi.Bot,
				"app_id": s.ws.AppID(),
				"team":   object{"id": s.ws.TeamID(), "name": webapi.Name}, "enterprise": nil,
				"authed_user": object{"id": user}, "is_enterprise_install": false,
			}
		},
	}
}
