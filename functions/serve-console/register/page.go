// Package register shows the decisions that have a number: the list of a period, its file, and a sheet to print of each.
package register

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/daily"
	domain "ringi/shared/domain/task"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/tasks"
)

const (
	pageDays  = 365    // that the page shows unless the viewer asks for others
	maxYears  = 12     // that a period may touch
	mostFiled = 10_000 // decisions in a file
	atOnce    = 200    // numbers that one query reads
)

type Pages struct{ *web.Site }

func (c *Pages) Routes() []web.Route {
	return []web.Route{
		web.ForAdministrators("GET /console/register", c.list),
		web.ForAdministrators("GET /console/register/file.csv", c.file),
		web.ForAdministrators("GET /console/register/{number}", c.sheet),
	}
}

// period is the days in which decisions were settled; both are included.
type period struct {
	From, To    string
	Problem     string
	begin, end  time.Time
	first, last int // fiscal years
}

func (c *Pages) period(ctx context.Context, v *web.Viewer, q url.Values) (p period, err error) {
	now := c.Now()
	p = period{From: q.Get("from"), To: q.Get("to")}
	p.begin, p.end = now.AddDate(0, 0, -pageDays), now.AddDate(0, 0, 1)
	if p.From != "" {
		if p.begin, err = daily.Begins(p.From); err != nil {
			p.Problem = "from"
			return p, nil
		}
	}
	if p.To != "" {
		if p.end, err = daily.Begins(p.To); err != nil {
			p.Problem = "to"
			return p, nil
		}
		p.end = p.end.AddDate(0, 0, 1)
	}
	settings, err := c.Store.Settings(ctx, v.Tenant)
	if err != nil {
		return p, err
	}
	// A year that was changed in the settings may have put a decision into the one beside.
	p.first, p.last = settings.FiscalYear(p.begin)-1, settings.FiscalYear(p.end)+1
	if !p.begin.Before(p.end) || p.last-p.first > maxYears+2 {
		p.Problem = "to"
	}
	return p, nil
}

// numbers returns the period's numbers from one down, the highest first, and which is next after most of them.
func (c *Pages) numbers(ctx context.Context, tenant string, p period, from domain.Numbered, most int) (
	out []domain.Numbered, next string, err error) {
	for year := p.last; year >= p.first; year-- {
		key := ""
		switch {
		case from.Year != 0 && year > from.Year:
			continue
		case year == from.Year:
			key = from.Key()
		}
		for {
			all, err := c.Store.Numbers(ctx, tenant, year, key, atOnce)
			if err != nil {
				return nil, "", err
			}
			for _, x := range all {
				if x.SettledAt.Before(p.begin) || !x.SettledAt.Before(p.end) {
					continue
				}
				if len(out) == most {
					return out, x.String(), nil
				}
				out = append(out, x)
			}
			if len(all) < atOnce || all[len(all)-1].N == 1 {
				break
			}
			key = domain.NumberKey(all[len(all)-1].N - 1)
		}
	}
	return out, "", nil
}

type listData struct {
	Period      period
	Number      string // that was looked for in vain
	Rows        []line
	Older, File string
}

// line is a decision in the list.
type line struct {
	Number, Task, Title, By, Rule string
	Round                         int
	Asked, Settled, Begun         time.Time
	Path, State                   string
}

func (c *Pages) list(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	q := r.URL.Query()
	d := listData{}
	if text := strings.TrimSpace(q.Get("number")); text != "" {
		if x, ok := domain.ParseNumber(text); ok {
			http.Redirect(w, r, "/console/register/"+x.String(), http.StatusSeeOther)
			return nil
		}
		d.Number = text
	}
	doc := web.Document{Title: v.Texts("layout").Say("register"), Here: "register"}
	p, err := c.period(r.Context(), v, q)
	if err != nil {
		return err
	}
	if d.Period = p; p.Problem != "" {
		doc.Data, doc.Status = d, http.StatusBadRequest
		return c.Show(w, r, v, doc, "register.html")
	}
	from, _ := domain.ParseNumber(q.Get("cursor"))
	all, next, err := c.numbers(r.Context(), v.Tenant, p, from, tasks.MostRegistered)
	if err != nil {
		return err
	}
	if d.Rows, err = c.lines(r.Context(), v, all); err != nil {
		return err
	}
	if next != "" {
		d.Older = "/console/register?" + url.Values{"from": {p.From}, "to": {p.To}, "cursor": {next}}.Encode()
	}
	d.File = "/console/register/file.csv?" + url.Values{"from": {p.From}, "to": {p.To}}.Encode()
	doc.Data = d
	return c.Show(w, r, v, doc, "register.html")
}

