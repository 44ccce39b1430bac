package vault_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/secret"
	"ringi/shared/secret/vault"
	"ringi/shared/slack/slackapi"
)

const clientSecret = "himitsu"

var app = vault.OAuthClient{ID: "app", Secret: clientSecret}

func server(t *testing.T, do http.HandlerFunc) (vault.OAuthProvider, *atomic.Int32) {
	t.Helper()
	posts := new(atomic.Int32)
	s := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		posts.Add(1)
		do(w, r)
	}))
	return vault.FreeeOAuth(s.URL + "/token"), posts
}

func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestRefreshSendsOneForm(t *testing.T) {
	var form url.Values
	var basic bool
	p, posts := server(t, func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		form = r.PostForm
		_, _, basic = r.BasicAuth()
		says(200, `{"access_token":"a2","token_type":"bearer","expires_in":21600,"refresh_token":"r2",
			"scope":"read write","company_id":"123","external_cid":"xyz","new":{"field":[1]}}`)(w, r)
	})
	got := expect.Value(p.Refresh(t.Context(), app, "r1"))(t)
	expect.That(t, got.Access == "a2" && got.Refresh == "r2" && got.CompanyID == "123" &&
		time.Until(got.ExpiresAt).Round(time.Hour) == 6*time.Hour,
		"%q %q %q %s", got.Access, got.Refresh, got.CompanyID, got.ExpiresAt)
	expect.That(t, form.Encode() == "client_id=app&client_secret=himitsu&grant_type=refresh_token&refresh_token=r1" &&
		!basic && posts.Load() == 1, "%d posts, basic %v: %s", posts.Load(), basic, form.Encode())
}

func TestWhatAnAnswerBrings(t *testing.T) {
	for body, want := range map[string]vault.Token{
		`{"access_token":"a","expires_in":60}`:           {Access: "a", Refresh: "r1"}, // Google's: the old one stays
		`{"access_token":"a","refresh_token":"r2"}`:      {Access: "a", Refresh: "r2"},
		`{"access_token":"a","company_id":1884310}`:      {Access: "a", Refresh: "r1", CompanyID: "1884310"},
		`{"access_token":"a","company_id":"1; drop"}`:    {Access: "a", Refresh: "r1"},
		`{"access_token":"a","company_id":{"id":"1"}}`:   {Access: "a", Refresh: "r1"},
		`{"access_token":"a","expires_in":"3600","x":0}`: {Access: "a", Refresh: "r1"},
	} {
		p, _ := server(t, says(200, body))
		got, err := p.Refresh(t.Context(), app, "r1")
		got.ExpiresAt = time.Time{}
		expect.That(t, err == nil && got == want, "%s: %q %q %q, %v", body, got.Access, got.Refresh, got.CompanyID, err)
	}
}

