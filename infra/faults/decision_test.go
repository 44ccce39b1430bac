package faults

import (
	"slices"
	"strings"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/large"
)

// decision has Sato ask for a decision by the form, and Tanaka approve it.
func decision() scenario {
	return scenario{name: "decision", ask: (*scenarioRun).asksByForm, act: func(d *scenarioRun) {
		d.ClickUntilTaken(webapi.Tanaka, "CARD#process#0001", "approve_process")
		d.untilCompleted()
	}}
}

func (d *scenarioRun) asksByForm(t driver.T) *driver.Request {
	t.Helper()
	d.dialogs.Lock()
	defer d.dialogs.Unlock()
	return driver.AskWithFiles(t, d.Stack, webapi.Sato, "demo: mark "+d.mark, quotation())
}

// quotation is the form's file. It is fetched while processes die.
func quotation() driver.FormFile {
	return driver.FormFile{Name: "見積書.pdf", Body: []byte("%PDF-1.7 quotation")}
}

// A decision has one number whatever dies, the step has it as its result, and no number is left out. Its file is kept
// and stamped. What dies while
// the form is sent is told to the person, who sends another one.
func TestACrashAnywhereGivesADecisionOneNumber(t *testing.T) {
	t.Parallel()
	b, s := running, decision()
	recorded := s
	recorded.recorded = true
	d, err := b.run(recorded)
	expect.Must(t, err == nil, "undisturbed: %v", err)
	var trials []trial
	for _, p := range d.points() {
		if p.function != "ReceiveInteractionFunction" {
			trials = append(trials, trial{scenario: s, kills: []point{p}})
		}
	}
	t.Logf("%d points", len(trials))
	if !expect.Long() {
		trials = sample(trials, mostPoints)
	}
	var u unmet
	sideBySide(t, trials, func(of driver.T, i int, kills []point) {
		x, err := b.run(trials[i].scenario, kills...)
		expect.Must(of, err == nil, "%v", err)
		x.hasOneNumber(of)
		u.count(t, x.trace, kills)
	})
	u.few(t, len(trials))
	d.hasOneNumber(t)
}

// hasOneNumber checks the decision's number, and that none is left out before it.
func (d *scenarioRun) hasOneNumber(t driver.T) {
	t.Helper()
	d.T = t
	a := d.Load()
	e := a.Execution()
	row := a.StepOf(e, 1)
	expect.That(t, e.Attempt == 1 && len(a.Steps) == 1 && row.Status == task.StepCompleted && row.Result != nil &&
		a.Head.Number != "" && string(row.Result.JSON) == `{"number":"`+a.Head.Number+`"}`, "%s: %+v", a.Head.Number, row)
	year := tenancy.DefaultSettings().FiscalYear(*a.Process().ApprovedAt)
	all := expect.Value(d.Store.Numbers(t.Context(), d.Ref.Tenant, year, "", 0))(t)
	mine := slices.DeleteFunc(slices.Clone(all), func(x task.Numbered) bool { return x.TaskID != d.Ref.ID })
	expect.That(t, len(mine) == 1 && mine[0].String() == a.Head.Number, "%+v", mine)
	for i, x := range all {
		expect.Is(t, x.N, len(all)-i, "a number is left out")
	}
	expect.That(t, len(a.Uses) == 0, "a model was asked")
	attached, _ := a.Attached()
	expect.Must(t, len(attached) == 1 && strings.Contains(a.Enclosed(), attached[0].SHA256), "%s", a.Enclosed())
	kept := large.Store{Bucket: large.BucketAt(d.Stack.AWS, d.Stack.BucketName)}
	body := expect.Value(kept.Attached(t.Context(), d.Ref, attached[0].SHA256))(t)
	expect.Is(t, string(body), string(quotation().Body))
}
