package task

import (
	"errors"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

func TestAToolRequestIsAnApprovedStepOrDenied(t *testing.T) {
	s := inSession(t)
	fits := func(orders ...int) func(Step) bool {
		return func(x Step) bool {
			for _, o := range orders {
				if x.Order == o {
					return true
				}
			}
			return false
		}
	}
	admit := func(tool string, f func(Step) bool, want int, denial Denial) {
		t.Helper()
		a := s.load()
		got, why := a.Admit(a.Execution(), ToolRequest{ID: "w", Tool: tool}, f)
		expect.That(t, got.Order == want && why == denial, "%s: step %d, %q; want %d, %q", tool, got.Order, why, want, denial)
	}
	admit("list_employees", fits(1), 1, "")
	admit("list_employees", fits(), 0, DeniedArguments)
	admit("write_rows_to_google_sheet", fits(2), 0, DeniedOrder)
	admit("delete_employees", fits(1, 2, 3), 0, DeniedTool)
	s.do(s.claim, s.finish(done))
	admit("list_employees", fits(1), 0, DeniedDone)
	admit("write_rows_to_google_sheet", fits(2), 2, "")
	admit("write_rows_to_google_sheet", fits(), 0, DeniedArguments)
}

func TestACallRemembersTheToolRequestThatItAnswers(t *testing.T) {
	s := inSession(t)
	s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		c := call(a, now)
		c.ToolRequest = "w1"
		return a.ClaimStep(1, c, now)
	})
	a := s.load()
	row := a.Granted(a.Execution(), "w1")
	expect.That(t, row != nil && row.Order == 1, "%+v", row)
	if a.Granted(a.Execution(), "w2") != nil || a.Granted(a.Execution(), "") != nil {
		t.Error("a request that was not granted is")
	}
}

func TestWhatASessionLeftUndone(t *testing.T) {
	s := inSession(t)
	s.do(s.claim, s.finish(done))
	a := s.load()
	var stop StopError
	err := a.NotDone(a.Execution())
	expect.That(t, errors.As(err, &stop) && stop.Reason == ReasonStepsNotDone && stop.Detail == "2, 3", "%v", err)
}

func TestAnAttemptWaitsForTheSessionBeforeItWithoutBeingStuck(t *testing.T) {
	if s := (&Aggregate{
		Head: Head{Head: aggregate.Head{ChangedAt: time.Unix(0, 0)}},
		Executions: []*Execution{
			{ProcessVersion: 1, Attempt: 1, Status: ExecutionFailed, SessionID: "s"}, {ProcessVersion: 1, Attempt: 2, Status: ExecutionPending},
		},
		Shared: aggregate.Shared{Leases: []*aggregate.Lease{{Of: ExecutionKey(1, 1), LeaseUntil: time.Unix(3600, 0), Ended: true}}},
	}); s.Stuck(time.Unix(3600+60, 0)) || !s.Stuck(time.Unix(3600+21*60, 0)) {
		t.Error("the session's rest counts as nothing done, or nothing ever does")
	}
}