// TestFates: a failed exchange reports the token's state, and its error quotes nothing that was sent or received.
func TestFates(t *testing.T) {
	echo := `"error_description":"himitsu is not known"}`
	closed := expect.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	closed.Close()
	for name, test := range map[string]struct {
		do      http.HandlerFunc // nil: no server
		state   vault.TokenState
		problem explain.Problem
		wait    time.Duration
	}{
		"invalid_grant": {says(400, `{"error":"invalid_grant",`+echo), vault.TokenRefused, explain.ProblemUnauthorized, 0},
		"401, as freee says it": {says(401, `{"error":"invalid_grant",`+echo), vault.TokenRefused,
			explain.ProblemUnauthorized, 0},
		"401 without a word": {says(401, clientSecret), vault.TokenRefused, explain.ProblemUnauthorized, 0},
		"an error code of their own": {says(400, `{"error":"himitsu HIMITSU"}`), vault.TokenRefused,
			explain.ProblemUnauthorized, 0},
		"an error with 200": {says(200, `{"error":"invalid_grant"}`), vault.TokenRefused, explain.ProblemUnauthorized, 0},
		"403":               {says(403, clientSecret), vault.TokenUnspent, explain.ProblemForbidden, 0},
		"429": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "7")
			says(429, "")(w, r)
		}, vault.TokenUnspent, explain.ProblemRateLimited, 7 * time.Second},
		"500": {says(500, clientSecret), vault.TokenUnspent, explain.ProblemDown, 0},
		"302": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, vault.TokenUnspent, explain.ProblemRejected, 0},
		"nobody listens": {nil, vault.TokenUnspent, explain.ProblemUnreachable, 0},
		"cut off": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, vault.TokenUnclear,
			explain.ProblemLost, 0},
		"half an answer": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "900")
			says(200, `{"access_token":"himitsu`)(w, r)
		}, vault.TokenUnclear, explain.ProblemBadAnswer, 0},
		"no JSON":                   {says(200, "<html>himitsu"), vault.TokenUnclear, explain.ProblemBadAnswer, 0},
		"an answer without a token": {says(200, `{}`), vault.TokenUnclear, explain.ProblemBadAnswer, 0},
		"a token that is no text": {says(200, `{"access_token":{"himitsu":1}}`), vault.TokenUnclear, explain.ProblemBadAnswer,
			0},
		"a refusal that is half there": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "900")
			says(401, `{"err`)(w, r)
		}, vault.TokenRefused, explain.ProblemUnauthorized, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p, posts := vault.FreeeOAuth("http://"+closed.Addr().String()+"/token"), new(atomic.Int32)
			want := int32(0)
			if test.do != nil {
				p, posts = server(t, test.do)
				want = 1
			}
			_, err := p.Refresh(t.Context(), app, clientSecret)
			var e *vault.OAuthError
			var said *explain.CallError
			expect.That(t, errors.As(err, &e) && e.State == test.state && errors.As(err, &said) &&
				said.Problem == test.problem && (said.Outcome != explain.CallUnknown || e.State == vault.TokenUnclear) &&
				said.RetryAfter == test.wait, "%v, want %s %s", err, test.state, test.problem)
			expect.Is(t, posts.Load(), want, "sent (times)")
			s := fmt.Sprintf("%v %+v %#v", err, said, said.Args)
			expect.That(t, !strings.Contains(strings.ToLower(s), clientSecret), "the error says too much: %s", s)
		})
	}
}

// TestConsent runs a complete consent against a server that checks the requests.
func TestConsent(t *testing.T) {
	v := vendors.New()
	s := expect.Server(t, v.Handler())
	for _, p := range []vault.OAuthProvider{
		vault.FreeeOAuth(s.URL + "/freee/token"), vault.GoogleOAuth(s.URL + "/google/token"),
	} {
		t.Run(p.Name, func(t *testing.T) {
			c := v.Client(p.Name)
			const redirect = "http://127.0.0.1:1/callback"
			code := func() string {
				back := follow(t, p.Ask(c, redirect, "its state", verifier))
				expect.Is(t, back.Get("state"), "its state")
				return expect.Value(vault.ConsentCode(back))(t)
			}
			first := code()
			token, err := p.Exchange(t.Context(), c, redirect, first, verifier)
			expect.Must(t, err == nil && token.Access != "" && token.Refresh != "" &&
				(token.CompanyID != "") == (p.Name == "freee"), "%v", err)
			_, err = p.Refresh(t.Context(), c, token.Refresh)
			expect.That(t, err == nil, "the refresh token does not work: %v", err)
			var e *vault.OAuthError
			_, err = p.Exchange(t.Context(), c, redirect, first, verifier)
			expect.That(t, errors.As(err, &e) && e.State == vault.TokenRefused, "a code works twice: %v", err)
			_, err = p.Exchange(t.Context(), c, redirect, code(), strings.ToLower(verifier))
			expect.That(t, errors.As(err, &e) && e.State == vault.TokenRefused, "another's verifier: %v", err)
		})
	}
}

// verifier is what proves that the code is redeemed by whoever asked for it.
const verifier = "VERIFIER-of-at-least-43-characters-0123456789"

// follow opens an address as a browser does, and returns the parameters of the redirect.
func follow(t *testing.T, address string) url.Values {
	t.Helper()
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res := expect.Value(browser.Get(address))(t)
	res.Body.Close()
	back, err := res.Location()
	expect.Must(t, err == nil, "%d: %v", res.StatusCode, err)
	return back.Query()
}

