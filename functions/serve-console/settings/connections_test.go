package settings_test

import (
	"context"
	"encoding/json"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/kms"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/settings"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/outbound"
	"ringi/shared/secret/vault"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// connecting is a world with vendors.
type connecting struct {
	*consoletest.World
	vendors *vendors.Vendors
	at      string // where they are
}

func newConnecting(t *testing.T, db *storetest.Server) *connecting {
	t.Helper()
	w := &connecting{World: consoletest.New(t, db), vendors: vendors.New()}
	server := expect.Server(t, w.vendors.Handler())
	w.at = server.URL
	made := expect.Value(kms.NewFromConfig(db.Config).CreateKey(t.Context(), &kms.CreateKeyInput{}))(t)
	held := vault.New(w.Store, vault.EnvelopeAt(db.Config, *made.KeyMetadata.Arn),
		vault.FreeeOAuth(w.at+"/freee/token"), vault.GoogleOAuth(w.at+"/google/token"))
	out := outbound.Allowing(strings.TrimPrefix(w.at, "http://")).Client()
	held.Outbound, held.Now = out.Transport, w.Now
	w.Console.Connect = settings.Connections{Vault: held, Outbound: out,
		Bot: func(context.Context, string) (string, error) { return "xoxb-first", nil }}
	return w
}

func (w *connecting) register(b *consoletest.Browser, provider string) {
	w.T.Helper()
	c := w.vendors.Client(provider)
	if a := b.Post("/console/integrations/client", url.Values{"provider": {provider}, "client_id": {c.ID},
		"client_secret": {c.Secret}}); !strings.Contains(a.To, "client-saved") {
		w.T.Fatalf("%d %s", a.Status, a.Text())
	}
}

var onward = regexp.MustCompile(`href="(http://127[^"]+)"`)

// begin starts a consent and returns the vendor's address.
func (w *connecting) begin(b *consoletest.Browser, provider string) string {
	w.T.Helper()
	a := b.Post("/console/integrations/connect", url.Values{"provider": {provider}})
	found := onward.FindStringSubmatch(a.Body)
	expect.Must(w.T, a.Status == 200 && found != nil, "%s: %v", provider, a)
	to := html.UnescapeString(found[1])
	if host := expect.Value(url.Parse(to))(w.T).Host; !strings.Contains(a.Text(), "移動先 "+host) {
		w.T.Errorf("%s: %s is not named before one goes there: %s", provider, host, a.Text())
	}
	return to
}

// consent agrees at the vendor, and returns the address that the vendor redirects to.
func (w *connecting) consent(address string) string {
	w.T.Helper()
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res := expect.Value(c.Get(address))(w.T)
	defer res.Body.Close()
	back := expect.Value(url.Parse(res.Header.Get("Location")))(w.T)
	expect.Must(w.T, back.Host == consoletest.Host, "the vendor leads to %s: %d", back, res.StatusCode)
	return back.RequestURI()
}

// connect begins a consent, gives it at the vendor, and comes back connected.
func (w *connecting) connect(b *consoletest.Browser, provider string) {
	w.T.Helper()
	w.Later(time.Second)
	a := b.Get(w.consent(w.begin(b, provider)))
	expect.Must(w.T, a.To == "/console/integrations?done=connected", "%s: %d %s %v", provider, a.Status, a.To, a)
}

func (w *connecting) row(provider string) tenancy.Integration {
	w.T.Helper()
	return expect.Value(w.Store.Integration(w.T.Context(), w.Tenant.ID, provider))(w.T)
}

// works reports whether a vendor accepts a token.
func (w *connecting) works(path, token string) bool {
	w.T.Helper()
	r := expect.Value(http.NewRequestWithContext(w.T.Context(), "GET", w.at+path, nil))(w.T)
	r.Header.Set("Authorization", "Bearer "+token)
	res := expect.Value(http.DefaultClient.Do(r))(w.T)
	res.Body.Close()
	return res.StatusCode != http.StatusUnauthorized
}

func TestConnectingVendors(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*testing.T, *connecting){
		"an administrator connects, connects again and disconnects": connectsAndDisconnects,
		"a state counts once, for its browser and administrator":    consentsAreSingle,
		"a vendor may say no, fail or say nothing":                  vendorsRefuse,
		"what a vendor doesn't revoke is said":                      notRevoked,
		"an MCP server says itself where to go":                     servers,
		"GitHub is connected by an App's key":                       connectsApp,
	} {
		t.Run(name, func(t *testing.T) { run(t, newConnecting(t, db)) })
	}
}

