package slackapi

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/runtime/expect"
)

func at() time.Time { return time.Date(2026, 4, 18, 9, 0, 0, 0, time.UTC) }

// app is an app whose Slack has this address.
type app struct{ api string }

func (a app) Client(context.Context) (id, secret, api string, err error) {
	return "123.456", "s3cret", a.api, nil
}

// good returns the claims from https://docs.slack.dev/authentication/sign-in-with-slack, for the test's app.
func good() map[string]any {
	return map[string]any{
		"iss": "https://slack.com", "sub": "U0R7MFMJM", "aud": "123.456", "exp": at().Add(5 * time.Minute).Unix(),
		"iat": at().Unix(), "nonce": "n",
		"https://slack.com/user_id": "U0R7MFMJM", "https://slack.com/team_id": "T0R7GR", "name": "鈴木",
	}
}

func token(claims any) string {
	b, _ := json.Marshal(claims)
	return "e30." + base64.RawURLEncoding.EncodeToString(b) + ".c2ln"
}

func TestAPersonIsBelievedOnlyByTheirOwnToken(t *testing.T) {
	but := func(name string, value any) map[string]any {
		c := maps.Clone(good())
		c[name] = value
		return c
	}
	for name, tt := range map[string]struct {
		token string
		ok    bool
	}{
		"as Slack sends it":   {token(good()), true},
		"a list of audiences": {token(but("aud", []string{"123.456"})), true},
		"for another app":     {token(but("aud", "999.1")), false},
		"for two apps":        {token(but("aud", []string{"123.456", "999.1"})), false},
		"of another issuer":   {token(but("iss", "https://slack.com.evil.example")), false},
		"of another sign-in":  {token(but("nonce", "m")), false},
		"without a nonce":     {token(but("nonce", "")), false},
		"expired":             {token(but("exp", at().Add(-time.Hour).Unix())), false},
		"of nobody":           {token(but("https://slack.com/user_id", "")), false},
		"of no workspace":     {token(but("https://slack.com/team_id", "")), false},
		"no JWT":              {"x", false},
		"no base64":           {"a.*.c", false},
		"no JSON":             {"a.eA.c", false},
		"none":                {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			var sent url.Values
			s := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				r.ParseForm()
				sent = r.PostForm
				json.NewEncoder(w).Encode(map[string]any{"ok": true, "access_token": "xoxp-1", "token_type": "Bearer",
					"id_token": tt.token})
			}))
			x := &SignIn{App: app{s.URL + "/api/"}, HTTP: s.Client(), Now: at}
			p, err := x.Person(t.Context(), "code", "https://ringi.example/console/signin", "n")
			expect.Must(t, (err == nil) == tt.ok && (err == nil || errors.Is(err, ErrSignInRefused)), "%+v, %v", p, err)
			expect.That(t, !tt.ok || p == (SignedIn{User: "U0R7MFMJM", Team: "T0R7GR"}), "the person is %+v", p)
			expect.That(t, sent.Get("client_secret") == "s3cret" && sent.Get("code") == "code" &&
				sent.Get("redirect_uri") == "https://ringi.example/console/signin", "Slack was sent %v", sent)
		})
	}
}

func TestWhereABrowserIsSent(t *testing.T) {
	x := &SignIn{App: app{"https://slack.com/api/"}, Now: at}
	u := expect.Value(url.Parse(expect.Value(x.Address(t.Context(), "https://ringi.example/console/signin", "st",
		"no"))(t)))(t)
	q := u.Query()
	expect.That(t, u.Host == "slack.com" && u.Path == "/openid/connect/authorize" && q.Get("state") == "st" &&
		q.Get("nonce") == "no" && q.Get("scope") == "openid profile" && q.Get("response_type") == "code" &&
		q.Get("client_id") == "123.456", "it is %s", u)
}

func TestANameIsWhatPeopleSee(t *testing.T) {
	for name, tt := range map[string]struct {
		user slack.User
		want string
	}{
		"as it is": {slack.User{Name: "sato", Profile: slack.UserProfile{DisplayName: "佐藤 花子"}}, "佐藤 花子"},
		"with a sign that shows none": {slack.User{Name: "evil",
			Profile: slack.UserProfile{DisplayName: "佐藤\u200b 花子\u2060"}}, "佐藤 花子"},
		"that turns the rest around": {slack.User{Name: "evil", RealName: "\u202e鈴木\u2066"}, "鈴木"},
		"of several lines":           {slack.User{Name: "evil", RealName: "鈴木\n管理者\u2028x"}, "鈴木 管理者 x"},
		"that shows nothing": {slack.User{Name: "evil", RealName: "田中",
			Profile: slack.UserProfile{DisplayName: "\u3164\u200d"}}, "田中"},
	} {
		got := userOf(&tt.user).Name
		expect.That(t, got == tt.want, "%s: %q, want %q", name, got, tt.want)
	}
}

func TestASlackThatIsDownIsNoRefusal(t *testing.T) {
	for body, refused := range map[string]bool{`{"ok":false,"error":"invalid_code"}`: true, "": false, "<p>": false} {
		s := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if body == "" {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			w.Write([]byte(body))
		}))
		x := &SignIn{App: app{s.URL + "/api/"}, HTTP: s.Client(), Now: at}
		_, err := x.Person(t.Context(), "code", "r", "n")
		expect.That(t, err != nil && errors.Is(err, ErrSignInRefused) == refused, "%q: %v", body, err)
	}
}