func TestTheAddressOfConsent(t *testing.T) {
	address := vault.GoogleOAuth(vault.GoogleTokenURL).Ask(app, "http://127.0.0.1:8723/callback", "its state", verifier)
	q := expect.Value(url.Parse(address))(t).Query()
	for name, want := range map[string]string{
		"response_type": "code", "client_id": "app", "redirect_uri": "http://127.0.0.1:8723/callback", "state": "its state",
		"access_type": "offline",
		"prompt":      "consent", "code_challenge_method": "S256", "scope": "https://www.googleapis.com/auth/spreadsheets",
	} {
		expect.Is(t, q.Get(name), want, "%s", name)
	}
	expect.That(t, len(q.Get("code_challenge")) == 43 && !strings.Contains(address, verifier) &&
		!strings.Contains(address, app.Secret), "%s", address)
	expect.Has(t, vault.FreeeOAuth(vault.FreeeTokenURL).Ask(app, "http://x/", "its state", verifier),
		"prompt=select_company")
}

func TestAReturnThatIsNotFollowed(t *testing.T) {
	for name, back := range map[string]url.Values{
		"denied":             {"error": {"access_denied"}},
		"denied with a code": {"error": {"<script>"}, "code": {"c"}},
		"no code":            {},
	} {
		_, err := vault.ConsentCode(back)
		expect.That(t, errors.Is(err, vault.ErrDenied) && !strings.Contains(err.Error(), "<"), "%s: %v", name, err)
	}
}

var first, second = aggregate.TenantID("T0FIRST"), aggregate.TenantID("T0SECOND")

// workspaces are a Slack with bots of several workspaces, and the places where their tokens are stored.
type workspaces struct {
	mu    sync.Mutex
	teams map[string]string // by token
	calls []string          // method and token
	down  bool

	secret string            // the deployment's token
	rows   map[string]string // tenants' own
	reads  []string          // tenants whose row was read
	now    time.Time
	*slackapi.Client
}

func (w *workspaces) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	method, token := strings.TrimPrefix(r.URL.Path, "/api/"), r.FormValue("token")
	if token == "" {
		token = strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	w.calls = append(w.calls, method+" "+token)
	out.Header().Set("Content-Type", "application/json")
	switch team, ok := w.teams[token]; {
	case w.down && method == "auth.test":
		out.WriteHeader(http.StatusServiceUnavailable)
	case !ok:
		fmt.Fprint(out, `{"ok":false,"error":"invalid_auth"}`)
	case method == "auth.test":
		fmt.Fprintf(out, `{"ok":true,"team_id":%q}`, team)
	default:
		fmt.Fprintf(out, `{"ok":true,"user":{"id":"U1","team_id":%q}}`, team)
	}
}

type deployments struct {
	*workspaces
	address string
}

func (d deployments) Bot(context.Context) (string, string, error) {
	if d.secret == "" {
		return "", d.address, secret.ErrMissing
	}
	return d.secret, d.address, nil
}
func (d deployments) Refused(context.Context) bool { return false }

func start(t *testing.T) *workspaces {
	w := &workspaces{teams: map[string]string{"xoxb-1": "T0FIRST", "xoxb-2": "T0SECOND"}, secret: "xoxb-1",
		rows: map[string]string{second: "xoxb-2"}, now: time.Now()}
	server := expect.Server(t, w)
	keys := &vault.BotKeys{Deployment: deployments{w, server.URL + "/api/"}, Now: func() time.Time { return w.now },
		Sealed: func(_ context.Context, tenant string) (string, error) {
			w.reads = append(w.reads, tenant)
			if token, ok := w.rows[tenant]; ok {
				return token, nil
			}
			return "", tenancy.ErrNotConnected{Provider: tenancy.SlackProvider, Status: tenancy.Disconnected}
		}}
	w.Client = slackapi.With(keys, time.Minute)
	keys.Own = slackapi.HomeWorkspace{Slack: w.Client}.Own
	return w
}

// ask calls Slack for a tenant, and returns which calls were made with which token.
func (w *workspaces) ask(t *testing.T, tenant string) ([]string, error) {
	t.Helper()
	w.calls = nil
	_, err := w.Client.User(slackapi.For(t.Context(), tenant), "U1")
	return w.calls, err
}

