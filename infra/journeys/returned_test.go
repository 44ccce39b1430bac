package journeys

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// What is given back with a reason is edited in Slack by whoever asked, goes round anew, and runs as edited. A value
// that its tool refuses beyond what the form knows comes back by a message, with what was typed.
func TestWhatIsGivenBackRunsAsItsAskerEditsIt(t *testing.T) {
	s := start(t)
	tenant := aggregate.TenantID(s.Sandbox.TeamID())
	expect.NoError(t, driver.ConnectOrdering(t.Context(), s, tenant))
	t.Cleanup(func() {
		expect.NoError(t, driver.MCPAdmin(s).Forbid(context.Background(), tenant, vendors.PlaceOrder, administrator))
	})
	under(t, s, threeStages(), anyStage())
	d := driver.Ask(t, s, webapi.Sato, "取引先アクメに、プリンター 3台 450,000円を発注してください")
	d.Click(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
	const first, second = "CARD#process#0001", "CARD#process#0002"
	d.Card(first, "👉 いま: 課長")
	d.Click(webapi.Suzuki, first, "approve_process")
	d.Card(first, "👉 いま: 経理")
	d.RejectUntilTaken(webapi.Tanaka, first, "return_process", "2 台で足ります", "")
	d.Card(first, "差し戻し: 依頼者の修正待ち")
	told := func(text string) {
		t.Helper()
		d.Eventually(text, func() bool {
			return slices.ContainsFunc(s.Sandbox.Messages(webapi.DirectMessage(webapi.Sato), ""), func(m webapi.Message) bool {
				return strings.Contains(m.Text, text) && strings.Contains(driver.Face(m), "edit_process")
			})
		})
	}
	told("の修正をお願いします")

	orders := len(s.Vendors.Rooms().Orders())
	d.FillUntilTaken(webapi.Sato, first, "edit_process", quantity(d, "3", "2.5"))
	d.Until("the edit doesn't fit", func(a *task.Aggregate) bool { return len(a.Process().Misfits) > 0 })
	d.Card(second, "修正を受け付けられませんでした")
	d.Card(second, "この値は使えません")
	told("をもう一度修正してください")
	d.FillUntilTaken(webapi.Sato, second, "edit_process", quantity(d, "2.5", "2"))
	d.Card(second, "2 回目の回覧")
	for i, who := range []string{webapi.Suzuki, webapi.Suzuki, webapi.Tanaka, webapi.Alex} {
		d.Card(second, fmt.Sprintf("👉 いま: %s", []string{"課長", "経理", "経理", "部長"}[i]))
		d.Click(who, second, "approve_process")
		d.Until("the stamp counts", func(a *task.Aggregate) bool { return len(a.Process().Acts) == i+1 })
	}
	// The policy names another quantity: what it doesn't name the last stage is asked about once more before the call.
	d.Click(webapi.Alex, "CARD#step#0002#001#01", "approve_step")
	d.Card("CARD#execution", "✅ 実行完了")
	placed := s.Vendors.Rooms().Orders()[orders:]
	expect.That(t, len(placed) == 1 && placed[0].Items[0].Quantity == 2, "%+v", placed)
	entries := d.Audit()
	for _, want := range []string{"process.returned by " + webapi.Tanaka, "process.edited by " + webapi.Sato} {
		n := 0
		for _, e := range entries {
			if e == want {
				n++
			}
		}
		expect.That(t, n == 1, "%d times %s in %q", n, want, entries)
	}
}

// A form that is returned is filled in again by whoever asked, is asked about anew under its number, and what people
// stamp is what has the number of the decision.
func TestAReturnedFormIsDecidedAsItsAskerFillsItInAgain(t *testing.T) {
	s := start(t)
	under(t, s, numbered(desk("課長", 1, webapi.Suzuki), desk("経理", 1, webapi.Tanaka)))
	d := driver.AskByForm(t, s, webapi.Sato, "複合機の入れ替え")
	const second = "CARD#process#0002"
	d.Card(steps1, "👉 いま: 課長")
	d.Click(webapi.Suzuki, steps1, "approve_process")
	d.Card(steps1, "👉 いま: 経理")
	number := d.Load().Head.RequestNumber
	d.RejectUntilTaken(webapi.Tanaka, steps1, "return_process", "賃借にしてください", "")
	d.Card(steps1, "差し戻し: 依頼者の修正待ち")
	d.FillUntilTaken(webapi.Sato, steps1, "edit_process", map[string]any{"title": "複合機の賃借", "amount": "90万"})
	d.Card(second, "賃借にしてください")
	d.Card(second, "複合機の入れ替え") // what it was
	for i, stamp := range [][2]string{{"課長", webapi.Suzuki}, {"経理", webapi.Tanaka}} {
		d.Card(second, "👉 いま: "+stamp[0])
		d.Click(stamp[1], second, "approve_process")
		d.Until("the stamp counts", func(a *task.Aggregate) bool { return len(a.Process().Acts) == i+1 })
	}
	a := agree(t, d, "賃借にしてください", "複合機の賃借")
	expect.That(t, a.Process().Version == 2 && a.Head.Number != "" && a.Head.RequestNumber == number &&
		a.Matter().Amount == "900000" && len(a.Uses) == 0, "%+v", a.Head)
	expect.Has(t, string(a.Process().Steps[0].ToolInput), `"title":"複合機の賃借"`)
}

// quantity is the form's field with a value, filled with another one.
func quantity(d *driver.Request, was, is string) map[string]any {
	d.T.Helper()
	a := d.Load()
	form, _ := card.EditFormOf(nil, a, a.Process().ID, "ja", func(id string) string { return id },
		func(s string, _ int) string { return s })
	for _, p := range form.Parts {
		for _, x := range p.Fields {
			if x.Value == was {
				return map[string]any{x.ID: is}
			}
		}
	}
	d.T.Fatalf("no field has %s: %+v", was, form.Parts)
	return nil
}
