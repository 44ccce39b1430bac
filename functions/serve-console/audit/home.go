package audit

import (
	"context"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

// HomeDays is how many days the console's home counts.
const HomeDays = 7

// Lately is a workspace's last days in numbers.
type Lately struct {
	From, To string
	All      []web.Number
	Briefly  string // the most telling of all
	// Full says how many tasks are open and may be, if administrators are to be warned of that; otherwise it is "".
	Full string
}

// open counts a workspace's open tasks, and sets Full if they come near their limit.
func (c *Pages) open(ctx context.Context, v *web.Viewer, l *Lately, limit tenancy.Limit) error {
	n, err := c.Store.Quota(ctx, v.Tenant, task.OpenOfTenant())
	if err != nil {
		return err
	}
	w := v.Texts("insights")
	open, most := web.Count(int64(n)), web.Count(int64(limit.Tenant))
	about := w.Say("no_limit")
	if limit.Tenant > 0 {
		about = w.Say("of_limit", "n", most)
		if n >= limit.Nearly() {
			l.Full = w.Say("nearly_full", "n", open, "limit", most)
		}
		if n >= limit.Tenant {
			l.Full = w.Say("full", "n", open, "limit", most)
		}
	}
	l.All = append(l.All, web.Number{Name: w.Say("open"), Text: open, About: about})
	return nil
}

// Lately counts a workspace's last days and its open tasks, and what it has spent of its budgets.
func (c *Pages) Lately(ctx context.Context, v *web.Viewer, s tenancy.Settings) (Lately, error) {
	l := Lately{To: tenancy.DayOf(c.Now())}
	l.From = daysBefore(l.To, HomeDays-1)
	days, err := tenancy.DaysBetween(l.From, l.To)
	if err != nil {
		return l, err
	}
	counted, err := c.Store.Sums(ctx, v.Tenant, days)
	if err != nil {
		return l, err
	}
	spent, err := c.Store.Spent(ctx, v.Tenant, c.Now())
	if err != nil {
		return l, err
	}
	w := v.Texts("insights")
	var d insightsData
	all := tenancy.TotalOfDays(counted)
	d.numbers(w, all)
	became := func(some ...task.Status) (n int) {
		for _, s := range some {
			n += all.Became[string(s)]
		}
		return n
	}
	l.All = append(d.Numbers[:2:2], d.Numbers[3], web.Number{ // requests, half, rate
		Name: w.Say("done"), Text: web.Count(int64(became(task.StatusDone))), About: w.Say("runs_about", "failed",
			became(task.StatusFailed, task.StatusToRetry), "cancelled",
			became(task.StatusDenied, task.StatusUnrouted, task.StatusCancelled)),
	})
	of := func(label string, n, held aggregate.MicroUSD, budget float64) web.Number {
		about := w.Say("no_budget")
		if budget > 0 {
			about = w.Say("of_budget", "usd", budget)
		}
		if held > 0 {
			about += " · " + w.Say("held", "usd", held)
		}
		return web.Number{Name: label, Text: web.Spent(w.Locale(), n, 0), About: about}
	}
	day, month := spent.Spent()
	l.All = append(l.All, of(w.Say("spent_day"), day, spent.HeldDay, s.MaxCostDayUSD),
		of(w.Say("spent_month"), month, spent.HeldMonth, s.MaxCostMonthUSD))
	l.Briefly = web.Joined([]web.Number{l.All[0], l.All[3], l.All[5]}, // requests, done, what they cost
		func(n web.Number) string { return n.Name + " " + n.Text }, " · ")
	return l, c.open(ctx, v, &l, s.MaxOpenTasks)
}
