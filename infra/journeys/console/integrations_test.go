package console

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"ringi/infra/local/browser"
	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
)

// An administrator disconnects a vendor and connects it again on the vendor's page, and the work continues.
func TestVendorsAreConnectedAgainByHand(t *testing.T) {
	driver.Leave(t, running)
	t.Cleanup(func() { _ = driver.Connect(context.Background(), running, running.Sandbox.TeamID()) })
	driver.Ask(t, running, webapi.Sato, "従業員一覧を取得して").Approve(webapi.Suzuki) // who signs in is known then
	b := browser.Start(t)
	for i, w := range windows {
		providers := [][]string{{"freee", "google", "mcp:rooms"}, {"mcp:rooms"}}[i]
		t.Run(w.name, func(t *testing.T) {
			tab := signIn(t, b, w.Window, webapi.Suzuki, "/console/integrations")
			look := func(name string) {
				t.Helper()
				tab.Fits()
				tab.Accessible(t)
				tab.Clean()
				if dir := os.Getenv("RINGI_SCREENSHOTS"); dir != "" {
					tab.Whole(filepath.Join(dir, w.name+"-integrations-"+name+".png"))
				}
			}
			for _, provider := range providers {
				panel := `section[id="` + provider + `"] `
				tab.Until(`document.querySelector('` + panel + `.badge-good')`)
				tab.Click(panel + `a.button-danger`)
				tab.Until(`location.pathname === "/console/integrations/disconnect"`)
				look("ask")
				tab.Click(`main button.button-danger`)
				tab.Until(`location.pathname === "/console/integrations" && document.querySelector(".notice")`)
				look("without")
				tab.Click(panel + `form[action="/console/integrations/connect"] button`)
				tab.Until(`location.pathname === "/console/integrations/connect"`)
				look("go")
				tab.Click(`main a.button-primary`)
				tab.Until(`location.pathname.endsWith("/authorize")`)
				tab.Click(`main a`)
				tab.Until(`location.search === "?done=connected"`)
			}
			look("connected")
		})
	}
	again := driver.Ask(t, running, webapi.Sato, "従業員一覧を取得して")
	again.Approve(webapi.Suzuki)
	again.Card(driver.ExecutionCard, "実行完了")
}
