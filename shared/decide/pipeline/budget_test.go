package pipeline_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// summed is the cost of all tasks.
type summed tenancy.Sums

func (s summed) Spent(context.Context, string, time.Time) (tenancy.Sums, error) {
	return tenancy.Sums(s), nil
}

// A further workspace is bounded by its administrators' budget and the deployment's, whichever is less.
func TestAFurtherWorkspaceSpendsNoMoreThanItsDay(t *testing.T) {
	for name, tt := range map[string]struct {
		saved, further, today, left float64
		over                        bool
	}{
		"nothing bounds the own workspace": {today: 100}, "nothing saved": {further: 5, today: 1, left: 4}, "spent": {further: 5, today: 5, over: true},
		"more saved": {saved: 50, further: 5, today: 1, left: 4}, "more saved, and spent": {saved: 50, further: 5, today: 6, over: true}, "less saved": {saved: 2, further: 5, today: 1, left: 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := tenancy.Settings{MaxCostDayUSD: tt.saved, FurtherDay: aggregate.USD(tt.further)}
			sums := summed{Day: aggregate.USD(tt.today), Month: aggregate.USD(tt.today)}
			left, err := pipeline.WithinBudgets(t.Context(), sums, "T", s, time.Now())
			if left != aggregate.USD(tt.left) || errors.As(err, new(task.StopError)) != tt.over {
				t.Errorf("%s left, %v", left, err)
			}
			over := expect.Value(pipeline.OverBudget(t.Context(), sums, "T", s, time.Now()))(t)
			most := expect.Value(pipeline.MostOfDay(t.Context(), sums, "T", s, time.Now()))(t)
			if (over.Reason == task.ReasonDayBudget) != tt.over || most != s.MaxCostDay() || s.CostsLimited() != (tt.further > 0) {
				t.Errorf("%+v, at most %s", over, most)
			}
		})
	}
}
