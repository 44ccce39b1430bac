package audit

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/tool"
)

// insightDays is the number of days shown by default.
const insightDays = 30

type insightsData struct {
	Views    []web.View
	Filter   web.Filter
	Problem  string
	Empty    bool
	Numbers  []web.Number
	WaitRows []bucketRow
	Gates    explain.Table
	Became   []becameRow
	Tools    explain.Table
	Tokens   chart
	Cost     chart
	Days     explain.Table
	Unpriced bool // the price of some calls is unknown
}

// bucketRow is a bar: its width is in thousandths of the largest.
type bucketRow struct {
	UpTo     string
	N, Width int
}

// becameRow counts the requests that came to rest in a status.
type becameRow struct {
	Status task.Status
	Path   string // of the requests that stand so now
	N      int
}

const insightsPath = "/console/insights"

func (c *Pages) showInsights(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	words := v.Texts("insights")
	var d insightsData
	doc := web.Document{Here: "insights", Data: &d}
	today := tenancy.DayOf(c.Now())
	last := cmp.Or(r.URL.Query().Get("to"), today)
	first := cmp.Or(r.URL.Query().Get("from"), daysBefore(last, insightDays-1))
	days, err := tenancy.DaysBetween(first, last)
	if field := (aggregate.ErrField{}); errors.As(err, &field) {
		d.Problem = words.Say("bad_range", "n", tenancy.MaxDays, "days", insightDays)
		first, last = daysBefore(today, insightDays-1), today
		days, err = tenancy.DaysBetween(first, last)
	}
	if err != nil {
		return err
	}
	d.Filter = web.Filter{Path: insightsPath, Submit: words.Say("show"),
		Fields: []web.Field{web.Day("from", words.Say("from"), first), web.Day("to", words.Say("to"), last)}}
	d.Filter.Fields[0].Required, d.Filter.Fields[1].Required = true, true
	for _, n := range []int{7, insightDays, 90} {
		from := daysBefore(today, n-1)
		path := web.At(insightsPath, map[string]string{"from": from, "to": today})
		here := from == first && last == today
		d.Views = append(d.Views, web.View{Path: path, Text: words.Say("last_days", "n", n), Here: here})
	}
	sums, err := c.Store.Sums(r.Context(), v.Tenant, days)
	if err != nil {
		return err
	}
	catalog, err := tool.Builtin()
	if err != nil {
		return err
	}
	d.fill(words, sums, func(name string) string {
		if s, ok := catalog.Lookup(name); ok {
			name = s.Title(v.Locale) + " (" + name + ")"
		}
		return name
	})
	return c.Show(w, r, v, doc, "audit/insights")
}

// daysBefore returns the day n days earlier; a text that is not a date is returned unchanged.
func daysBefore(day string, n int) string {
	t, err := tenancy.DayBegins(day)
	if err != nil {
		return day
	}
	return tenancy.DayOf(t.AddDate(0, 0, -n))
}

