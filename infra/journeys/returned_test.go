package journeys

import (
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

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
	d.RejectUntilTaken(webapi.Tanaka, steps1, "return_process", "賃借にしてください", "")
	d.Card(steps1, "差し戻し: 依頼者の修正待ち")
	d.FillUntilTaken(webapi.Sato, steps1, "refill_process", map[string]any{"title": "複合機の賃借", "amount": "90万"})
	d.Card(second, "賃借にしてください")
	d.Card(second, "複合機の入れ替え") // what it was
	for i, stamp := range [][2]string{{"課長", webapi.Suzuki}, {"経理", webapi.Tanaka}} {
		d.Card(second, "👉 いま: "+stamp[0])
		d.Click(stamp[1], second, "approve_process")
		d.Until("the stamp counts", func(a *task.Aggregate) bool { return len(a.Process().Acts) == i+1 })
	}
	a := agree(t, d, "賃借にしてください", "複合機の賃借")
	expect.That(t, a.Process().Version == 2 && a.Head.Number != "" &&
		a.Matter().Amount == "900000" && len(a.Uses) == 0, "%+v", a.Head)
	expect.Has(t, string(a.Process().Steps[0].ToolInput), `"title":"複合機の賃借"`)
}