func (w *workspaces) called(t *testing.T, tenant string, want ...string) {
	t.Helper()
	got, err := w.ask(t, tenant)
	expect.That(t, err == nil && slices.Equal(got, want), "called %q, %v; want %q", got, err, want)
}

func TestEachWorkspaceIsCalledWithItsOwnToken(t *testing.T) {
	w := start(t)
	w.called(t, first, "auth.test xoxb-1", "users.info xoxb-1")
	w.called(t, second, "users.info xoxb-2")
	w.called(t, first, "users.info xoxb-1")
	w.called(t, second, "users.info xoxb-2")
	w.called(t, "", "users.info xoxb-1")
	expect.That(t, slices.Equal(w.reads, []string{second}),
		"rows were read of %q: one workspace's calls need none, and another's one a minute", w.reads)
	expect.Is(t, expect.Value(w.Team(slackapi.For(t.Context(), second)))(t), "T0SECOND")
	if own, err := (slackapi.HomeWorkspace{Slack: w}).Own(slackapi.For(t.Context(), second), second); own || err != nil {
		t.Errorf("asked under another workspace's context, it says that one is the deployment's own: %v", err)
	}
}

func TestAWorkspaceWithoutATokenIsNeverCalledWithAnothers(t *testing.T) {
	w := start(t)
	stranger := aggregate.TenantID("T0STRANGER")
	for range 2 {
		calls, err := w.ask(t, stranger)
		expect.That(t, slackapi.Code(err) == slackapi.CodeNoToken &&
			!slices.ContainsFunc(calls, func(c string) bool { return strings.HasPrefix(c, "users.info") }), "%q, %v", calls, err)
	}
	w.called(t, second, "users.info xoxb-2")
	delete(w.rows, second) // disconnected; the cached token serves for a minute
	w.now = w.now.Add(time.Minute)
	calls, err := w.ask(t, second)
	expect.That(t, len(calls) == 0 && slackapi.Code(err) == slackapi.CodeNoToken, "%q, %v", calls, err)
}

func TestATokenThatWasReplacedIsReadOnceMore(t *testing.T) {
	w := start(t)
	w.called(t, second, "auth.test xoxb-1", "users.info xoxb-2")
	w.teams = map[string]string{"xoxb-1": "T0FIRST", "xoxb-3": "T0SECOND"}
	w.rows[second] = "xoxb-3"
	w.now = w.now.Add(10 * time.Second)
	w.called(t, second, "users.info xoxb-2", "users.info xoxb-3")
	delete(w.teams, "xoxb-3")
	w.now = w.now.Add(10 * time.Second)
	w.reads = nil
	for range 3 { // there is no new token: each call is made once, and the row is read once in five seconds
		calls, err := w.ask(t, second)
		expect.That(t, slackapi.Code(err) == "invalid_auth" && len(calls) == 1, "%q, %v", calls, err)
	}
	expect.Is(t, len(w.reads), 1, "the row was read (times)")
}

// While Slack doesn't say which workspace the deployment's token belongs to, workspaces with their own token use that.
// Other calls are not made and can be retried.
func TestWhoseTheTokenIsMayNotBeKnown(t *testing.T) {
	w := start(t)
	w.down = true
	w.called(t, second, "auth.test xoxb-1", "users.info xoxb-2")
	calls, err := w.ask(t, first)
	var refused slackapi.Refused
	expect.That(t, errors.As(err, &refused) && !refused.App && !refused.Permanent && len(calls) == 1, "%q, %v", calls, err)
	w.down = false
	w.called(t, first, "auth.test xoxb-1", "users.info xoxb-1")
	delete(w.teams, "xoxb-1") // our own workspace removed the app, and installed it again from the console
	w2 := start(t)
	w2.teams, w2.rows[first] = map[string]string{"xoxb-4": "T0FIRST"}, "xoxb-4"
	w2.called(t, first, "auth.test xoxb-1", "users.info xoxb-4")
	w2.secret = ""
	w2.called(t, first, "users.info xoxb-4")
}
