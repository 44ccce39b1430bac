package audit

import (
	"context"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
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
	// Full says how many tasks are open and may be, if administrators are to be warned of that; otherwise it is "".
	Full string
}

// Mine counts the viewer's own latest requests.
func (c *InsightPages) Mine(ctx context.Context, v *web.Viewer) ([]Number, error) {
	page, err := c.Store.Search(ctx, v.Tenant, task.Filter{Requester: v.User}, "", mostMine, mostMine, nil)
	if err != nil {
		return nil, err
	}
	stand := map[task.Status]int{} // those that ended: within the days
	since := c.Now().Add(-HomeDays * 24 * time.Hour)
	for _, x := range page.Items {
		if x.Stands.Open() || x.UpdatedAt.After(since) {
			stand[x.Stands]++
		}
	}
	w := v.Texts("insights")
	about := ""
	if page.Next != "" {
		about = w.Say("mine_open_about", "n", mostMine)
	}
	of := func(name, about string, all ...task.Status) Number {
		n := Number{Name: name, About: about}
		sum := 0
		for _, s := range all {
			sum += stand[s]
		}
		if n.Text = web.Count(int64(sum)); len(all) == 1 {
			n.Path = web.At("/console/tasks", map[string]string{"person": web.Myself, "status": string(all[0])})
		}
		return n
	}
	return []Number{
		of(w.Say("mine_waits"), about, task.StatusWaits),
		of(w.Say("mine_open"), about, task.StatusDrafting, task.StatusRunning),
		of(w.Say("mine_completed", "n", HomeDays), "", task.StatusDone),
		of(w.Say("mine_failed", "n", HomeDays), w.Say("mine_failed_about"), task.StatusFailed, task.StatusToRetry,
			task.StatusNotDrafted),
	}, nil
}

// open counts a workspace's open tasks, and sets Full if they come near their limit.
func (c *InsightPages) open(ctx context.Context, v *web.Viewer, l *Lately, limit tenancy.Limit) error {
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
	l.All = append(l.All, Number{Name: w.Say("open"), Text: open, About: about})
	return nil
}

// Lately counts a workspace's last days and its open tasks, and what it has spent of its budgets.
func (c *InsightPages) Lately(ctx context.Context, v *web.Viewer, s tenancy.Settings) (Lately, error) {
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
	became := func(s task.Status) int { return all.Became[string(s)] }
	l.All = append(d.Numbers[:2:2], d.Numbers[3], Number{ // requests, half, rate
		Name: w.Say("done"), Text: web.Count(int64(became(task.StatusDone))), About: w.Say(
			"runs_about", "failed", became(task.StatusFailed)+became(task.StatusToRetry), "cancelled",
			became(task.StatusCancelled),
		),
	})
	of := func(label string, n aggregate.MicroUSD, budget float64) Number {
		about := w.Say("no_budget")
		if budget > 0 {
			about = w.Say("of_budget", "usd", budget)
		}
		return Number{Name: label, Text: web.Spent(w.Locale(), n, 0), About: about}
	}
	l.All = append(l.All, of(w.Say("spent_day"), spent.Day, s.MaxCostDayUSD),
		of(w.Say("spent_month"), spent.Month, s.MaxCostMonthUSD))
	return l, c.open(ctx, v, &l, s.MaxOpenTasks)
}
