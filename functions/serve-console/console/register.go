package console

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/catalog"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/store"
	"ringi/shared/words/legible"
)

const (
	atOnce      = 200    // numbers that one query reads
	mostFiled   = 10_000 // lines of a file
	mostStamped = 2000   // characters of what was decided
	mostTitle   = 80     // characters of a message that stands for a title
)

// register sends what got a number in a fiscal year as a file for spreadsheets, the highest number first.
func (c *Console) register(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	year, err := strconv.Atoi(r.URL.Query().Get("year"))
	if err != nil {
		return aggregate.Problem{Field: "year", Code: "must be a fiscal year"}
	}
	words := v.Texts("audit")
	t := web.Sheet{Columns: web.Each([]string{"number", "title", "by_whom", "department", "decided", "amount", "currency",
		"asked_on", "settled", "rule", "path", "state", "executed", "made", "files", "id"},
		func(key string) string { return words.Say(key) })}
	for key := ""; len(t.Rows) < mostFiled; {
		all, err := c.Store.Numbers(r.Context(), v.Tenant, year, key, atOnce)
		if err != nil {
			return err
		}
		for some := range slices.Chunk(all, store.MostRegistered) {
			lines, err := c.lines(r.Context(), v, some)
			if err != nil {
				return err
			}
			t.Rows = append(t.Rows, lines...)
		}
		if len(all) < atOnce || all[len(all)-1].N == 1 {
			break
		}
		key = task.NumberKey(all[len(all)-1].N - 1)
	}
	return web.AttachZipped(w, r, web.KindCSV, "ringi-register-"+strconv.Itoa(year)+".csv", web.CSV(t))
}

// speaker says what lines say.
type speaker struct {
	subject.Reader
	words web.Texts
}

// lines returns the lines of numbers, in their order.
func (c *Console) lines(ctx context.Context, v *web.Viewer, all []task.Numbered) (out [][]string, err error) {
	rows, err := c.Store.DecisionLines(ctx, v.Tenant, all)
	if err != nil {
		return nil, err
	}
	var ids []string
	sums := make([]explain.Sum, len(rows))
	for i := range rows {
		x := &rows[i]
		if x.Call != nil {
			x.Steps = explain.StepsOf(x.Call)
		}
		sums[i] = explain.SumUp(v.Locale, x.Steps)
		ids = append(append(append(ids, requester(x)), sums[i].People()...), subject.NamedOf(&x.Gate)...)
	}
	s := speaker{subject.Reader{Locale: v.Locale, Person: c.Called(ctx, v, ids...)}, v.Texts("audit")}
	for i := range rows {
		out = append(out, s.line(&rows[i], sums[i]))
	}
	return out, nil
}

// requester returns whose request it is; of a call who answers for the agent.
func requester(x *store.RegisteredTask) string {
	if x.Call == nil {
		return x.Head.Requester
	}
	return x.Call.Answers
}