func (d *insightsData) fill(w web.Texts, sums []tenancy.DailySum, called func(tool string) string) {
	var read, spent []bar
	d.Days.Columns = w.Columns("day", "#tasks", "#decisions", "#input", "#output", "#cached", "#cost", "#unpriced")
	for _, s := range sums {
		day := s.Day
		tokens := s.Spent.Input + s.Spent.Output + s.Spent.Cached
		read = append(read, bar{Value: tokens, Label: day[len("2026-"):], Title: day + " " + web.Count(tokens)})
		spent = append(spent, bar{Value: int64(s.Spent.Cost), Label: day[len("2026-"):],
			Title: day + " " + web.Spent(w.Locale(), s.Spent.Cost, s.Spent.Unpriced)})
		if s.Facts > 0 {
			d.Days.Rows = append(d.Days.Rows, []string{day, strconv.Itoa(s.Tasks),
				strconv.Itoa(s.Decisions()), web.Count(s.Spent.Input), web.Count(s.Spent.Output), web.Count(s.Spent.Cached),
				web.Spent(w.Locale(), s.Spent.Cost, s.Spent.Unpriced), strconv.Itoa(s.Spent.Unpriced)})
		}
	}
	slices.Reverse(d.Days.Rows)
	all := tenancy.TotalOfDays(sums)
	d.Empty, d.Unpriced = all.Facts == 0, all.Spent.Unpriced > 0
	d.Tokens = chartOf(w.Say("token_chart"), read, web.Count)
	d.Cost = chartOf(w.Say("cost_chart"), spent, func(n int64) string {
		return web.Spent(w.Locale(), aggregate.MicroUSD(n), 0)
	})
	d.numbers(w, all)
	d.waits(w, all)
	d.Gates.Columns = w.Columns("gate", "#approved", "#rejected", "#denied", "#returned", "#expired", "#rate")
	for _, gate := range []string{"prompt", "process", "step"} {
		by := all.Verdicts[gate]
		row, decided := []string{w.In("gates", gate)}, 0
		for _, v := range []tenancy.Verdict{tenancy.Approved, tenancy.Rejected, tenancy.Denied, tenancy.Returned} {
			row, decided = append(row, strconv.Itoa(by[v])), decided+by[v]
		}
		row = append(row, strconv.Itoa(by[tenancy.Expired]))
		d.Gates.Rows = append(d.Gates.Rows, append(row, percent(by[tenancy.Approved], decided)))
	}
	for _, s := range append(slices.Clone(task.Statuses), task.StatusDenied, task.StatusUnrouted) {
		listed := s
		if s == task.StatusDenied || s == task.StatusUnrouted { // lists have it among the cancelled
			listed = task.StatusCancelled
		}
		if n := all.Became[string(s)]; n > 0 {
			d.Became = append(d.Became, becameRow{s, web.At("/console/tasks", map[string]string{"status": string(listed)}), n})
		}
	}
	d.Tools.Columns = w.Columns("tool", "#completed", "#failed", "#unknown", "#failure_rate")
	worst := func(a, b string) int {
		x, y := all.Tools[a], all.Tools[b]
		return y.Failed + y.Unknown - x.Failed - x.Unknown
	}
	for _, name := range slices.SortedStableFunc(slices.Values(slices.Sorted(maps.Keys(all.Tools))), worst) {
		n := all.Tools[name]
		d.Tools.Rows = append(d.Tools.Rows, []string{called(name), strconv.Itoa(n.Completed), strconv.Itoa(n.Failed),
			strconv.Itoa(n.Unknown), percent(n.Failed+n.Unknown, n.All())})
	}
}

func (d *insightsData) numbers(w web.Texts, all tenancy.DailySum) {
	within := func(part float64) string {
		end, ended, known := all.Within(part)
		switch {
		case !known:
			return "—"
		case !ended:
			return w.Say("longer")
		}
		return w.Say("up_to", "time", span(w, end))
	}
	approved := all.Decided(tenancy.Approved)
	again := "—"
	if all.Tasks > 0 {
		again = fmt.Sprintf("%.2f", float64(all.SentBack())/float64(all.Tasks))
	}
	d.Numbers = []web.Number{
		{Name: w.Say("tasks"), Text: web.Count(int64(all.Tasks)), About: w.Say("tasks_about")},
		{Name: w.Say("half"), Text: within(0.5), About: w.Say("half_about")},
		{Name: w.Say("most"), Text: within(0.9), About: w.Say("most_about")},
		{Name: w.Say("rate"), Text: percent(approved, all.Decisions()), About: w.Say("rate_about", "approved", approved,
			"rejected", all.Decided(tenancy.Rejected)+all.Decided(tenancy.Denied), "returned", all.Decided(tenancy.Returned))},
		{Name: w.Say("again"), Text: again, About: w.Say("again_about", "rejected", all.SentBack(), "failed", all.Retried)},
		{Name: w.Say("runs"), Text: web.Count(int64(all.Ended["completed"])), About: w.Say("runs_about", "failed",
			all.Ended["failed"], "cancelled", all.Ended["cancelled"])},
		{Name: w.Say("tokens"), Text: web.Count(all.Spent.Input + all.Spent.Output + all.Spent.Cached)},
		{Name: w.Say("cost"), Text: web.Spent(w.Locale(), all.Spent.Cost, all.Spent.Unpriced)},
	}
}

