package pipelinetest

import "ringi/shared/decide/pipeline"

// RefuseCommits has DynamoDB refuse for good whatever moves a task's head, until ClearFaults.
func (w *World) RefuseCommits() {
	w.Transport.Refuse("TransactWriteItems", movesHead, Refused)
}

// PaidAlone checks that err tells the state machine to try no more, and that of what models were paid for nothing is
// left but its cost: in one usage that made nothing, and in the day's sum.
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
