package audit

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/chain"
	"ringi/shared/domain/conversation"
	domain "ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/store"
)

type sheetData struct {
	line
	Begun           time.Time
	Text, Policy    string
	Does            subject.Sum
	Action, Payload string // of an agent's action: what it is, and the hash of all that it does
	Route           *subject.Route
	Before          []earlier          // versions of the steps that people didn't settle
	Digests         [2]string          // SHA-256 of the policy and of the steps, as they were stamped; empty: none
	Views           []subject.RouteAct // who opened the page or this sheet before
	Prove           string
	Printed         time.Time
	PrintedBy       string
	views           []*aggregate.Viewing
	reads           []*aggregate.Reading
	before          []*domain.Process
}

// earlier is a version of the steps before the one that was settled: how it ended, and what was said along its route.
type earlier struct {
	Version int
	Ended   string
	At      *time.Time
	Route   *subject.Route
}

func (s *speaker) earlier(p *domain.Process) earlier {
	how := "other"
	switch {
	case p.GivenBack():
		how = "returned"
	case p.RejectedAt != nil:
		how = "rejected"
	}
	ended := s.words.In("before_how", how, "who", s.Person(p.RejectedBy), "why", card.OneLine(p.RejectionReason))
	return earlier{p.Version, ended, p.RejectedAt, s.Route(&p.Gate, true)}
}

// documentPath is of the sheet of a document, whose number is in the query: it has any characters.
const documentPath = registerPath + "/document"

// sheetOf returns the address of a number's sheet.
func sheetOf(x *domain.Numbered) string {
	if x.Series != "" {
		return web.At(documentPath, map[string]string{"number": x.String()})
	}
	return registerPath + "/" + x.String()
}

func (c *Pages) sheet(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	number, ok := domain.ParseNumber(cmp.Or(r.PathValue("number"), r.URL.Query().Get("number")))
	if !ok {
		return aggregate.ErrNotFound
	}
	found, err := c.Store.Numbered(r.Context(), v.Tenant, number)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return aggregate.ErrNotFound
	}
	rows, err := c.Store.DecisionLines(r.Context(), v.Tenant, found)
	if err != nil {
		return err
	}
	lines, err := c.lines(r.Context(), v, rows)
	if err != nil {
		return err
	}
	x, g := &rows[0], &rows[0].Gate
	if g.ApprovedAt == nil { // of a conversation that is erased, or not answered
		return aggregate.ErrNotFound
	}
	d, steps, people := sheetData{}, []domain.Step(nil), []string{v.User}
	if x.Action == nil {
		steps, err = c.fill(r, &d, x, v)
	} else if x.Call != nil {
		steps = x.Steps
	} else if x.Action.ActionType == conversation.ToolCall {
		p := subject.PayloadOf(r.Context(), c.Site, conversation.RefOf(v.Tenant, x.Decision.SessionID), x.Action)
		if p != nil {
			steps = append(steps, card.CalledStep(*p))
		}
	}
	if err != nil {
		return err
	}
	for _, x := range d.views {
		people = append(people, x.User)
	}
	for _, p := range d.before {
		people = append(append(people, p.RejectedBy), subject.NamedOf(&p.Gate)...)
	}
	ids := slices.Concat(people, domain.Mentioned(d.Text+"\n"+d.Policy),
		explain.SumUp(v.Locale, steps).People(), subject.NamedOf(g))
	called := c.Called(r.Context(), v, ids...)
	d.line, d.Begun = lines[0], x.Decision.BegunAt
	d.Text, d.Policy = web.Mentions(card.Prose(d.Text), called), web.Mentions(card.Prose(d.Policy), called)
	d.Prove = chain.ProofCommand(v.Tenant, lines[0].ID)
	d.Printed, d.PrintedBy = c.Now(), called(v.User)
	if x.Action != nil {
		d.Action, d.Payload = lines[0].Kind, x.Action.Payload.Hash()
	}
	by := subject.Reader{Locale: v.Locale, Settled: true, Person: called, Reads: d.reads}
	s := speaker{Reader: by, words: v.Texts("register")}
	d.Before = web.Each(d.before, s.earlier)
	d.Does, d.Route, d.Views = by.Sum(steps), by.Route(g, true), by.Views(d.views)
	title := v.Texts("register").Say("sheet", "number", number.String())
	return c.Show(w, r, v, web.Document{Title: title, Here: "register", Data: d}, "audit/sheet")
}

// fill adds what was asked for and decided, and returns the steps.
func (c *Pages) fill(r *http.Request, d *sheetData, x *store.RegisteredTask,
	v *web.Viewer) (steps []domain.Step, err error) {
	a, err := c.Store.Load(r.Context(), domain.RefOf(v.Tenant, x.Decision.TaskID))
	if err != nil {
		return nil, err
	}
	if a.Request != nil {
		d.Text = a.Request.Words(v.Locale)
	}
	p := aggregate.Find(a.Processes, domain.ProcessKey(x.Decision.ProcessVersion))
	if p == nil {
		return nil, nil
	}
	c.Viewed(r.Context(), v, a, p.Key(), &p.Gate)
	d.views, d.reads, d.before = a.ViewsOf(p.Key()), a.Reads, a.Processes[:slices.Index(a.Processes, p)]
	if i := slices.IndexFunc(a.Prompts, func(of *domain.Prompt) bool { return of.ID == p.PromptID }); i >= 0 {
		d.Digests = [2]string{aggregate.HashOf(a.Prompts[i].Content), p.ApprovedHash}
		if d.Policy = a.Prompts[i].Content; d.Policy == d.Text { // of a form
			d.Policy, d.Digests[0] = "", ""
		}
	}
	return p.Steps, nil
}