// waits fills in the buckets that have decisions.
func (d *insightsData) waits(w web.Texts, all tenancy.DailySum) {
	for i, n := range all.Waits {
		if n == 0 {
			continue
		}
		text := w.Say("longer")
		if end, ok := tenancy.WaitBound(i); ok {
			text = w.Say("up_to", "time", span(w, end))
		}
		d.WaitRows = append(d.WaitRows, bucketRow{text, n, max(4, 1000*n/slices.Max(all.Waits))})
	}
}

// percent formats part of whole; it returns a dash if whole is 0.
func percent(part, whole int) string {
	if whole == 0 {
		return "—"
	}
	return fmt.Sprintf("%d%%", int(math.Round(100*float64(part)/float64(whole))))
}

// span formats an upper bound of a duration, rounded up to a figure that people read: above ten to one of few.
func span(w web.Texts, d time.Duration) string {
	up := func(unit time.Duration, few int) int {
		n := int(math.Ceil(float64(d) / float64(unit)))
		if n > 10 {
			n = (n + few - 1) / few * few
		}
		return n
	}
	switch {
	case d <= 100*time.Second:
		return w.Say("seconds", "n", up(time.Second, 5))
	case d <= 100*time.Minute:
		return w.Say("minutes", "n", up(time.Minute, 5))
	case d <= 48*time.Hour:
		return w.Say("hours", "n", up(time.Hour, 6))
	}
	return w.Say("days", "n", up(24*time.Hour, 5))
}

// chart is a small bar chart with its axes. Sizes are attributes because the pages have no inline styles.
type chart struct {
	About         string
	Top, Half     string // labels of the upper end and the middle of the vertical axis
	Width, Height int
	Bars          []bar
	Columns       []string // labels of the horizontal axis, one for each column; "" for most
}

type bar struct {
	Value      int64
	Title      string
	Label      string // of its column
	X, Y, W, H int
}

const (
	chartHeight = 100
	barWidth    = 16
	barGap      = 4
	fewestBars  = 12 // minimum number of columns, so that one bar doesn't fill the chart
	mostLabels  = 4  // of the horizontal axis, so that they don't overlap on a phone
)

// chartOf sizes the bars by an axis that ends at an even number, which say formats; any bar above zero is visible.
// Without data there is no chart.
func chartOf(about string, bars []bar, say func(int64) string) chart {
	most := int64(0)
	for _, b := range bars {
		most = max(most, b.Value)
	}
	if most == 0 {
		return chart{}
	}
	top := even(most)
	columns := make([]string, max(fewestBars, len(bars)))
	every := (len(bars) + mostLabels - 1) / mostLabels
	for i := range bars {
		b := &bars[i]
		b.X, b.W, b.Y = i*(barWidth+barGap), barWidth, chartHeight
		if b.Value > 0 {
			b.H = max(2, int(float64(b.Value)/float64(top)*chartHeight))
			b.Y = chartHeight - b.H
		}
		if (len(bars)-1-i)%every == 0 {
			columns[i] = b.Label
		}
	}
	return chart{about, say(top), say(top / 2), len(columns)*(barWidth+barGap) - barGap, chartHeight, bars, columns}
}

// even returns the first of 2, 4, 6, 8, 10, 20, 40 … that is not below n, so that half of it is a whole number.
func even(n int64) int64 {
	for power := int64(1); ; power *= 10 {
		for _, digit := range []int64{2, 4, 6, 8, 10} {
			if top := digit * power; top >= n || top > 1<<60 {
				return top
			}
		}
	}
}
