package pipelinetest

import "ringi/shared/decide/pipeline"

// RefuseCommits makes DynamoDB refuse all writes that change a task's head, until ClearFaults.
func (w *World) RefuseCommits() {
	w.Transport.Refuse("TransactWriteItems", movesHead, Refused)
}

// PaidAlone checks that err stops the state machine's retries, and that only the cost of the model calls was saved: as
// one usage without a result, and in the day's sum.
func (w *World) PaidAlone(err error) {
	w.T.Helper()
	if err == nil || pipeline.Name(err) != pipeline.Internal {
		w.T.Errorf("the state machine is told %q: %v", pipeline.Name(err), err)
	}
	a := w.Load()
	if n := len(a.Uses); n != 1 || a.Uses[0].Made != "" || a.Spent() != a.Uses[0].Cost {
		w.T.Fatalf("%d usages, of which a task knows that it spent %s: %+v", n, a.Spent(), a.Uses)
	}
	sums, err := w.Store.Spent(w.T.Context(), w.Ref.Tenant, w.Now())
	if err != nil || sums.Day != a.Spent() || sums.Month != a.Spent() {
		w.T.Errorf("day and month have %+v, the task %s (%v)", sums, a.Spent(), err)
	}
}
