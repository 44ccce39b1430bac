package audit

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	domain "ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
	"ringi/shared/store"
	"ringi/shared/words/legible"
)

const (
	pageDays  = 365    // that the page shows unless the viewer asks for others
	maxYears  = 12     // that a period may touch
	mostFiled = 10_000 // lines of a file
	atOnce    = 200    // numbers that one query reads
)

// period is from which day to which decisions were settled.
type period struct {
	From, To    string
	Ignored     string // which days of the address are left out
	begin, end  time.Time
	first, last int // fiscal years
}

const registerPath = "/console/register"

// at returns an address of the period, with more values.
func (p *period) at(path string, more ...string) string {
	q := url.Values{"from": {p.From}, "to": {p.To}}
	for i := 0; i < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	return path + "?" + q.Encode()
}

// maxSearch is how many characters what is searched for may have.
const maxSearch = 120

func (p *period) filter(words web.Texts, query string) web.Filter {
	return web.Filter{Path: registerPath, Submit: words.Say("filter"),
		Links: web.Cleared(registerPath, words.Say("clear"), true), Fields: []web.Field{
			{Name: "q", Label: words.Say("either"), Value: query, Type: "search", Most: maxSearch,
				Example: words.Say("example")},
			web.Day("from", words.Say("from"), p.From), web.Day("to", words.Say("to"), p.To),
		}}
}

func (c *Pages) period(ctx context.Context, v *web.Viewer, q url.Values) (p period, err error) {
	p = period{From: q.Get("from"), To: q.Get("to")}
	settings, err := c.Store.Settings(ctx, v.Tenant)
	if err != nil {
		return p, err
	}
	bad := web.BadFilter{}
	if p.begin, p.end = bad.Days(&p.From, &p.To); p.To == "" {
		p.end = c.Now().AddDate(0, 0, 1)
	}
	bad.Refuse("from", &p.From, !p.begin.Before(p.end) ||
		settings.FiscalYear(p.end)-settings.FiscalYear(p.begin) > maxYears)
	if p.From == "" {
		p.begin = p.end.AddDate(0, 0, -pageDays-1)
	}
	p.From, p.To = cmp.Or(p.From, tenancy.DayOf(p.begin)), cmp.Or(p.To, tenancy.DayOf(c.Now()))
	// A year that was changed in the settings may have put a decision into the one beside.
	p.first, p.last = settings.FiscalYear(p.begin)-1, settings.FiscalYear(p.end)+1
	p.Ignored = bad.Said(v.Texts("register"))
	return p, nil
}

type listData struct {
	Period      period
	Filter      web.Filter
	Query       string // that was searched for
	Rows        []line
	Older, File string
}

func (c *Pages) list(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	q := r.URL.Query()
	d := listData{}
	doc := web.Document{Here: "register", Data: &d}
	p, err := c.period(r.Context(), v, q)
	if err != nil {
		return err
	}
	d.Query = legible.First(strings.TrimSpace(legible.Visible(q.Get("q"))), maxSearch)
	if d.Query != "" {
		if x, ok := domain.ParseNumber(d.Query); ok {
			found, err := c.Store.Numbered(r.Context(), v.Tenant, x)
			lines, err := c.linesOf(r.Context(), v, found, err)
			if err != nil {
				return err
			}
			if len(lines) > 0 {
				http.Redirect(w, r, lines[0].Page, http.StatusSeeOther)
				return nil
			}
		}
	}
	d.Period, d.Filter = p, p.filter(v.Texts("register"), d.Query)
	from, _ := domain.ParseNumber(q.Get("cursor"))
	var next string
	if d.Rows, next, err = c.searched(r.Context(), v, &p, from, d.Query); err != nil {
		return err
	}
	if next != "" {
		d.Older = p.at(registerPath, "cursor", next, "q", d.Query)
	}
	d.File = p.at(registerPath + "/file.csv")
	return c.Show(w, r, v, doc, "audit/register")
}