// lines returns the lines of numbers, in their order.
func (c *Pages) lines(ctx context.Context, v *web.Viewer, all []domain.Numbered) (out []line, err error) {
	words := v.Texts("register")
	for len(all) > 0 {
		n := min(len(all), tasks.MostRegistered)
		rows, err := c.Store.Registered(ctx, v.Tenant, all[:n])
		if err != nil {
			return nil, err
		}
		var ids []string
		for _, x := range rows {
			ids = append(ids, x.Task.Requester())
			for _, s := range x.Gate.Given() {
				ids = append(ids, s.By, s.OnBehalfOf)
			}
		}
		names := c.Names(slackapi.For(ctx, v.Tenant), v, ids...)
		called := func(id string) string { return card.OneLine(cmp.Or(names[id], id)) }
		for _, x := range rows {
			out = append(out, line{
				Number: x.Number.String(), Task: x.Number.TaskID, Title: card.OneLine(x.Task.Title), By: called(x.Task.Requester()),
				Rule:  card.OneLine(x.Number.Rule.Name) + " (" + strconv.Itoa(x.Number.Rule.Revision) + ")",
				Round: x.Number.Round, Asked: x.Task.CreatedAt, Settled: x.Number.SettledAt, Begun: x.Number.BegunAt,
				Path: path(words, &x.Gate, called), State: words.In("states", state(x.Ended)),
			})
		}
		all = all[n:]
	}
	return out, nil
}

// path names who stamped, stage by stage, a stand-in with whose stamp it is.
func path(words web.Texts, g *aggregate.Gate, called func(string) string) string {
	st := circulation.Walk(g.Circulating())
	var parts []string
	for _, s := range st.Stages {
		var hands []string
		for _, act := range s.Stamps {
			hands = append(hands, hand(words, act, called))
		}
		if len(hands) > 0 {
			parts = append(parts, card.OneLine(s.Name)+" "+strings.Join(hands, "・"))
		}
	}
	return strings.Join(parts, " → ")
}

func hand(words web.Texts, act *circulation.Act, called func(string) string) string {
	if act.Principal.User == act.Hand.User {
		return called(act.Hand.User)
	}
	return called(act.Hand.User) + words.Say("for", "who", called(act.Principal.User))
}

// state says how it went on after the decision.
func state(e *domain.Ended) string {
	switch {
	case e == nil:
		return "running"
	case e.As == domain.TaskCompleted:
		return "done"
	case e.As == domain.TaskFailed:
		return "failed"
	}
	return "cancelled"
}

// file sends the decisions of a period as a CSV file.
func (c *Pages) file(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	p, err := c.period(r.Context(), v, r.URL.Query())
	if err != nil {
		return err
	}
	if p.Problem != "" {
		return aggregate.ErrField{Field: p.Problem, Limit: "must be a date"}
	}
	all, next, err := c.numbers(r.Context(), v.Tenant, p, domain.Numbered{}, mostFiled)
	if err != nil {
		return err
	}
	lines, err := c.lines(r.Context(), v, all)
	if err != nil {
		return err
	}
	words := v.Texts("register")
	t := card.Table{Columns: []string{words.Say("number"), words.Say("title"), words.Say("by"), words.Say("asked"),
		words.Say("settled"), words.Say("begun"), words.Say("rule"), words.Say("path"), words.Say("round"),
		words.Say("state"), words.Say("id")}}
	for _, x := range lines {
		t.Rows = append(t.Rows, []string{x.Number, x.Title, x.By, daily.Day(x.Asked), daily.Day(x.Settled), daily.Day(x.Begun),
			x.Rule, x.Path, strconv.Itoa(x.Round), x.State, x.Task})
	}
	if next != "" {
		t.Rows = append(t.Rows, []string{words.Say("more", "next", next)})
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="ringi-register.csv"`)
	_, err = w.Write(web.CSV(t))
	return err
}
