package sandbox

import (
	"cmp"
	"crypto/rand"
	"net/url"
	"ringi/infra/local/sandbox/webapi"
	"slices"
	"sync"
)

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
				"access_token": i.token, "token_type": "bot", "scope": q.Get("scope"), "bot_user_id": webapi.Bot, "app_id": s.ws.AppID(),
				"team": object{"id": s.ws.TeamID(), "name": webapi.Name}, "enterprise": nil,
				"authed_user": object{"id": user}, "is_enterprise_install": false,
			}
		},
	}
}
