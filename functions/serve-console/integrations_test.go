package main

import (
	"context"
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/kms"

	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/workspace"
	stand "ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/outbound"
	"ringi/shared/secret/oauth"
	"ringi/shared/secret/vault"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
	"ringi/shared/store/websession"
)

// connecting is a world with vendors.
type connecting struct {
	*world
	vendors *stand.Vendors
	at      string // where they are
}

func newConnecting(t *testing.T, db *storetest.Server) *connecting {
	t.Helper()
	w := &connecting{world: newWorld(t, db), vendors: stand.New()}
	server := httptest.NewServer(w.vendors.Handler())
	t.Cleanup(server.Close)
	w.at = server.URL
	keys := kms.NewFromConfig(db.Config)
	made := expect.Value(keys.CreateKey(t.Context(), &kms.CreateKeyInput{}))(t)
	held := vault.New(w.Store, vault.Envelope{KMS: keys, KeyID: *made.KeyMetadata.Arn}, oauth.Freee("", w.at+"/freee/token"), oauth.Google("", w.at+"/google/token"))
	out := outbound.Allowing(strings.TrimPrefix(w.at, "http://")).Client()
	held.Outbound, held.Now = out.Transport, w.Now
	w.c.Connect = Connections{
		Vault: held, Outbound: out,
		Bot: func(context.Context, string) (string, error) { return "xoxb-first", nil },
	}
	return w
}

// register pastes our app at a vendor.
func (w *connecting) register(b *browser, provider string) {
	w.T.Helper()
	c := w.vendors.Client(provider)
	if a := b.post("/console/integrations/client", url.Values{"provider": {provider}, "client_id": {c.ID}, "client_secret": {c.Secret}}); !strings.Contains(a.to, "client-saved") {
		w.T.Fatalf("%d %s", a.status, a.text())
	}
}

var onward = regexp.MustCompile(`href="(http://127[^"]+)"`)

// begin goes on to a vendor, and returns with the address there.
func (w *connecting) begin(b *browser, provider string) string {
	w.T.Helper()
	a := b.post("/console/integrations/connect", url.Values{"provider": {provider}})
	found := onward.FindStringSubmatch(a.body)
	if a.status != 200 || found == nil {
		w.T.Fatalf("%s: %d %s", provider, a.status, a.text())
	}
	to := html.UnescapeString(found[1])
	if host := expect.Value(url.Parse(to))(w.T).Host; !strings.Contains(a.text(), "移動先 "+host) {
		w.T.Errorf("%s: %s is not named before one goes there: %s", provider, host, a.text())
	}
	return to
}

// consent allows it there, and returns with where the browser is sent back to.
func (w *connecting) consent(address string) string {
	w.T.Helper()
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res := expect.Value(c.Get(address))(w.T)
	defer res.Body.Close()
	back := expect.Value(url.Parse(res.Header.Get("Location")))(w.T)
	if back.Host != host {
		w.T.Fatalf("the vendor leads to %s: %d", back, res.StatusCode)
	}
	return back.RequestURI()
}

// connect does all of it.
func (w *connecting) connect(b *browser, provider string) {
	w.T.Helper()
	w.Later(time.Second)
	if a := b.get(w.consent(w.begin(b, provider))); a.to != "/console/integrations?done=connected" {
		w.T.Fatalf("%s: %d %s %s", provider, a.status, a.to, a.text())
	}
}

func (w *connecting) row(provider string) tenancy.Integration {
	w.T.Helper()
	return expect.Value(w.Store.Integration(w.T.Context(), w.tenant.ID, provider))(w.T)
}

// works reports whether a vendor takes a token.
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
		"only administrators of the workspace":                      onlyAdministrators,
	} {
		t.Run(name, func(t *testing.T) { run(t, newConnecting(t, db)) })
	}
}

