package audit

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	domain "ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
	"ringi/shared/store"
)

// registered reads the lines of a period from one number down, the highest first: at most most of them, and which
// number is next.
func (c *RegisterPages) registered(ctx context.Context, v *web.Viewer, p *period, from domain.Numbered, most int) (
	out []line, next string, err error) {
	if p.By == ofRequests {
		all, next, err := read(p, from, most, func(year int, key string) ([]domain.Requested, error) {
			return c.Store.RequestNumbers(ctx, v.Tenant, year, key, atOnce)
		}, func(x *domain.Requested) (int, time.Time) { return x.N, x.TakenAt })
		if err == nil {
			out, err = c.requests(ctx, v, all)
		}
		return out, next, err
	}
	all, next, err := read(p, from, most, func(year int, key string) ([]domain.Numbered, error) {
		return c.Store.Numbers(ctx, v.Tenant, year, key, atOnce)
	}, func(x *domain.Numbered) (int, time.Time) { return x.N, x.SettledAt })
	if err == nil {
		out, err = c.decisions(ctx, v, all)
	}
	return out, next, err
}

// read reads the numbers of a period from one down, the highest first: at most most of them, and which is next.
func read[T any](p *period, from domain.Numbered, most int, list func(year int, key string) ([]T, error),
	about func(x *T) (n int, at time.Time)) (out []T, next string, err error) {
	for year := p.last; year >= p.first; year-- {
		key := ""
		switch {
		case from.Year != 0 && year > from.Year:
			continue
		case year == from.Year:
			key = from.Key()
		}
		for {
			all, err := list(year, key)
			if err != nil {
				return nil, "", err
			}
			last := 1
			for i := range all {
				n, at := about(&all[i])
				if last = n; at.Before(p.begin) || !at.Before(p.end) {
					continue
				}
				if len(out) == most {
					return out, (&domain.Numbered{Year: year, N: n}).String(), nil
				}
				out = append(out, all[i])
			}
			if len(all) < atOnce || last == 1 {
				break
			}
			key = domain.NumberKey(last - 1)
		}
	}
	return out, "", nil
}

func (c *RegisterPages) decisions(ctx context.Context, v *web.Viewer, all []domain.Numbered) ([]line, error) {
	return each(all, func(some []domain.Numbered) ([]line, error) {
		rows, err := c.Store.DecisionLines(ctx, v.Tenant, some)
		if err != nil {
			return nil, err
		}
		return c.lines(ctx, v, rows)
	})
}

func (c *RegisterPages) requests(ctx context.Context, v *web.Viewer, all []domain.Requested) ([]line, error) {
	return each(all, func(some []domain.Requested) ([]line, error) {
		rows, err := c.Store.RequestLines(ctx, v.Tenant, some)
		if err != nil {
			return nil, err
		}
		return c.lines(ctx, v, rows)
	})
}

// each makes lines of as many numbers at once as may be read.
func each[T any](all []T, of func(some []T) ([]line, error)) (out []line, err error) {
	for len(all) > 0 {
		n := min(len(all), store.MostRegistered)
		some, err := of(all[:n])
		if err != nil {
			return nil, err
		}
		out, all = append(out, some...), all[n:]
	}
	return out, nil
}

// file sends a register of a period as a CSV file.
func (c *RegisterPages) file(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	p, err := c.period(r.Context(), v, r.URL.Query())
	if err != nil {
		return err
	}
	if p.Problem != "" {
		return aggregate.ErrField{Field: p.Problem, Limit: "must be a date"}
	}
	from, _ := domain.ParseNumber(r.URL.Query().Get("cursor"))
	lines, next, err := c.registered(r.Context(), v, &p, from, mostFiled)
	if err != nil {
		return err
	}
	words := v.Texts("register")
	t := card.Table{Columns: []string{
		words.Say("number"), words.Say("request_number"), words.Say("title"), words.Say("by"), words.Say("department"),
		words.Say("amount"), words.Say("currency"), words.Say("asked"), words.Say("settled"), words.Say("rule"),
		words.Say("path"), words.Say("round"), words.Say("state"), words.Say("remark"), words.Say("id"),
	}}
	for i := range lines {
		x := &lines[i]
		t.Rows = append(t.Rows, []string{x.Number, x.Request, x.Title, x.By, x.Department, x.Amount, x.Currency,
			day(x.Asked), day(x.Settled), x.Rule, x.Path, count(x.Round), x.State, x.Remark, x.ID})
	}
	if next != "" {
		t.Rows = append(t.Rows, []string{words.Say("more", "next", next)})
	}
	return web.Attach(w, web.KindCSV, "ringi-register.csv", web.CSV(t))
}

func day(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return tenancy.DayOf(at)
}

func count(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
