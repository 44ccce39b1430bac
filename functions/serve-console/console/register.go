package console

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/store"
	"ringi/shared/words/language"
)

const (
	atOnce    = 200    // numbers that one query reads
	mostFiled = 10_000 // lines of a file
	mostTitle = 80     // characters of a message that stands for a title
)

// register sends what got a number in a fiscal year as a file for spreadsheets, the highest number first.
func (c *Console) register(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	year, err := strconv.Atoi(r.URL.Query().Get("year"))
	if err != nil {
		return aggregate.Problem{Field: "year", Code: "must be a fiscal year"}
	}
	words := v.Texts("audit")
	rows := [][]string{web.Each([]string{"number", "title", "by_whom", "department", "amount", "currency",
		"asked_on", "settled", "rule", "path", "state", "id"},
		func(key string) string { return words.Say(key) })}
	for key := ""; len(rows) < mostFiled; {
		all, err := c.Store.Numbers(r.Context(), v.Tenant, year, key, atOnce)
		if err != nil {
			return err
		}
		for some := range slices.Chunk(all, store.MostRegistered) {
			lines, err := c.lines(r.Context(), v, some)
			if err != nil {
				return err
			}
			rows = append(rows, lines...)
		}
		if len(all) < atOnce || all[len(all)-1].N == 1 {
			break
		}
		key = task.NumberKey(all[len(all)-1].N - 1)
	}
	return web.AttachCSV(w, r, "ringi-register-"+strconv.Itoa(year)+".csv", rows)
}

// speaker says what lines say.
type speaker struct {
	web.Reader
	words web.Texts
}

// lines returns the lines of numbers, in their order.
func (c *Console) lines(ctx context.Context, v *web.Viewer, all []task.Numbered) (out [][]string, err error) {
	rows, err := c.Store.DecisionLines(ctx, v.Tenant, all)
	if err != nil {
		return nil, err
	}
	c.Naming(ctx, v, func(called func(id string) string) {
		s := speaker{web.Reader{Locale: v.Locale, Person: called}, v.Texts("audit")}
		out = web.Each(rows, s.line)
	})
	return out, nil
}

// line has what register's columns name.
func (s speaker) line(x store.RegisteredTask) []string {
	g, by, id, asked := &x.Gate, x.Head.Requester, x.Decision.TaskID, x.Head.CreatedAt
	title := explain.Titled(language.Beginning(language.ForeignLine(cmp.Or(x.Task.Title, x.Task.Text)), mostTitle),
		x.Head.Glance.Version)
	if x.Call != nil {
		by, id, asked, title = x.Call.Answers, x.Call.CallID, x.Call.CreatedAt, s.called(x.Call)
	}
	if by = s.Person(by); x.Call != nil && x.Call.KeyName != "" {
		by = s.words.Say("by_agent", "agent", language.ForeignLine(x.Call.KeyName), "who", by)
	}
	rule, settled := "", ""
	if is := g.Terms.Rule; is != nil {
		rule = language.ForeignLine(is.Name) + " (" + strconv.Itoa(is.Revision) + ")"
	}
	if g.ApprovedAt != nil {
		settled = tenancy.DayOf(*g.ApprovedAt)
	}
	seen := g.Seen
	if of := x.Head.Glance.Amount; seen == nil && of.Known() { // without a rule, or none of it asks anybody
		seen = &aggregate.Seen{Amount: string(of.Value), Currency: of.Currency}
	}
	if seen == nil {
		seen = &aggregate.Seen{}
	} else if seen.Amount == "" {
		seen = &aggregate.Seen{Amount: explain.Money(s.Locale, rules.Amount{Why: rules.Why(seen.Why)}),
			Department: seen.Department}
	}
	return []string{x.Decision.String(), title, by, seen.Department, seen.Amount, seen.Currency, tenancy.DayOf(asked),
		settled, rule, s.path(g), s.words.In("states", state(x)), id}
}

// called is the title of an agent's call: what its server calls the tool, and what it does.
func (s speaker) called(x *call.Call) string {
	steps := explain.StepsOf(x)
	sum := explain.SumUp(s.Locale, steps)
	lead := sum.First()
	says := web.Joined(s.Line(lead.Sentence), func(p web.Piece) string { return p.Text }, "")
	says = language.Beginning(language.ForeignLine(says+" "+explain.Plain(lead.Unsaid())), mostTitle)
	if len(steps) == 0 || steps[0].ToolTitle == "" {
		return cmp.Or(says, language.ForeignLine(x.Tool))
	}
	return strings.Trim(language.ForeignLine(steps[0].ToolTitle)+" — "+says, " —")
}

// path names who stamped, stage by stage: a stand-in with whose stamp it is.
func (s speaker) path(g *aggregate.Gate) string {
	by := s.Reader
	by.Person = s.plain
	return web.Joined(by.Stamped(g), func(stage web.Stage) string {
		hands := web.Joined(stage.Stamps, func(a web.RouteAct) string { return strings.Join(strings.Fields(a.By), " ") }, "・")
		return strings.TrimLeft(language.ForeignLine(stage.Name)+" ", " ") + hands
	}, " → ")
}

// plain returns a name without what parts stages and stamps, or looks like it: people choose their names.
func (s speaker) plain(id string) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsSymbol(r) || strings.ContainsRune("・･·•‧", r) {
			return ' '
		}
		return r
	}, s.Person(id))
	return cmp.Or(strings.Join(strings.Fields(name), " "), id)
}

// state says how it stands, as a key of the texts.
func state(x store.RegisteredTask) string {
	if x.Call != nil {
		return cmp.Or(callStates[x.Call.Status], "running")
	}
	switch e := x.Head.Ended; {
	case e == nil:
		return "running"
	case e.As == task.TaskCompleted:
		return "done"
	case e.As == task.TaskFailed:
		return "failed"
	}
	return "cancelled"
}

var callStates = map[conversation.ActionStatus]string{
	conversation.ActionSucceeded: "done", conversation.ActionFailed: "failed", conversation.ActionCancelled: "cancelled",
	call.Granted: "granted",
}