func connectsAndDisconnects(t *testing.T, w *connecting) {
	b := w.as(workspace.Suzuki)
	page := b.get("/console/integrations")
	if page.status != 200 || strings.Count(page.body, "<details open>") != 2 || !strings.Contains(page.body, "https://"+host+"/console/integrations/return") {
		t.Errorf("without apps: %d %s", page.status, page.text())
	}
	if a := b.post("/console/integrations/connect", url.Values{"provider": {"freee"}}); a.status != http.StatusConflict || !strings.Contains(a.text(), "アプリがまだ登録されていません") {
		t.Errorf("without an app: %d %s", a.status, a.text())
	}
	for provider, path := range map[string]string{"freee": "/freee/hr/api/v1/users/me", "google": "/sheets/v4/spreadsheets/" + stand.Sheet} {
		w.register(b, provider)
		w.connect(b, provider)
		first := expect.Value(w.c.Connect.Vault.Token(t.Context(), w.tenant.ID, provider))(t)
		w.connect(b, provider)
		token := expect.Value(w.c.Connect.Vault.Token(t.Context(), w.tenant.ID, provider))(t)
		if row := w.row(provider); token == first || row.ConnectedBy != workspace.Suzuki || !w.works(path, token) {
			t.Errorf("%s: %+v", provider, row)
		}
		page := b.get("/console/integrations")
		if !strings.Contains(page.text(), "接続中") || !strings.Contains(page.text(), "鈴木 一郎") {
			t.Errorf("%s", page.text())
		}
		for _, secret := range w.vendors.Secrets() {
			if strings.Contains(page.body, secret) {
				t.Errorf("the page shows a secret")
			}
		}
		w.Later(time.Second)
		if a := b.get("/console/integrations/disconnect?provider=" + provider); a.status != 200 || !strings.Contains(a.text(), "失敗します") {
			t.Errorf("asked first: %d %s", a.status, a.text())
		}
		if a := b.post("/console/integrations/disconnect", url.Values{"provider": {provider}}); a.to != "/console/integrations?done=disconnected" {
			t.Errorf("%s: %d %s", provider, a.status, a.to)
		}
		if row := w.row(provider); row.Status != tenancy.Disconnected || row.Credentials != "" || w.works(path, token) {
			t.Errorf("%s is still there: %+v", provider, row)
		}
		w.connect(b, provider) // the app is still known
	}
	log := w.actions()
	want := []string{"integration.connected", "integration.connected", "integration.disconnected", "integration.connected"}
	for _, provider := range []string{"freee", "google"} {
		if !slices.Equal(log[provider], want) {
			t.Errorf("%s: %v", provider, log[provider])
		}
	}
}

