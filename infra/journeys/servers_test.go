package journeys

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

var administrator = aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki}

// allow allows a tool of the MCP server, as an administrator who has read it.
func allow(t *testing.T, s *stack.Stack, name string, access aggregate.Access) {
	t.Helper()
	office, tenant := driver.MCPAdmin(s), aggregate.TenantID(s.Sandbox.TeamID())
	all := expect.Value(office.Tools(t.Context(), tenant, vendors.RoomsServer))(t)
	for _, x := range all {
		if x.Name == name {
			expect.NoError(t, office.Allow(t.Context(), tenant, name, x.Hash, access, administrator))
			t.Cleanup(func() { expect.NoError(t, office.Forbid(context.Background(), tenant, name, administrator)) })
			return
		}
	}
	t.Fatalf("the server has no %s", name)
}

// answered waits until a request got a plain reply, with these words, and nobody was asked for a stamp.
func answered(d *driver.Request, says string) {
	d.T.Helper()
	a := d.Until("the request is answered", func(a *task.Aggregate) bool { return a.Answer != nil })
	expect.Must(d.T, strings.Contains(a.Answer.Sentence, says) && a.Prompt() == nil, "the reply is %q", a.Answer.Sentence)
}

func tools(a *task.Aggregate) (names []string) {
	for _, s := range a.Process().Steps {
		names = append(names, s.Tool)
	}
	return names
}

func TestAnMCPServersToolIsAllowedAskedForApprovedAndCalledOnce(t *testing.T) {
	s := start(t)
	d := driver.Ask(t, s, webapi.Sato, "会議室を予約して")
	answered(d, "会議室のツールが許可されていないため")
	allow(t, s, "rooms.list_rooms", aggregate.Read)
	allow(t, s, vendors.BookRoom, aggregate.Write)

	d = driver.Ask(t, s, webapi.Sato, "会議室を予約してください")
	d.Approve(webapi.Suzuki)
	gate := "CARD#step#0001#001#02"
	if card := d.Card(gate, "approve_step"); !strings.Contains(driver.Face(card), "fuji") {
		t.Errorf("the gate does not show which room: %s", driver.Face(card))
	}
	before := s.Vendors.Calls(vendors.BookRoom)
	d.Click(webapi.Tanaka, gate, "approve_step")
	done := d.Card("CARD#execution", "✅ 実行完了")
	expect.That(t, strings.Contains(driver.Face(done), "会議室 富士 を"),
		"the summary does not say what was booked: %s", driver.Face(done))
	bookings := s.Vendors.Rooms().Bookings()
	n := s.Vendors.Calls(vendors.BookRoom) - before
	expect.That(t, n == 1 && len(bookings) == 1 && bookings[0].Title == "会議", "%d calls, bookings %+v", n, bookings)
}

func TestAToolThatItsServerChangedIsNotCalledAndNotPlannedAgain(t *testing.T) {
	s := start(t)
	allow(t, s, "rooms.list_rooms", aggregate.Read)
	allow(t, s, vendors.BookRoom, aggregate.Write)
	d := driver.Ask(t, s, webapi.Sato, "会議室の予約をお願いします")
	d.Approve(webapi.Suzuki)
	d.Card("CARD#step#0001#001#02", "approve_step")
	s.Vendors.Rooms().Describe("Books a meeting room, and more.")
	t.Cleanup(func() { s.Vendors.Rooms().Describe("Books a meeting room.") })
	before := len(s.Vendors.Rooms().Bookings())
	d.Click(webapi.Tanaka, "CARD#step#0001#001#02", "approve_step")
	d.Card("CARD#execution", "管理者が確認して許可し直してから")
	n := len(s.Vendors.Rooms().Bookings())
	expect.That(t, n == before, "%d bookings were made", n-before)
	again := driver.Ask(t, s, webapi.Sato, "もう一度、会議室の予約をお願いします")
	answered(again, "会議室のツールが許可されていないため")
	allow(t, s, vendors.BookRoom, aggregate.Write) // as it is now
	third := driver.Ask(t, s, webapi.Sato, "会議室の予約、改めてお願いします")
	third.Click(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
	third.Card("CARD#process#0001", "approve_process")
	got := tools(third.Load())
	expect.That(t, slices.Contains(got, vendors.BookRoom), "what was allowed again is not planned: %v", got)
}

// connected restores the workspace's integrations.
func connected(t *testing.T, s *stack.Stack) *store.TaskStore {
	t.Helper()
	expect.NoError(t, driver.Connect(t.Context(), s, s.Sandbox.TeamID()))
	return store.NewTasks(dynamodb.NewFromConfig(s.AWS), s.TableName)
}

// TestAnUninstallationEndsAllIntegrations: the event arrives five times at once, and again after the app was
// reinstalled.
func TestAnUninstallationEndsAllIntegrations(t *testing.T) {
	s := start(t)
	d := driver.Ask(t, s, webapi.Sato, "従業員一覧を取得して")
	rows := connected(t, s)
	began, tenant := time.Now(), aggregate.TenantID(s.Sandbox.TeamID())
	expect.Eventually(t, "a second has passed",
		func() bool { return time.Since(began) > 1100*time.Millisecond }) // Slack's times are in seconds
	body := expect.Value(json.Marshal(map[string]any{
		"token": "x", "type": "event_callback", "team_id": s.Sandbox.TeamID(), "api_app_id": "A0SANDBOX",
		"event_id":   "EvUNINSTALL",
		"event_time": time.Now().Unix(), "event": map[string]any{"type": "app_uninstalled"},
	}))(t)
	deliver(t, s, body, 5)
	expect.Same(t, []string{
		"freee disconnected " + "app_uninstalled", "github disconnected " + "app_uninstalled", "google disconnected " +
			"app_uninstalled", "mcp:rooms disconnected app_uninstalled", "slack disconnected app_uninstalled",
	}, integrations(t, rows, tenant))
	log := expect.Value(rows.Audit(t.Context(), tenant, store.AuditFilter{Action: tenancy.AuditIntegrationDisconnected},
		"", 100))(t)
	recorded := 0
	for _, e := range log.Items {
		if e.Timestamp.After(began) {
			recorded++
		}
	}
	expect.That(t, recorded == 5, "%d entries", recorded)
	d.Approve(webapi.Suzuki) // unlike Slack, the sandbox still delivers
	d.Card("CARD#execution", "Slack からアプリが削除されたため、freee 人事労務 との接続は解除されています。")
	expect.Eventually(t, "a second has passed", func() bool { return time.Since(began) > 3*time.Second })
	connected(t, s)
	deliver(t, s, body, 1)
	got := strings.Join(integrations(t, rows, tenant), ",")
	expect.That(t, got == "freee connected ,github connected ,google connected ,mcp:rooms connected ,slack connected ",
		"a late repetition ended what was connected since: %s", got)
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
