package journeys

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
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
			t.Cleanup(func() {
				expect.NoError(t, office.Forbid(context.Background(), tenant, name, administrator))
			})
			return
		}
	}
	t.Fatalf("the server has no %s", name)
}

// answered waits until a request got a plain reply, with these words, and nobody was asked for a stamp.
func answered(d *driver.Request, says string) {
	d.T.Helper()
	a := d.Until("the request is answered", func(a *task.Aggregate) bool { return a.Answer != nil })
	if !strings.Contains(a.Answer.Sentence, says) || a.Prompt() != nil {
		d.T.Fatalf("the reply is %q", a.Answer.Sentence)
	}
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
	if !strings.Contains(driver.Face(done), "会議室 富士 を") {
		t.Errorf("the summary does not say what was booked: %s", driver.Face(done))
	}
	bookings := s.Vendors.Rooms().Bookings()
	if n := s.Vendors.Calls(vendors.BookRoom) - before; n != 1 || len(bookings) != 1 || bookings[0].Title != "会議" {
		t.Errorf("%d calls, bookings %+v", n, bookings)
	}
}

// Everything of an order stands in the policy and the steps, so that nobody is asked a third time.
func TestAnOrderIsPlacedOnceAfterBothApprovals(t *testing.T) {
	s := start(t)
	d := driver.Ask(t, s, webapi.Sato, "取引先アクメに PC 2台 298,000円を発注して")
	answered(d, "発注のツールが許可されていないため")
	allow(t, s, vendors.PlaceOrder, aggregate.Write)
	calls, before := s.Vendors.Calls(vendors.PlaceOrder), len(s.Vendors.Rooms().Orders())
	d = driver.Ask(t, s, webapi.Sato, "取引先アクメに、PC 2台 298,000円を発注してください")
	d.Approve(webapi.Suzuki)
	done := d.Card("CARD#execution", "✅ 実行完了")
	if !strings.Contains(driver.Face(done), fmt.Sprintf("発注番号 PO-%04d、合計 298000 円", before+1)) {
		t.Errorf("the summary does not say what was ordered: %s", driver.Face(done))
	}
	orders := s.Vendors.Rooms().Orders()[before:]
	if n := s.Vendors.Calls(vendors.PlaceOrder) - calls; n != 1 || len(orders) != 1 || orders[0].Supplier != "アクメ" {
		t.Errorf("%d calls, orders %+v", n, orders)
	}
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
	if n := len(s.Vendors.Rooms().Bookings()); n != before {
		t.Errorf("%d bookings were made", n-before)
	}
	again := driver.Ask(t, s, webapi.Sato, "もう一度、会議室の予約をお願いします")
	answered(again, "会議室のツールが許可されていないため")
	allow(t, s, vendors.BookRoom, aggregate.Write) // as it is now
	third := driver.Ask(t, s, webapi.Sato, "会議室の予約、改めてお願いします")
	third.Click(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
	third.Card("CARD#process#0001", "approve_process")
	if got := tools(third.Load()); !slices.Contains(got, vendors.BookRoom) {
		t.Errorf("what was allowed again is not planned: %v", got)
	}
}