// actions are what the audit log has of each provider's connection.
func (w *connecting) actions() map[string][]string {
	w.T.Helper()
	out := map[string][]string{}
	log := expect.Value(w.Store.Audit(w.T.Context(), w.tenant.ID, store.AuditFilter{From: w.Now().Add(-time.Hour), To: w.Now().Add(time.Hour)}, "", 100))(w.T)
	slices.SortStableFunc(log.Items, func(a, b aggregate.AuditEntry) int { return a.Timestamp.Compare(b.Timestamp) })
	for _, e := range log.Items {
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

func consentsAreSingle(t *testing.T, w *connecting) {
	owner := expect.Value(w.Store.Tenant(t.Context(), w.tenant.ID))(t)
	owner.Admins = []string{workspace.Suzuki, workspace.Tanaka}
	expect.NoError(t, w.Store.SaveTenant(t.Context(), owner, w.By, w.Now()))
	w.tenant = expect.Value(w.Store.Tenant(t.Context(), w.tenant.ID))(t)
	b := w.as(workspace.Suzuki)
	w.register(b, "freee")
	stale := func(what string, a answer) {
		t.Helper()
		if a.status != http.StatusBadRequest || !strings.Contains(a.text(), "やり直してください") {
			t.Errorf("%s: %d %s %s", what, a.status, a.to, a.text())
		}
	}
	back := w.consent(w.begin(b, "freee"))
	cookie := b.cookies["__Host-ringi-consent"]
	stale("another browser", w.as(workspace.Suzuki).get(back))
	stale("after another browser tried", b.get(back))
	back = w.consent(w.begin(b, "freee"))
	other := w.as(workspace.Tanaka)
	other.cookies["__Host-ringi-consent"] = b.cookies["__Host-ringi-consent"]
	stale("another administrator, with the cookie", other.get(back))
	back = w.consent(w.begin(b, "freee"))
	used := b.cookies["__Host-ringi-consent"]
	if a := b.get(back); a.to != "/console/integrations?done=connected" {
		t.Fatalf("%d %s", a.status, a.text())
	}
	b.cookies["__Host-ringi-consent"] = used
	stale("twice", b.get(back))
	address := w.begin(b, "freee")
	b.cookies["__Host-ringi-consent"] = cookie
	stale("an earlier cookie", b.get(w.consent(address)))
	address = w.begin(b, "freee")
	w.Later(websession.ConsentLasts + time.Second)
	stale("too late", b.get(w.consent(address)))
	stale("forged", b.get("/console/integrations/return?code=x&state=forged"))

	spent := expect.Value(url.Parse(back))(t).Query().Get("code")
	asked := expect.Value(url.Parse(w.begin(b, "freee")))(t).Query()
	if a := b.get("/console/integrations/return?" + url.Values{"code": {spent}, "state": {asked.Get("state")}}.Encode()); a.status != http.StatusBadGateway {
		t.Errorf("a code twice: %d %s", a.status, a.text())
	}
	if n := len(w.actions()["freee"]); n != 1 {
		t.Errorf("connected %d times", n)
	}
}

func vendorsRefuse(t *testing.T, w *connecting) {
	b := w.as(workspace.Suzuki)
	w.register(b, "freee")
	state := func() string { return expect.Value(url.Parse(w.begin(b, "freee")))(t).Query().Get("state") }
	const hostile = `<script>alert(1)</script>`
	for name, q := range map[string]url.Values{
		"denied": {"error": {"access_denied"}}, "hostile": {"error": {hostile}, "error_description": {hostile}}, "nothing": {},
	} {
		q.Set("state", state())
		if a := b.get("/console/integrations/return?" + q.Encode()); a.status != http.StatusForbidden || strings.Contains(a.body, "alert(1)") {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
	for name, fail := range map[string]func(){
		"500":     func() { w.vendors.Fail(stand.FreeeTokens, 500, true) },
		"silence": func() { w.vendors.Fail(stand.FreeeTokens, 500, false); w.vendors.Drop(stand.FreeeTokens) },
		"half":    func() { w.vendors.Fail(stand.FreeeTokens, 500, false); w.vendors.CutAnswer(stand.FreeeTokens) },
	} {
		address := w.begin(b, "freee")
		fail()
		if a := b.get(w.consent(address)); a.status != http.StatusBadGateway || !strings.Contains(a.text(), "使える返事がありません") {
			t.Errorf("%s: %d %s", name, a.status, a.text())
		}
		w.vendors.Fail(stand.FreeeTokens, 500, false)
	}
	if _, err := w.Store.Integration(t.Context(), w.tenant.ID, "freee"); err == nil {
		t.Error("something was connected")
	}
	w.connect(b, "freee")
}

func notRevoked(t *testing.T, w *connecting) {
	b := w.as(workspace.Suzuki)
	w.register(b, "google")
	w.connect(b, "google")
	w.vendors.Fail(stand.Revoking("google"), 503, true)
	if a := b.post("/console/integrations/disconnect", url.Values{"provider": {"google"}}); a.to != "/console/integrations?done=not-revoked" {
		t.Errorf("%d %s", a.status, a.to)
	}
	for done, warns := range map[string]bool{"not-revoked": true, "disconnected": false} {
		if a := b.get("/console/integrations?done=" + done); strings.Contains(a.body, `class="notice warning" role="alert"`) != warns || !strings.Contains(a.text(), web.TextsOf("layout", "ja").In("done", done)) {
			t.Errorf("%s warns: want %v in %s", done, warns, a.text())
		}
	}
	if row := w.row("google"); row.Status != tenancy.Disconnected || row.Credentials != "" {
		t.Errorf("%+v", row)
	}
	if a := b.post("/console/integrations/disconnect", url.Values{"provider": {"google"}}); a.status != http.StatusNotFound {
		t.Errorf("twice: %d", a.status)
	}
}

func servers(t *testing.T, w *connecting) {
	b := w.as(workspace.Suzuki)
	settings := expect.Value(w.Store.Settings(t.Context(), w.tenant.ID))(t)
	settings.MCPServers = []tenancy.MCPServer{{Name: "rooms", URL: w.at + stand.RoomsPath}}
	expect.Value(w.Store.SaveSettings(t.Context(), w.tenant.ID, settings, w.By, w.Now()))(t)
	room := settings.MCPServers[0]
	token := func() string {
		t.Helper()
		return expect.Value(w.c.Connect.Vault.ServerToken(t.Context(), w.tenant.ID, room))(t)
	}
	w.connect(b, "mcp:rooms")
	first := token()
	w.Later(2 * time.Hour) // it is renewed where the server said
	second := token()
	if second == first || !w.works(stand.RoomsPath, second) {
		t.Error("it was not renewed")
	}
	if a := b.post("/console/integrations/disconnect", url.Values{"provider": {"mcp:rooms"}}); a.to != "/console/integrations?done=disconnected" || w.works(stand.RoomsPath, second) {
		t.Errorf("%d %s", a.status, a.to)
	}
	elsewhere := url.Values{"provider": {"mcp:rooms"}, "token": {"for-the-first"}, "address": {"https://first.example/mcp"}} // as the page showed it
	if a := b.post("/console/integrations/token", elsewhere); a.status != http.StatusConflict {
		t.Errorf("a token for the address that was shown: %d", a.status)
	}
	if a := b.post("/console/integrations/token", url.Values{"provider": {"mcp:rooms"}, "token": {w.vendors.RoomsToken()}}); a.to != "/console/integrations?done=connected" || token() != w.vendors.RoomsToken() {
		t.Errorf("%d %s %s", a.status, a.to, a.text())
	}
	settings = expect.Value(w.Store.Settings(t.Context(), w.tenant.ID))(t)
	settings.MCPServers[0].URL = "https://elsewhere.example/mcp"
	expect.Value(w.Store.SaveSettings(t.Context(), w.tenant.ID, settings, w.By, w.Now()))(t)
	if a := b.get("/console/integrations"); !strings.Contains(a.text(), "設定のアドレスが変わった") {
		t.Error(a.text())
	}
	if a := b.post("/console/integrations/disconnect", url.Values{"provider": {"mcp:rooms"}}); a.to != "/console/integrations?done=not-revoked" { // a token made by hand
		t.Errorf("%d %s", a.status, a.to)
	}
	for _, provider := range []string{"mcp:other", "slack", "evil", ""} {
		if a := b.post("/console/integrations/connect", url.Values{"provider": {provider}}); a.status != http.StatusNotFound {
			t.Errorf("%s: %d", provider, a.status)
		}
	}
}

func onlyAdministrators(t *testing.T, w *connecting) {
	b, member := w.as(workspace.Suzuki), w.as(workspace.Sato)
	w.register(b, "freee")
	back := w.consent(w.begin(b, "freee"))
	if a := member.get("/console/integrations"); a.status != http.StatusForbidden {
		t.Errorf("a member: %d", a.status)
	}
	for _, act := range []string{"connect", "client", "token", "disconnect"} {
		if a := member.post("/console/integrations/"+act, url.Values{"provider": {"freee"}}); a.status != http.StatusForbidden {
			t.Errorf("a member: %s: %d", act, a.status)
		}
		if a := b.send("POST", "/console/integrations/"+act, url.Values{"provider": {"freee"}}); a.status != http.StatusForbidden {
			t.Errorf("without a token: %s: %d", act, a.status)
		}
	}
	other := w.of(w.found("T0OTHER", "U0OTHER"), "U0OTHER")
	other.cookies["__Host-ringi-consent"] = b.cookies["__Host-ringi-consent"]
	if a := other.get(back); a.status != http.StatusBadRequest {
		t.Errorf("another workspace's: %d", a.status)
	}
	back = w.consent(w.begin(b, "freee"))
	owner := expect.Value(w.Store.Tenant(t.Context(), w.tenant.ID))(t)
	owner.Admins = []string{workspace.Sato}
	expect.NoError(t, w.Store.SaveTenant(t.Context(), owner, w.By, w.Now()))
	if a := b.get(back); a.status != http.StatusForbidden {
		t.Errorf("who was one when it began: %d", a.status)
	}
}
