package journeys

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/tool"
)

// bookings allows the tools of meeting rooms. It marks as where a booking goes its room, and as where the message about
// it goes whom it is sent to.
func bookings(t *testing.T, s *stack.Stack) {
	t.Helper()
	allow(t, s, "rooms.list_rooms", aggregate.Read)
	allow(t, s, vendors.BookRoom, aggregate.Write)
	store, tenant := store.NewTasks(dynamodb.NewFromConfig(s.AWS), s.TableName), aggregate.TenantID(s.Sandbox.TeamID())
	mark := func(name, version, pointer string) {
		p, known, err := store.ToolPermission(context.Background(), tenant, name)
		expect.NoError(t, err)
		if version == "" {
			version = p.Pin.Version()
		}
		if !known {
			p = tenancy.Unsaved(tenant, name)
		}
		p.Mark = nil
		if pointer != "" {
			p.Mark = &rules.Mark{Version: version, How: rules.HowNothing, Destinations: []string{pointer}}
		}
		expect.Value(store.SaveToolPermission(context.Background(), p, administrator, time.Now()))(t)
	}
	const message = "send_slack_dm"
	spec, _ := expect.Value(tool.Builtin())(t).Lookup(message)
	mark(vendors.BookRoom, "", "/room_id")
	mark(message, spec.Version(), "/recipient")
	t.Cleanup(func() { mark(message, spec.Version(), "") })
}

// inRooms is a rule for bookings of these rooms, which the steps name by a reference, with a message to who asked.
func inRooms(o rules.Outcome, rooms ...string) rules.Rule {
	return rules.Rule{ID: "01KS000000000000000000000E", Name: "大会議室", Outcome: o,
		When: rules.Conditions{Destinations: &rules.Destinations{Go: rules.GoWithin, List: append(rooms, webapi.Sato)}}}
}

// booked asks for a room at an hour of its own, when all are free, and has both steps approved under the rule for
// everything else.
func booked(t *testing.T, s *stack.Stack, hour string) *driver.Request {
	t.Helper()
	d := driver.Ask(t, s, webapi.Sato, "明日の"+hour+"から会議室を予約してください")
	d.Click(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
	d.Card("CARD#process#0001", "ルール「そのほかの外部書き込み」")
	d.Click(webapi.Tanaka, "CARD#process#0001", "approve_process")
	return d
}

// Which room is booked comes from a result: the rule for that room was not known when the steps were approved.
func TestAStepGoesRoundByTheRuleForWhatItTurnsOutToBe(t *testing.T) {
	s := start(t)
	bookings(t, s)
	const gate = "CARD#step#0001#001#02"
	rooms := []string{"fuji", "haruna", "akagi"}
	before := s.Vendors.Calls(vendors.BookRoom)
	made := func(n int) {
		t.Helper()
		expect.Is(t, s.Vendors.Calls(vendors.BookRoom)-before, n, "bookings")
	}

	t.Run("another rule, whose people are looked up", func(t *testing.T) {
		under(t, s, inRooms(rules.Outcome{Route: &rules.Policy{Stages: []rules.Stage{
			{Name: "人事", Need: 1, Empty: rules.EmptyRefuse, Who: rules.Who{Kind: rules.WhoGroup, Group: webapi.Approvers}},
			desk("部長", 1, webapi.Alex),
		}}}, rooms...), anyStage())
		d := booked(t, s, "15時")
		card := driver.Face(d.Card(gate, "👉 いま: 人事"))
		expect.That(t, strings.Contains(card, "ルール「大会議室」で最初の段階から"), "%s", card)
		d.Click(webapi.Alex, gate, "approve_step")
		made(0)
		d.Click(webapi.Suzuki, gate, "approve_step")
		d.Card(gate, "👉 いま: 部長")
		made(0)
		d.Click(webapi.Alex, gate, "approve_step")
		d.Card("CARD#execution", "✅ 実行完了")
		d.Card(gate, "回覧済み")
		made(1)
		g := d.Load().Gates[0]
		expect.That(t, len(g.Acts) == 2 && g.Terms.Rule.Name == "大会議室" && g.Route.Stages[0].People[0].Via != "", "%+v", g)
	})

	t.Run("the same rule", func(t *testing.T) {
		under(t, s, inRooms(rules.Outcome{Refuse: "使えません"}, "akagi"), anyStage())
		d := booked(t, s, "16時")
		d.Card(gate, "👉 いま: 課長")
		d.Click(webapi.Suzuki, gate, "approve_step")
		expect.Has(t, strings.Join(d.Told(webapi.Suzuki), "\n"), "いまは 課長", "Suzuki is told")
		d.Click(webapi.Tanaka, gate, "approve_step")
		d.Card("CARD#execution", "✅ 実行完了")
		made(2)
	})

	t.Run("a rule that refuses", func(t *testing.T) {
		under(t, s, inRooms(rules.Outcome{Refuse: "総務に頼んでください。"}, rooms...), anyStage())
		d := booked(t, s, "17時")
		d.Card("CARD#execution", "ルール「大会議室」により、実行を中止しました")
		e := d.Load().Head.Ended
		expect.That(t, e.As == task.TaskCancelled && e.Reason == task.ReasonStepRefused, "%+v", e)
		made(2)
	})
}
