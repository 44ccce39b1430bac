package sandbox

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"ringi/infra/local/sandbox/webapi"
	"strings"
	"time"
)

const tokenLasts = 5 * time.Minute

// signIn is the page "Sign in with Slack" (https://docs.slack.dev/authentication/sign-in-with-slack).
func (s *Sandbox) signIn() *consent {
	return &consent{
		sandbox: s,
		ja: consentWords{Lang: "ja", Title: "サインイン", Question: "誰としてサインインしますか?",
			About: "Slack のサインイン画面の代わりです。サンドボックスにパスワードはありません。"},
		en: consentWords{Lang: "en", Title: "Sign in", Question: "Who signs in?", About: "This page plays Slack's sign-in: the sandbox has no passwords."},
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
			return object{"access_token": "xoxp-" + rand.Text(), "token_type": "Bearer", "id_token": s.idToken(user, q.Get("nonce"))}
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
		"iss": "https://slack.com", "sub": u.ID, "aud": ClientID, "exp": now.Add(tokenLasts).Unix(), "iat": now.Unix(), "auth_time": now.Unix(),
		"nonce": nonce, "at_hash": "sandbox", "https://slack.com/team_id": u.TeamID, "https://slack.com/user_id": u.ID,
		"name": u.Name, "locale": u.Locale, "https://slack.com/team_name": webapi.Name,
	}) + "." + base64.RawURLEncoding.EncodeToString([]byte("sandbox"))
}
