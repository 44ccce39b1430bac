package integrations_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func connectsApp(t *testing.T, w *connecting) {
	b, s := w.As(webapi.Suzuki), expect.Value(vendors.NewGitHub())(t)
	form := func(id, installation, key string) url.Values {
		return url.Values{"app_id": {id}, "installation_id": {installation}, "private_key": {key}}
	}
	for said, f := range map[string]url.Values{
		"App ID: 20 桁以内の数字":  form("x", vendors.Installation, s.Key()),
		"インストール ID: 20 桁以内の": form(vendors.AppID, "", s.Key()),
		"秘密鍵: GitHub から":     form(vendors.AppID, vendors.Installation, "himitsu"),
		".pem ファイルの全体を貼り付けて": form(vendors.AppID, vendors.Installation, strings.Repeat("x", 9<<10)),
	} {
		b.Post("/console/integrations/app", f).Says(t, http.StatusBadRequest, said).Lacks(t, "himitsu")
	}
	key := strings.Split(s.Key(), "\n")[3]
	a := b.Post("/console/integrations/app", form(" "+vendors.AppID, vendors.Installation, s.Key()))
	expect.Must(t, strings.HasPrefix(a.To, "/console/integrations?done=connected"), "%d %s", a.Status, a.To)
	row := w.row(tenancy.GitHubProvider)
	expect.That(t, row.Status == tenancy.Connected && row.ConnectedBy == webapi.Suzuki &&
		!strings.Contains(row.Credentials, key) &&
		!strings.Contains(string(row.Metadata), "KEY"), "%+v", row)
	app := expect.Value(w.Console.Connect.Vault.App(t.Context(), w.Tenant.ID))(t)
	expect.Same(t, vendors.Installation, app.Installation)
	b.Get("/console/integrations").Says(t, http.StatusOK, "GitHub", vendors.AppID).Lacks(t, key)
	w.Later(time.Second)
	b.Get("/console/integrations/disconnect?provider=github").Says(t, 200, "App の画面で削除するまで有効です")
	a = b.Post("/console/integrations/disconnect", url.Values{"provider": {"github"}})
	expect.Same(t, "/console/integrations?done=not-revoked", a.To)
	row = w.row(tenancy.GitHubProvider)
	expect.That(t, row.Status == tenancy.Disconnected && row.Credentials == "", "%+v", row)
	_, err := w.Console.Connect.Vault.App(t.Context(), w.Tenant.ID)
	expect.That(t, err != nil, "the key is still there")
	expect.Same(t, []string{"integration.connected", "integration.disconnected"}, w.actions()["github"])
}