func connectsAndDisconnects(t *testing.T, w *connecting) {
	b := w.As(webapi.Suzuki)
	page := b.Get("/console/integrations")
	expect.That(t, page.Status == 200 && strings.Count(page.Body, "<details>") == 3 &&
		strings.Contains(page.Body, "https://"+consoletest.Host+"/console/integrations/return"), "without apps: %v", page)
	b.Post("/console/integrations/connect", url.Values{"provider": {"freee"}}).Says(t, http.StatusConflict,
		"アプリがまだ登録されていません")
	for _, x := range [][2]string{{"freee", "/freee/hr/api/v1/users/me"},
		{"google", "/sheets/v4/spreadsheets/" + vendors.Sheet}} { // in this order: the page shows the first one alone
		provider, path := x[0], x[1]
		w.register(b, provider)
		w.connect(b, provider)
		first := expect.Value(w.Console.Connect.Vault.Token(t.Context(), w.Tenant.ID, provider))(t)
		w.connect(b, provider)
		token := expect.Value(w.Console.Connect.Vault.Token(t.Context(), w.Tenant.ID, provider))(t)
		if row := w.row(provider); token == first || row.ConnectedBy != webapi.Suzuki || !w.works(path, token) {
			t.Errorf("%s: %+v", provider, row)
		}
		page := b.Get("/console/integrations")
		expect.That(t, strings.Contains(page.Text(), "接続中") && strings.Contains(page.Text(), "鈴木 一郎"), "%v", page)
		page.Lacks(t, w.vendors.Secrets()...)
		w.Later(time.Second)
		b.Get("/console/integrations").Holds(t, `data-confirm="接続を解除しますか。 `, `失敗します。"`) // asked first
		b.Post("/console/integrations/disconnect", url.Values{"provider": {provider}}).Leads(t,
			"/console/integrations?done=disconnected")
		if row := w.row(provider); row.Status != tenancy.Disconnected || row.Credentials != "" || w.works(path, token) {
			t.Errorf("%s is still there: %+v", provider, row)
		}
		w.connect(b, provider) // the app is still known
	}
	log := w.actions()
	want := []string{"integration.connected", "integration.connected", "integration.disconnected", "integration.connected"}
	for _, provider := range []string{"freee", "google"} {
		expect.That(t, slices.Equal(log[provider], want), "%s: %v", provider, log[provider])
	}
}

// actions returns the audit entries of each provider's connection.
func (w *connecting) actions() map[string][]string {
	w.T.Helper()
	out := map[string][]string{}
	log := w.Audited(store.AuditFilter{From: w.Now().Add(-time.Hour), To: w.Now().Add(time.Hour)})
	slices.SortStableFunc(log, func(a, b aggregate.AuditEntry) int { return a.Timestamp.Compare(b.Timestamp) })
	for _, e := range log {
		var about struct {
			Provider string `json:"provider"`
		}
		expect.NoError(w.T, json.Unmarshal([]byte(e.Details), &about))
		if strings.HasPrefix(string(e.Action), "integration.") {
			out[about.Provider] = append(out[about.Provider], string(e.Action))
		}
	}
	return out
}