// searched reads a page of the lines of a period that have all words of a query; none: all of them. It looks at
// web.MostLooked lines at most, so that a page may have few and a next one.
func (c *Pages) searched(ctx context.Context, v *web.Viewer, p *period, from domain.Numbered, query string) (
	out []line, next string, err error) {
	wanted := strings.Fields(web.Searchable(query))
	for looked := 0; len(out) < store.MostRegistered && looked < web.MostLooked; looked += store.MostRegistered {
		all, at, err := c.registered(ctx, v, p, from, store.MostRegistered)
		if err != nil {
			return nil, "", err
		}
		out = append(out, slices.DeleteFunc(all, func(x line) bool { return !x.has(wanted) })...)
		if next = at; next == "" {
			break
		}
		from, _ = domain.ParseNumber(next)
	}
	return out, next, nil
}

// has reports whether each of the words stands somewhere in a line.
func (x *line) has(words []string) bool {
	all := []string{x.Number, x.Title, x.By, x.Department, x.Kind, x.Money, x.Amount, x.Stamped,
		x.Rule, x.State, x.Executed.Text()}
	for _, f := range x.Files {
		all = append(all, f.Name)
	}
	text := web.Searchable(strings.Join(all, "\n"))
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
}

// linesOf makes lines of numbers, of as many at once as may be read. err is of reading the numbers.
func (c *Pages) linesOf(ctx context.Context, v *web.Viewer, all []domain.Numbered, err error) ([]line, error) {
	var out []line
	for some := range slices.Chunk(all, store.MostRegistered) {
		rows, err := c.Store.DecisionLines(ctx, v.Tenant, some)
		if err != nil {
			return nil, err
		}
		lines, err := c.lines(ctx, v, rows)
		if err != nil {
			return nil, err
		}
		out = append(out, lines...)
	}
	return out, err
}

// registered reads lines of a period from one number down, the highest first: at most most, and which is next.
func (c *Pages) registered(ctx context.Context, v *web.Viewer, p *period, from domain.Numbered, most int) (
	out []line, next string, err error) {
	all, next, err := c.numbers(ctx, v, p, from, most)
	out, err = c.linesOf(ctx, v, all, err)
	return out, next, err
}

// numbers reads the numbers of a period from one down, the highest first: at most most of them, and which is next.
func (c *Pages) numbers(ctx context.Context, v *web.Viewer, p *period, from domain.Numbered, most int) (
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
			all, err := c.Store.Numbers(ctx, v.Tenant, year, key, atOnce)
			if err != nil {
				return nil, "", err
			}
			last := 1
			for _, x := range all {
				if last = x.N; x.SettledAt.Before(p.begin) || !x.SettledAt.Before(p.end) {
					continue
				}
				if len(out) == most {
					return out, x.String(), nil
				}
				out = append(out, x)
			}
			if len(all) < atOnce || last == 1 {
				break
			}
			key = domain.NumberKey(last - 1)
		}
	}
	return out, "", nil
}

func (c *Pages) file(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	p, err := c.period(r.Context(), v, r.URL.Query())
	if err != nil {
		return err
	}
	if p.Ignored != "" {
		return aggregate.Problem{Field: "from, to", Code: "must be dates"}
	}
	from, _ := domain.ParseNumber(r.URL.Query().Get("cursor"))
	lines, next, err := c.registered(r.Context(), v, &p, from, mostFiled)
	if err != nil {
		return err
	}
	words := v.Texts("register")
	t := card.Table{Columns: web.Each([]string{"number", "does", "title", "by", "department",
		"steps", "amount", "currency", "asked", "settled", "rule", "path", "round", "state",
		"executed_on", "executed_by", "executed_what", "remark", "files", "id"},
		func(key string) string { return words.Say(key) })}
	for i := range lines {
		x, round, by := &lines[i], "", ""
		if x.Round > 0 {
			round = words.Say("round_of", "n", x.Round)
		}
		if x.Executed.Done {
			by = "Ringi"
		}
		t.Rows = append(t.Rows, []string{x.Number, x.Kind, x.Title, x.By, x.Department, x.Stamped,
			x.Amount, x.Currency, day(x.Asked), day(x.Settled), x.Rule, x.Path, round, x.State,
			day(x.Executed.At), by, x.Executed.Text(), x.Remark, named(words, x.Files), x.ID})
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
