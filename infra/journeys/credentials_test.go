package journeys

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// connected restores the workspace's integrations.
func connected(t *testing.T, s *stack.Stack) *store.TaskStore {
	t.Helper()
	expect.NoError(t, driver.Connect(t.Context(), s, s.Sandbox.TeamID()))
	return store.NewTasks(dynamodb.NewFromConfig(s.AWS), s.TableName)
}

func TestTokensThatExpiredAreRenewed(t *testing.T) {
	s := start(t)
	d := driver.Ask(t, s, webapi.Sato, "今月の勤怠をまとめて")
	connected(t, s)
	freee, google := s.Vendors.Calls(vendors.FreeeTokens), s.Vendors.Calls(vendors.GoogleTokens)
	s.Vendors.Expire("freee")
	s.Vendors.Expire("google")
	d.Approve(webapi.Suzuki)
	d.Card("CARD#execution", "✅ 実行完了")
	if f, g := s.Vendors.Calls(vendors.FreeeTokens)-freee, s.Vendors.Calls(vendors.GoogleTokens)-google; f != 1 || g != 1 {
		t.Errorf("freee was asked %d times for tokens, Google %d times", f, g)
	}
}

func TestACardSaysThatFreeeMustBeConnectedAgain(t *testing.T) {
	s := start(t)
	d := driver.Ask(t, s, webapi.Sato, "従業員一覧を取得して")
	rows := connected(t, s)
	s.Vendors.Revoke("freee")
	d.Approve(webapi.Suzuki)
	d.Card("CARD#execution", "freee 人事労務 の認証が切れています。管理者に接続し直してもらってから再実行してください。")
	row, err := rows.Integration(t.Context(), d.Ref.Tenant, "freee")
	if err != nil || row.Status != tenancy.Broken || row.StatusReason != tenancy.CredentialRefused || row.Credentials != "" {
		t.Errorf("%+v, %v", row, err)
	}
	connected(t, s)
	d.Click(webapi.Sato, "CARD#execution", "retry_execution")
	d.Card("CARD#execution", "✅ 実行完了")
}

// TestAnUninstallationEndsAllIntegrations: the event arrives five times at once, and again after the app was
// reinstalled.
func TestAnUninstallationEndsAllIntegrations(t *testing.T) {
	s := start(t)
	d := driver.Ask(t, s, webapi.Sato, "従業員一覧を取得して")
	rows := connected(t, s)
	began, tenant := time.Now(), aggregate.TenantID(s.Sandbox.TeamID())
	expect.Eventually(t, "a second has passed", func() bool { return time.Since(began) > 1100*time.Millisecond }) // Slack's times are in seconds
	body := expect.Value(json.Marshal(map[string]any{
		"token": "x", "type": "event_callback", "team_id": s.Sandbox.TeamID(), "api_app_id": "A0SANDBOX", "event_id": "EvUNINSTALL",
		"event_time": time.Now().Unix(), "event": map[string]any{"type": "app_uninstalled"},
	}))(t)
	deliver(t, s, body, 5)
	expect.Same(t, []string{
		"freee disconnected app_uninstalled", "github disconnected app_uninstalled", "google disconnected app_uninstalled", "mcp:rooms disconnected app_uninstalled", "slack disconnected app_uninstalled",
	}, integrations(t, rows, tenant))
	log := expect.Value(rows.Audit(t.Context(), tenant, store.AuditFilter{Action: tenancy.AuditIntegrationDisconnected}, "", 100))(t)
	recorded := 0
	for _, e := range log.Items {
		if e.Timestamp.After(began) {
			recorded++
		}
	}
	if recorded != 5 {
		t.Errorf("%d entries", recorded)
	}
	d.Approve(webapi.Suzuki) // unlike Slack, the sandbox still delivers
	d.Card("CARD#execution", "Slack からアプリが削除されたため、freee 人事労務 との接続は解除されています。")
	expect.Eventually(t, "a second has passed", func() bool { return time.Since(began) > 3*time.Second })
	connected(t, s)
	deliver(t, s, body, 1)
	if got := strings.Join(integrations(t, rows, tenant), ","); got != "freee connected ,github connected ,google connected ,mcp:rooms connected ,slack connected " {
		t.Errorf("a late repetition ended what was connected since: %s", got)
	}
	d.Click(webapi.Sato, "CARD#execution", "retry_execution")
	d.Card("CARD#execution", "✅ 実行完了")
}

// integrations lists a tenant's integrations with status and reason.
func integrations(t *testing.T, rows *store.TaskStore, tenant string) (all []string) {
	t.Helper()
	list := expect.Value(rows.Integrations(t.Context(), tenant))(t)
	for _, x := range list {
		all = append(all, fmt.Sprintf("%s %s %s", x.Provider, x.Status, x.StatusReason))
	}
	return all
}