// consentsAreSingle: a state counts once, in time, for its browser and administrator.
func consentsAreSingle(t *testing.T, w *connecting) {
	w.Administered(webapi.Suzuki, webapi.Tanaka)
	w.Tenant.Admins = []string{webapi.Suzuki, webapi.Tanaka}
	b, other := w.As(webapi.Suzuki), w.As(webapi.Tanaka)
	stranger := w.Of(w.Found("T0OTHER", "U0OTHER"), "U0OTHER")
	w.register(b, "freee")
	const name = "__Host-ringi-consent"
	stale := func(by *consoletest.Browser, back string) {
		t.Helper()
		by.Get(back).Says(t, http.StatusBadRequest, "やり直してください")
	}
	back := w.consent(w.begin(b, "freee"))
	stale(w.As(webapi.Suzuki), back) // in another browser
	stale(b, back)                   // after another browser tried
	for _, by := range []*consoletest.Browser{other, stranger} {
		back = w.consent(w.begin(b, "freee"))
		by.Cookies[name] = b.Cookies[name]
		stale(by, back)
	}
	back = w.consent(w.begin(b, "freee"))
	used := b.Cookies[name]
	b.Get(back).Leads(t, "/console/integrations?done=connected")
	b.Cookies[name] = used
	stale(b, back) // twice
	address := w.begin(b, "freee")
	b.Cookies[name] = used
	stale(b, w.consent(address)) // with an earlier cookie
	address = w.begin(b, "freee")
	w.Later(store.ConsentLasts + time.Second)
	stale(b, w.consent(address))
	stale(b, "/console/integrations/return?code=x&state=forged")

	spent := expect.Value(url.Parse(back))(t).Query().Get("code")
	asked := expect.Value(url.Parse(w.begin(b, "freee")))(t).Query()
	b.Get("/console/integrations/return?"+url.Values{"code": {spent}, "state": {asked.Get("state")}}.Encode()).Says(t,
		http.StatusBadGateway) // a code twice
	back = w.consent(w.begin(b, "freee"))
	w.Administered(webapi.Tanaka)
	b.Get(back).Says(t, http.StatusForbidden) // who was an administrator when the consent began
	expect.Is(t, len(w.actions()["freee"]), 1, "connected")
}

func vendorsRefuse(t *testing.T, w *connecting) {
	b := w.As(webapi.Suzuki)
	w.register(b, "freee")
	state := func() string { return expect.Value(url.Parse(w.begin(b, "freee")))(t).Query().Get("state") }
	const hostile = `<script>alert(1)</script>`
	for name, q := range map[string]url.Values{
		"denied": {"error": {"access_denied"}}, "hostile": {"error": {hostile},
			"error_description": {hostile}}, "nothing": {},
	} {
		q.Set("state", state())
		t.Run(name, func(t *testing.T) {
			b.Get("/console/integrations/return?"+q.Encode()).Says(t, http.StatusForbidden).Lacks(t, "alert(1)")
		})
	}
	for _, fail := range map[string]func(){
		"500":     func() { w.vendors.Fail(vendors.FreeeTokens, 500, true) },
		"silence": func() { w.vendors.Fail(vendors.FreeeTokens, 500, false); w.vendors.Drop(vendors.FreeeTokens) },
		"half":    func() { w.vendors.Fail(vendors.FreeeTokens, 500, false); w.vendors.CutAnswer(vendors.FreeeTokens) },
	} {
		address := w.begin(b, "freee")
		fail()
		b.Get(w.consent(address)).Says(t, http.StatusBadGateway, "応答を読み取れませんでした")
		w.vendors.Fail(vendors.FreeeTokens, 500, false)
	}
	expect.That(t, expect.Err(w.Store.Integration(t.Context(), w.Tenant.ID, "freee")) != nil, "something was connected")
	w.connect(b, "freee")
}

func notRevoked(t *testing.T, w *connecting) {
	b := w.As(webapi.Suzuki)
	w.register(b, "google")
	w.connect(b, "google")
	w.vendors.Fail("google_revoke", 503, true)
	b.Post("/console/integrations/disconnect", url.Values{"provider": {"google"}}).Leads(t,
		"/console/integrations?done=not-revoked")
	for done, warns := range map[string]bool{"not-revoked": true, "disconnected": false} {
		a := b.Get("/console/integrations?done=" + done)
		expect.That(t, strings.Contains(a.Body,
			`class="notice warning" role="alert"`) == warns && strings.Contains(a.Text(), web.TextsOf("layout", "ja").In("done",
			done)), "%s warns: want %v in %s", done, warns, a.Text())
	}
	row := w.row("google")
	expect.That(t, row.Status == tenancy.Disconnected && row.Credentials == "", "%+v", row)
	b.Post("/console/integrations/disconnect", url.Values{"provider": {"google"}}).Says(t, http.StatusNotFound) // twice
}

