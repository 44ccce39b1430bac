package tenancy

import (
	"time"

	"ringi/shared/domain/aggregate"
)

// spentKept is how long a day's sum is stored.
const spentKept = 400 * 24 * time.Hour

// SpentPrefix begins the keys of the counters of a tenant's daily costs, in millionths of a dollar. Days and months are
// in UTC.
const SpentPrefix = "SPENT#"

// Spent adds a cost to its day.
func Spent(cost aggregate.MicroUSD, now time.Time) []aggregate.Count {
	if cost <= 0 {
		return nil
	}
	return []aggregate.Count{ofDay(cost, now)}
}

func ofDay(cost aggregate.MicroUSD, day time.Time) aggregate.Count {
	return aggregate.Count{Key: SpentPrefix + day.UTC().Format(time.DateOnly), By: int(cost), Keep: day.Add(spentKept)}
}

// ReasonDayBudget says that a tenant's costs have reached the limit for the day.
const ReasonDayBudget aggregate.Reason = "day_budget"

// Reserve adds a budget to its day before it is spent. It is refused if the day would come to more than most; 0 means
// no limit. So of two concurrent reservations for which only one fits, one is refused.
func Reserve(budget, most aggregate.MicroUSD, now time.Time) []aggregate.Count {
	c := ofDay(budget, now)
	c.Most, c.Reason, c.Held = int(most), ReasonDayBudget, int(budget)
	return []aggregate.Count{c}
}

// Settle replaces a reserved budget by the actual cost.
func Settle(reserved, cost aggregate.MicroUSD, day time.Time) []aggregate.Count {
	if cost == 0 && reserved == 0 {
		return nil
	}
	c := ofDay(cost-reserved, day)
	c.Held = -int(reserved)
	return []aggregate.Count{c}
}

// Sums are the costs of all of a tenant's tasks today and in this month. A running contest counts with its full budget,
// which is held until what it spent is known.
type Sums struct{ Day, Month, HeldDay, HeldMonth aggregate.MicroUSD }

// Spent returns the sums without what is only held.
func (s Sums) Spent() (day, month aggregate.MicroUSD) {
	return s.Day - s.HeldDay, s.Month - s.HeldMonth
}

// MaxCostDay is the daily cost limit, 0 for none.
func (s Settings) MaxCostDay() aggregate.MicroUSD { return limitOf(s.MaxCostDayUSD) }

// CostsLimited reports whether any limit applies to the costs of a task or a conversation.
func (s Settings) CostsLimited() bool { return s.MaxCost() > 0 || s.MaxCostDay() > 0 }

// DayOf returns the date in Japan, as on cards and pages.
func DayOf(t time.Time) string { return t.In(Zone()).Format(time.DateOnly) }
