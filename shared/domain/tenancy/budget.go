package tenancy

import (
	"time"

	"ringi/shared/domain/aggregate"
)

// spentKept is how long the sum of a day is kept.
const spentKept = 400 * 24 * time.Hour

// SpentPrefix begins the counters of what all tasks of a tenant cost on a day, in millionths of a dollar. Days and
// months are UTC's.
const SpentPrefix = "SPENT#"

// Spent counts a cost towards its day.
func Spent(cost aggregate.MicroUSD, now time.Time) []aggregate.Count {
	if cost <= 0 {
		return nil
	}
	return []aggregate.Count{ofDay(cost, now)}
}

func ofDay(cost aggregate.MicroUSD, day time.Time) aggregate.Count {
	return aggregate.Count{Key: SpentPrefix + day.UTC().Format(time.DateOnly), By: int(cost), Keep: day.Add(spentKept)}
}

// ReasonDayBudget says that a tenant's costs have come to what they may on a day.
const ReasonDayBudget aggregate.Reason = "day_budget"

// Reserve counts a budget towards its day before it is spent. With it the day may come to most, 0 for no limit. Of two
// that are begun at once, when the day has room for one, only one is counted.
func Reserve(budget, most aggregate.MicroUSD, now time.Time) []aggregate.Count {
	c := ofDay(budget, now)
	c.Most, c.Reason = int(most), ReasonDayBudget
	return []aggregate.Count{c}
}

// Settle replaces a budget that was reserved on a day by what was really spent.
func Settle(reserved, cost aggregate.MicroUSD, day time.Time) []aggregate.Count {
	if cost == reserved {
		return nil
	}
	return []aggregate.Count{ofDay(cost-reserved, day)}
}

// Sums are what all tasks of a tenant have cost today, and in the month of today. A contest is among them with its
// whole budget until it is over.
type Sums struct{ Day, Month aggregate.MicroUSD }

// MaxCostDay is what all tasks of a day may cost, 0 without a limit: the saved limit, or a further workspace's if lower.
func (s Settings) MaxCostDay() aggregate.MicroUSD {
	saved := limitOf(s.MaxCostDayUSD)
	if s.FurtherDay > 0 && (saved == 0 || s.FurtherDay < saved) {
		return s.FurtherDay
	}
	return saved
}

// MaxCostMonth is what all tasks of a month may cost, 0 without a limit.
func (s Settings) MaxCostMonth() aggregate.MicroUSD { return limitOf(s.MaxCostMonthUSD) }

// MostOfDay is what the counter of the day of these sums may come to: the day's budget, or what the month's other days
// leave of the month's, whichever is less. 0: it may come to anything; where nothing is left it is the least that is
// more.
func (s Settings) MostOfDay(sums Sums) (most aggregate.MicroUSD) {
	if most = s.MaxCostDay(); s.MaxCostMonth() > 0 {
		left := max(s.MaxCostMonth()-(sums.Month-sums.Day), 1)
		if most == 0 || left < most {
			most = left
		}
	}
	return most
}

// HasBudgets reports whether a day or a month has a limit.
func (s Settings) HasBudgets() bool { return s.MaxCostDay() > 0 || s.MaxCostMonth() > 0 }

// CostsLimited reports whether any limit has to be held of what a task costs.
func (s Settings) CostsLimited() bool { return s.MaxCost() > 0 || s.HasBudgets() }

// SessionCostsLimited reports whether any limit has to be held of what a session with an agent costs.
func (s Settings) SessionCostsLimited() bool { return s.MaxSessionCost() > 0 || s.HasBudgets() }