func servers(t *testing.T, w *connecting) {
	b := w.As(webapi.Suzuki)
	room := tenancy.MCPServer{Name: "rooms", URL: w.at + vendors.RoomsPath}
	w.Settings(func(x *tenancy.Settings) { x.MCPServers = []tenancy.MCPServer{room} })
	token := func() string {
		t.Helper()
		return expect.Value(w.Console.Connect.Vault.ServerToken(t.Context(), w.Tenant.ID, room))(t)
	}
	asked := expect.Value(url.Parse(w.begin(b, "mcp:rooms")))(t).Query()
	expect.That(t, asked.Get("resource") == room.URL && asked.Get("code_challenge_method") == "S256" &&
		asked.Get("scope") == "rooms", "asked with %v", asked) // for a token for it alone
	w.connect(b, "mcp:rooms")
	first := token()
	w.Later(2 * time.Hour) // it is refreshed at the server's token endpoint
	second := token()
	expect.That(t, second != first && w.works(vendors.RoomsPath, second), "it was not renewed")
	b.Post("/console/integrations/disconnect", url.Values{"provider": {"mcp:rooms"}}).Leads(t,
		"/console/integrations?done=disconnected")
	expect.That(t, !w.works(vendors.RoomsPath, second), "the token still works")
	elsewhere := url.Values{"provider": {"mcp:rooms"}, "token": {"for-the-first"},
		"address": {"https://first.example/mcp"}}
	b.Post("/console/integrations/token", elsewhere).Says(t,
		http.StatusConflict) // a token for the address that the page showed before
	b.Post("/console/integrations/token", url.Values{"provider": {"mcp:rooms"},
		"token": {w.vendors.RoomsToken}}).Leads(t, "/console/integrations?done=connected")
	expect.That(t, token() == w.vendors.RoomsToken, "another token is kept")
	w.Settings(func(x *tenancy.Settings) { x.MCPServers[0].URL = "https://elsewhere.example/mcp" })
	b.Post("/console/integrations/disconnect", url.Values{"provider": {"mcp:rooms"}}).Leads(t,
		"/console/integrations?done=not-revoked")
	for _, provider := range []string{"mcp:other", "slack", "github", "evil", ""} {
		b.Post("/console/integrations/connect", url.Values{"provider": {provider}}).Says(t, http.StatusNotFound)
	}
}

func connectsApp(t *testing.T, w *connecting) {
	b, s := w.As(webapi.Suzuki), expect.Value(vendors.NewGitHub(t.TempDir()))(t)
	connect := func(id, installation, key string) consoletest.Answer {
		return b.Post("/console/integrations/app", url.Values{"app_id": {id}, "installation_id": {installation},
			"private_key": {key}})
	}
	connect("x", vendors.Installation, s.Key).Says(t, http.StatusBadRequest, "App ID: 20 桁以内の数字")
	connect(vendors.AppID, "", s.Key).Says(t, http.StatusBadRequest, "インストール ID: 20 桁以内の")
	connect(vendors.AppID, vendors.Installation, "himitsu").Says(t, http.StatusBadRequest, "秘密鍵: GitHub から").
		Lacks(t, "himitsu")
	connect(vendors.AppID, vendors.Installation, strings.Repeat("x", 9<<10)).Says(t, http.StatusBadRequest)
	key := strings.Split(s.Key, "\n")[3]
	connect(" "+vendors.AppID, vendors.Installation, s.Key).Leads(t, "/console/integrations?done=connected#github")
	row := w.row(tenancy.GitHubProvider)
	expect.That(t, row.Status == tenancy.Connected && row.ConnectedBy == webapi.Suzuki &&
		!strings.Contains(row.Credentials, key) && !strings.Contains(string(row.Metadata), "KEY"), "%+v", row)
	app := expect.Value(w.Console.Connect.Vault.App(t.Context(), w.Tenant.ID))(t)
	expect.Same(t, vendors.Installation, app.Installation)
	w.Later(time.Second)
	b.Get("/console/integrations").Says(t, http.StatusOK, "GitHub", vendors.AppID).Holds(t, "App の画面で削除するまで有効です").Lacks(t,
		key)
	b.Post("/console/integrations/disconnect", url.Values{"provider": {"github"}}).
		Leads(t, "/console/integrations?done=not-revoked")
	row = w.row(tenancy.GitHubProvider)
	expect.That(t, row.Status == tenancy.Disconnected && row.Credentials == "", "%+v", row)
	expect.That(t, expect.Err(w.Console.Connect.Vault.App(t.Context(), w.Tenant.ID)) != nil, "the key is still there")
}
