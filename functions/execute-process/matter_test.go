package main

import (
	"fmt"
	"testing"
	"time"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/catalog"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
)

// settledForm brings a form to its execution, which no model and no session may carry out.
func settledForm(t *testing.T, server *pipelinetest.Server) *world {
	w := newWorld(t, server)
	w.h.Open = func(string) (model.Wire, error) { t.Error("a model is asked"); return nil, nil }
	w.ReceiveForm()
	spec, _ := w.h.Catalog.Lookup(catalog.Decide)
	s := tenancy.DefaultSettings()
	s.Executor, s.AutoApproveTools, s.MaxCostUSD = tenancy.ExecutorManaged, false, 0.01
	w.Approved(s, pipelinetest.Form.Steps("ja", spec.Version())...)
	return w
}

// recorded checks that the decision has the only number, as its result.
func (w *world) recorded() {
	w.T.Helper()
	e := w.ends(task.ExecutionCompleted, "", task.StepCompleted)
	numbers, of := w.given()
	expect.Same(w.T, []int{1}, numbers)
	row := w.Load().StepOf(e, 1)
	expect.That(w.T, of[0].TaskID == w.Ref.ID && row.Result != nil &&
		string(row.Result.JSON) == `{"number":"`+of[0].String()+`"}` && row.Claim == nil, "%+v", row)
	for _, told := range []string{of[0].String(), "「" + pipelinetest.Form.Title + "」"} {
		expect.Has(w.T, e.Summary, told, "the end, as the asker's message and the page show it")
	}
}

// Whatever call to the table is lost, or its answer, the decision has one number when the function was called again.
func TestADecisionIsRecordedOnceWhateverIsLost(t *testing.T) {
	server := pipelinetest.Start(t)
	for _, lost := range []string{"nothing", "calls", "answers"} {
		for times := range 4 {
			t.Run(fmt.Sprintf("%s %d times", lost, times+1), func(t *testing.T) {
				w := settledForm(t, server)
				switch lost {
				case "calls":
					w.Transport.DropCalls("TransactWriteItems", times+1)
				case "answers":
					w.Transport.DropAnswers("TransactWriteItems", times+1)
				}
				for range 2 * (times + 1) {
					if w.Load().Head.Ended == nil {
						_, _ = w.try(functionTime) // the state machine calls it again
					}
				}
				w.recorded()
			})
		}
	}
}

func TestADecisionHasNoNumberBeforeItIsRecorded(t *testing.T) {
	w := settledForm(t, pipelinetest.Start(t))
	expect.Value(w.try(minTurn - time.Second))(t)
	numbers, _ := w.given()
	expect.That(t, len(numbers) == 0 && w.Load().Execution().Status == task.ExecutionPending, "%v", numbers)
	w.run()
	w.recorded()
}
