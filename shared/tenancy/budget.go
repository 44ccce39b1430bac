package tenancy

import (
	"time"

	"ringi/shared/aggregate"
)

// spentKept is how long the sum of a day is kept.
const spentKept = 400 * 24 * time.Hour

// SpentPrefix begins the counters of what all tasks of a tenant cost on a day, in millionths of a dollar. Days and months are UTC's.
const SpentPrefix = "SPENT#"

// Spent counts a cost towards its day.
func Spent(cost aggregate.MicroUSD, now time.Time) []aggregate.Count {
	if cost <= 0 {
		return nil
	}
	return []aggregate.Count{{Key: SpentPrefix + now.UTC().Format(time.DateOnly), By: int(cost), Keep: now.Add(spentKept)}}
}

// Sums are what all tasks of a tenant have cost today, and in the month of today.
type Sums struct{ Day, Month aggregate.MicroUSD }

// MaxCostDay is what all tasks of a day may cost, 0 without a limit.
func (s Settings) MaxCostDay() aggregate.MicroUSD { return limitOf(s.MaxCostDayUSD) }

// MaxCostMonth is what all tasks of a month may cost, 0 without a limit.
func (s Settings) MaxCostMonth() aggregate.MicroUSD { return limitOf(s.MaxCostMonthUSD) }

// HasBudgets reports whether a day or a month has a limit.
func (s Settings) HasBudgets() bool { return s.MaxCostDay() > 0 || s.MaxCostMonth() > 0 }

// CostsLimited reports whether any limit of costs has to be held.
func (s Settings) CostsLimited() bool { return s.MaxCost() > 0 || s.HasBudgets() }

// budget is a limit in dollars as the settings have it.
type budget struct {
	field string
	usd   float64
}

func (s Settings) budgets() []budget {
	return []budget{{"max_cost_usd", s.MaxCostUSD}, {"max_cost_day_usd", s.MaxCostDayUSD}, {"max_cost_month_usd", s.MaxCostMonthUSD}, {"max_session_cost_usd", s.MaxSessionCostUSD}, {"draft_contest.budget_usd", s.DraftContest.BudgetUSD}}
}
