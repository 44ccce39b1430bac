package insights

import (
	"context"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/daily"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

const (
	// HomeDays is how many days the console's home counts.
	HomeDays = 7
	// mostMine is how many of a person's latest requests the home counts.
	mostMine = 50
)

// Lately is a workspace's last days in numbers.
type Lately struct {
	From, To string
	All      []Number
}

// Mine counts the viewer's own latest requests.
func (c *Pages) Mine(ctx context.Context, v *web.Viewer) ([]Number, error) {
	page, err := c.Store.Search(ctx, v.Tenant, task.Filter{Requester: v.User}, "", mostMine, mostMine, nil)
	if err != nil {
		return nil, err
	}
	open, ended := 0, map[task.TaskStatus]int{}
	since := c.Now().Add(-HomeDays * 24 * time.Hour)
	for _, x := range page.Items {
		switch {
		case x.Status == task.TaskExtracted || x.Status == task.TaskRunning:
			open++
		case x.UpdatedAt.After(since):
			ended[x.Status]++
		}
	}
	w := v.Texts("insights")
	about := ""
	if page.Next != "" {
		about = w.Say("mine_open_about", "n", mostMine)
	}
	return []Number{
		{w.Say("mine_open"), web.Count(int64(open)), about},
		{w.Say("mine_completed", "n", HomeDays), web.Count(int64(ended[task.TaskCompleted])), ""},
		{w.Say("mine_failed", "n", HomeDays), web.Count(int64(ended[task.TaskFailed])), ""},
	}, nil
}

// Lately counts a workspace's last days, and what it has spent of its budgets.
func (c *Pages) Lately(ctx context.Context, v *web.Viewer, s tenancy.Settings) (Lately, error) {
	l := Lately{To: daily.Day(c.Now())}
	l.From = daysBefore(l.To, HomeDays-1)
	days, err := daily.Days(l.From, l.To)
	if err != nil {
		return l, err
	}
	counted, err := c.Store.Sums(ctx, v.Tenant, days, c.Now())
	if err != nil {
		return l, err
	}
	spent, err := c.Store.Spent(ctx, v.Tenant, c.Now())
	if err != nil {
		return l, err
	}
	w := v.Texts("insights")
	var d insightsData
	d.numbers(w, daily.Total(counted))
	l.All = append(d.Numbers[:2:2], d.Numbers[3], d.Numbers[5]) // requests, half, rate, executions
	of := func(label string, n aggregate.MicroUSD, budget float64) Number {
		about := w.Say("no_budget")
		if budget > 0 {
			about = w.Say("of_budget", "usd", budget)
		}
		return Number{label, web.Spent(w.Locale(), n, 0), about}
	}
	l.All = append(l.All, of(w.Say("spent_day"), spent.Day, s.MaxCostDayUSD), of(w.Say("spent_month"), spent.Month, s.MaxCostMonthUSD))
	return l, nil
}