// line has what register's columns name.
func (s *speaker) line(x *store.RegisteredTask, sum explain.Sum) []string {
	g, by, id, asked := &x.Gate, s.Person(requester(x)), x.Decision.TaskID, x.Head.CreatedAt
	title := explain.Titled(legible.Beginning(card.OneLine(cmp.Or(x.Task.Title, x.Task.Text)), mostTitle),
		x.Head.Glance.Version)
	if x.Call != nil {
		id, asked, title = x.Call.CallID, x.Call.CreatedAt, s.called(x, sum)
		if x.Call.KeyName != "" {
			by = s.words.Say("by_agent", "agent", card.OneLine(x.Call.KeyName), "who", by)
		}
	}
	rule, settled := "", ""
	if is := g.Terms.Rule; is != nil {
		rule = card.OneLine(is.Name) + " (" + strconv.Itoa(is.Revision) + ")"
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
	executed, made := s.executed(x, sum)
	return []string{x.Decision.String(), title, by, seen.Department, s.stamped(x.Steps, sum), seen.Amount, seen.Currency,
		tenancy.DayOf(asked), settled, rule, s.path(g), s.words.In("states", state(x)), executed, made,
		named(s.words, &x.Files), id}
}

// called is the title of an agent's call: what its server calls the tool, and what it does.
func (s *speaker) called(x *store.RegisteredTask, sum explain.Sum) string {
	says := legible.Beginning(textOf(s.Line(sum.First().Sentence)), mostTitle)
	if len(x.Steps) == 0 || x.Steps[0].ToolTitle == "" {
		return cmp.Or(says, card.OneLine(x.Call.Tool))
	}
	return strings.Trim(card.OneLine(x.Steps[0].ToolTitle)+" — "+says, " —")
}

func textOf(pieces []subject.Piece) string {
	return web.Joined(pieces, func(p subject.Piece) string { return p.Text }, "")
}

// stamped returns what steps were stamped with, as text: what each does, and with which arguments.
func (s *speaker) stamped(steps []task.Step, of explain.Sum) string {
	sum := s.SumOf(of, steps)
	var all []string
	for _, e := range slices.Concat(sum.Writes, sum.Reads) {
		parts := []string{textOf(e.Sentence), textOf(e.Text)}
		for _, a := range e.Rest {
			parts = append(parts, textOf(a.Name)+": "+textOf(a.Value))
		}
		parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
		all = append(all, strings.Join(parts, " / "))
	}
	return legible.Beginning(card.OneLine(strings.Join(all, " ; ")), mostStamped)
}

// path names who stamped, stage by stage: a stand-in with whose stamp it is.
func (s *speaker) path(g *aggregate.Gate) string {
	by := s.Reader
	by.Person = s.plain
	return web.Joined(by.Stamped(g), func(stage subject.Stage) string {
		hands := web.Joined(stage.Stamps, func(act subject.RouteAct) string { return act.By }, "・")
		return strings.TrimLeft(card.OneLine(stage.Name)+" ", " ") + hands
	}, " → ")
}

// plain returns a name without what parts stages and stamps, or looks like it: people choose their names.
func (s *speaker) plain(id string) string {
	name := strings.Map(func(r rune) rune {
		if unicode.IsSymbol(r) || strings.ContainsRune("・･·•‧", r) {
			return ' '
		}
		return r
	}, s.Person(id))
	return cmp.Or(strings.Join(strings.Fields(name), " "), id)
}

// state says how it stands, as a key of the texts.
func state(x *store.RegisteredTask) string {
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

// executed returns the day on which a line's request or call was carried out (施行), and what was done and made; empty
// unless all of it was.
func (s *speaker) executed(x *store.RegisteredTask, sum explain.Sum) (day, made string) {
	var at *time.Time
	if at = x.Executed.CompletedAt; at != nil {
		made = s.madeBy(x.Steps, x.Executed.Results)
	} else if x.Call != nil && x.Call.Status == conversation.ActionSucceeded {
		at, made = x.Call.CompletedAt, s.returned(x)
	}
	if at == nil {
		return "", ""
	}
	says := sum.First().Sentence
	if sum.Final {
		sum.Amount = rules.Nothing() // it has a column of its own
		says = sum.Done()
	}
	return tenancy.DayOf(*at), strings.Trim(textOf(s.Briefly(says))+" · "+made, " ·")
}

// returned says what an agent's call made, unless what it returned is large.
func (s *speaker) returned(x *store.RegisteredTask) string {
	if x.Call.Result == nil || len(x.Steps) == 0 {
		return ""
	}
	is, err := conversation.ReadCallResult([]byte(x.Call.Result.JSON))
	if err != nil {
		return ""
	}
	return explain.MadeBy(explain.Made(s.Locale, aggregate.JSON(is.Value)))
}

// madeBy returns what the results of writes name, in the order of the steps.
func (s *speaker) madeBy(steps []task.Step, results []task.ResultEntry) string {
	var all []string
	for _, r := range results {
		if r.Result == nil || r.Status != task.StepCompleted {
			continue
		}
		for i := range steps {
			if is := &steps[i]; is.StepID == r.StepID && is.Access == aggregate.Write && is.Tool != catalog.Decide {
				all = append(all, explain.Made(s.Locale, r.Result.JSON)...)
			}
		}
	}
	return explain.MadeBy(all)
}

// named names the files of a line in a cell, each in quotation marks and with its whole hash.
func named(words web.Texts, a *task.Aggregate) string {
	attached, left := a.Attached()
	says := web.Each(attached, func(f task.ReadFile) string {
		return words.Say("file_cell", "name", legible.OneLine(cmp.Or(f.Name, f.ID)), "size", explain.Size(f.Bytes), "hash",
			f.SHA256)
	})
	says = append(says, web.Each(left, func(f task.ReadFile) string {
		return words.Say("file_cell_left", "name", legible.OneLine(cmp.Or(f.Name, f.ID)))
	})...)
	return strings.Join(says, " / ")
}
