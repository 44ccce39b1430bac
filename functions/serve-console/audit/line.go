package audit

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	domain "ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/store"
	"ringi/shared/words/legible"
)

// line is a decision in the list.
type line struct {
	Number              string
	Page                string // where it is shown whole
	ID                  string
	Title, By           string
	Department          string
	Kind                string // what is done, in a word
	Says                []subject.Piece
	Amount, Currency    string
	Money               string // the amount for people
	Rule                string
	Round               int // 0: not counted
	Asked, Settled      time.Time
	Path, State, Remark string
	Stamped             string   // what was decided, with its arguments; empty: no steps
	More                string   // the beginning of what Stamped has beside Says
	Executed            executed // empty: it was not, or not completely
	Files               []filed
}

// speaker says what the lines of one page say.
type speaker struct {
	subject.Reader
	words   web.Texts
	acts    web.Texts // has what acts are called
	changed func(g *aggregate.Gate) bool
}

// lines returns the lines of what was read, in its order.
func (c *Pages) lines(ctx context.Context, v *web.Viewer, rows []store.RegisteredTask) (out []line, err error) {
	var ids []string
	sums := make([]explain.Sum, len(rows))
	for i := range rows {
		x := &rows[i]
		if x.Call != nil {
			x.Steps = subject.StepsOf(x.Call)
		}
		sums[i] = explain.SumUp(v.Locale, x.Steps)
		ids = append(append(ids, requester(x)), sums[i].People()...)
		if x.Call != nil && x.Call.Was != nil && x.Call.Was.By != "" {
			ids = append(ids, x.Call.Was.By)
		}
		ids = append(ids, subject.NamedOf(&x.Gate)...)
	}
	history := changes{ctx: ctx, rows: c.Store, tenant: v.Tenant}
	by := subject.Reader{Locale: v.Locale, Person: c.Called(ctx, v, ids...)}
	s := speaker{by, v.Texts("register"), v.Texts("home"), history.recent}
	for i := range rows {
		out = append(out, s.line(&rows[i], sums[i]))
		told := sums[i].First().Sentence
		if rows[i].Call == nil { // a call's title has it
			out[i].Says = s.Briefly(told)
		}
		more := strings.TrimPrefix(out[i].Stamped, textOf(s.Line(told)))
		out[i].More = legible.Beginning(strings.TrimPrefix(more, " / "), mostMore)
	}
	return out, history.err
}

// requester returns whose request it is; of a call who answers for the agent.
func requester(x *store.RegisteredTask) string {
	if x.Call == nil {
		return x.Head.Requester
	}
	return x.Call.Answers
}

func (s *speaker) line(x *store.RegisteredTask, sum explain.Sum) line {
	g := &x.Gate
	out := line{Number: x.Decision.String(), By: s.Person(requester(x)), Round: x.Decision.Round,
		Path: s.path(g), State: s.words.In("states", state(x)), Remark: s.remarks(x)}
	if x.Call != nil {
		out.ID, out.Page = x.Call.CallID, "/console/calls/"+x.Call.CallID
		out.Title, out.Asked = s.called(x, sum), x.Call.CreatedAt
		if x.Call.KeyName != "" {
			out.By = s.words.Say("by_agent", "agent", card.OneLine(x.Call.KeyName), "who", out.By)
		}
		out.Kind = s.acts.In("acts", cmp.Or(string(sum.Lead.Act), "other"))
	} else {
		out.ID = x.Decision.TaskID
		out.Page, out.Asked = "/console/tasks/"+out.ID, x.Head.CreatedAt
		title := legible.Beginning(card.OneLine(cmp.Or(x.Task.Title, x.Task.Text)), mostTitle)
		out.Title = card.Titled(title, x.Head.Glance.Version)
		if x.Head.Glance.Amount != (rules.Amount{}) { // there are steps
			out.Kind = s.acts.In("acts", cmp.Or(x.Head.Glance.Act, "other"))
		}
	}
	if rule := g.Terms.Rule; rule != nil {
		out.Rule = card.OneLine(rule.Name) + " (" + strconv.Itoa(rule.Revision) + ")"
	}
	seen := g.Seen
	if of := x.Head.Glance.Amount; seen == nil && of.Known() { // without a rule, or none of it asks anybody
		seen = &aggregate.Seen{Amount: string(of.Value), Currency: of.Currency}
	}
	if seen != nil {
		out.Department, out.Round = cmp.Or(seen.Department, out.Department), cmp.Or(out.Round, seen.Round)
		amount := rules.Amount{Value: rules.Decimal(seen.Amount), Currency: seen.Currency, Why: rules.Why(seen.Why)}
		out.Amount, out.Currency = cmp.Or(seen.Amount, s.words.Say("unknown")), seen.Currency
		out.Money = explain.Money(s.words.Locale(), amount)
	}
	if g.ApprovedAt != nil {
		out.Settled = *g.ApprovedAt
	}
	out.Stamped, out.Executed, out.Files = s.stamped(x.Steps, sum), s.executed(x, sum), filesOf(&x.Files)
	return out
}

// called is the title of an agent's call: what its server calls the tool, and what it does.
func (s *speaker) called(x *store.RegisteredTask, sum explain.Sum) string {
	says := legible.Beginning(textOf(s.Line(sum.First().Sentence)), mostTitle)
	if len(x.Steps) == 0 || x.Steps[0].ToolTitle == "" {
		return cmp.Or(says, card.OneLine(x.Call.Tool))
	}
	return strings.Trim(card.OneLine(x.Steps[0].ToolTitle)+" — "+says, " —")
}

// filed is a file of a request.
type filed struct {
	Name, Size, SHA256 string
	Left               bool // it is not attached
}

func filesOf(a *domain.Aggregate) (out []filed) {
	attached, left := a.Attached()
	for i, f := range slices.Concat(attached, left) {
		out = append(out, filed{legible.OneLine(cmp.Or(f.Name, f.ID)), card.Size(f.Bytes), f.SHA256, i >= len(attached)})
	}
	return out
}

// Short is the beginning of the file's hash.
func (f filed) Short() string { return f.SHA256[:min(len(f.SHA256), 16)] }

// named names the files of a line in a cell, each in quotation marks and with its whole hash.
func named(words web.Texts, all []filed) string {
	return strings.Join(web.Each(all, func(f filed) string {
		if f.Left {
			return words.Say("file_cell_left", "name", f.Name)
		}
		return words.Say("file_cell", "name", f.Name, "size", f.Size, "hash", f.SHA256)
	}), " / ")
}

// mostTitle is how many characters of a message stand for a title.
const mostTitle = 80

// path names who stamped, stage by stage: a stand-in with whose stamp it is.
func (s *speaker) path(g *aggregate.Gate) string {
	by := s.Reader
	by.Person = s.plain
	return strings.Join(web.Each(by.Stamped(g), func(stage subject.Stage) string {
		hands := web.Each(stage.Stamps, func(act subject.RouteAct) string { return act.By })
		return strings.TrimLeft(card.OneLine(stage.Name)+" ", " ") + strings.Join(hands, "・")
	}), " → ")
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
	case e.As == domain.TaskCompleted:
		return "done"
	case e.As == domain.TaskFailed:
		return "failed"
	}
	return "cancelled"
}

var callStates = map[conversation.ActionStatus]string{
	conversation.ActionSucceeded: "done", conversation.ActionFailed: "failed", conversation.ActionCancelled: "cancelled",
	call.Granted: "granted",
}
