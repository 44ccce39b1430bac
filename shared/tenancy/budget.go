package tenancy

import "ringi/shared/aggregate"

// Budget is what all tasks of a tenant may cost in a time; a Most of 0 is no limit.
type Budget struct {
	Field string // of the settings
	Most  aggregate.MicroUSD
}

// budget is a limit in dollars as the settings have it.
type budget struct {
	field string
	usd   float64
}

func (s Settings) budgets() []budget {
	return []budget{{"max_cost_usd", s.MaxCostUSD}, {"max_cost_day_usd", s.MaxCostDayUSD}, {"max_cost_month_usd", s.MaxCostMonthUSD}}
}
