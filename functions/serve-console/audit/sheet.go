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
	Before          []earlier // versions of the steps that people didn't settle
	Checks          []check   // of steps before they ran
	Approved        *approved // how the policy was settled; nil: it wasn't
	Outcome         *outcome  // of a request that was not carried out
	Digests         [2]string // SHA-256 of the policy and of the steps, as they were stamped; empty: none
	Prove           string
	Printed         time.Time
	PrintedBy       string

	task    *domain.Aggregate // nil: of an action
	process *domain.Process   // nil: there are no steps
	prompt  *domain.Prompt
	steps   []domain.Step
}

// check is the stamp on one step before it ran.
type check struct {
	Step int
	By   []subject.RouteAct
}

// approved is the stamp on a policy.
type approved struct {
	Version int
	By      string // empty: nobody was asked
	At      time.Time
}

// outcome is how a request ended, or was given back, before people settled it.
type outcome struct {
	At      time.Time
	By, Why string
}

// earlier is a version of the steps before the one that was settled: how it ended.
type earlier struct {
	Version int
	Ended   string
	At      *time.Time
	Changes *subject.Changes // what a form says otherwise in the next version
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
	return earlier{Version: p.Version, Ended: ended, At: p.RejectedAt}
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

// numbered reads what has a number: a decision or its document, or else a request.
func (c *Pages) numbered(r *http.Request, v *web.Viewer, x domain.Numbered, request bool) ([]store.RegisteredTask, error) {
	if !request {
		found, err := c.Store.Numbered(r.Context(), v.Tenant, x)
		if err != nil || len(found) > 0 {
			return c.linesOf(r, v, found, err)
		}
	}
	all, err := c.requested(r.Context(), v, x)
	if err != nil || len(all) == 0 {
		return nil, cmp.Or(err, aggregate.ErrNotFound)
	}
	return c.Store.RequestLines(r.Context(), v.Tenant, all)
}

func (c *Pages) linesOf(r *http.Request, v *web.Viewer, found []domain.Numbered, err error) (
	[]store.RegisteredTask, error) {
	if err != nil {
		return nil, err
	}
	rows, err := c.Store.DecisionLines(r.Context(), v.Tenant, found)
	if err == nil && rows[0].Gate.ApprovedAt == nil { // of a conversation that is erased, or not answered
		err = aggregate.ErrNotFound
	}
	return rows, err
}

func (c *Pages) sheet(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	q := r.URL.Query()
	number, ok := domain.ParseNumber(cmp.Or(r.PathValue("number"), q.Get("number")))
	if !ok {
		return aggregate.ErrNotFound
	}
	rows, err := c.numbered(r, v, number, q.Has("request"))
	if err != nil {
		return err
	}
	x := &rows[0]
	if x.Request.N > 0 && x.Head.Number != "" {
		http.Redirect(w, r, registerPath+"/"+x.Head.Number, http.StatusSeeOther)
		return nil
	}
	lines, err := c.lines(r.Context(), v, rows)
	if err != nil {
		return err
	}
	d, words := sheetData{line: lines[0], Begun: x.Decision.BegunAt}, v.Texts("register")
	title := words.Say("sheet", "number", number.String())
	if x.Request.N > 0 {
		title = words.Say("sheet_request", "number", number.String())
	}
	if err = c.fill(r, &d, x, v); err != nil {
		return err
	}
	people := append([]string{v.User}, domain.Mentioned(d.Text+"\n"+d.Policy)...)
	people = append(people, explain.SumUp(v.Locale, d.steps).People()...)
	d.draw(x, speaker{Reader: subject.Reader{Locale: v.Locale, Settled: true, Person: func(id string) string {
		people = append(people, id)
		return id
	}}, words: v.Texts("register")})
	called := c.Called(r.Context(), v, people...)
	d.draw(x, speaker{Reader: subject.Reader{Locale: v.Locale, Settled: true, Person: called},
		words: v.Texts("register")})
	d.Text, d.Policy = web.Mentions(card.Prose(d.Text), called), web.Mentions(card.Prose(d.Policy), called)
	d.Prove = chain.ProofCommand(v.Tenant, d.ID)
	d.Printed, d.PrintedBy = c.Now(), called(v.User)
	return c.Show(w, r, v, web.Document{Title: title, Here: "register", Data: d}, "audit/sheet")
}

// fill adds what was asked for and decided.
func (c *Pages) fill(r *http.Request, d *sheetData, x *store.RegisteredTask, v *web.Viewer) error {
	switch {
	case x.Action == nil:
		return c.fillRequest(r, d, x, v)
	case x.Call != nil:
		d.steps = x.Steps
	case x.Action.ActionType == conversation.ToolCall:
		p := subject.PayloadOf(r.Context(), c.Site, conversation.RefOf(v.Tenant, x.Decision.SessionID), x.Action)
		if p != nil {
			d.steps = append(d.steps, card.CalledStep(*p))
		}
	}
	d.Action, d.Payload = d.Kind, x.Action.Payload.Hash()
	return nil
}

func (c *Pages) fillRequest(r *http.Request, d *sheetData, x *store.RegisteredTask, v *web.Viewer) error {
	a, err := c.Store.Load(r.Context(), domain.RefOf(v.Tenant, cmp.Or(x.Request.TaskID, x.Decision.TaskID)))
	if err != nil {
		return err
	}
	if d.task = a; a.Request != nil {
		d.Text = a.Request.Words(v.Locale)
	}
	if d.process, d.prompt = a.Process(), a.Prompt(); x.Decision.N > 0 {
		d.process = aggregate.Find(a.Processes, domain.ProcessKey(x.Decision.ProcessVersion))
	}
	if p := d.process; p != nil {
		d.steps, d.Digests[1] = p.Steps, p.ApprovedHash
		if i := slices.IndexFunc(a.Prompts, func(of *domain.Prompt) bool { return of.ID == p.PromptID }); i >= 0 {
			d.prompt = a.Prompts[i]
		}
	}
	switch {
	case d.prompt == nil:
	case a.Matter() != nil:
		d.Text = d.prompt.Content
	case d.prompt.Content != d.Text:
		d.Policy, d.Digests[0] = d.prompt.Content, aggregate.HashOf(d.prompt.Content)
	}
	return nil
}

// draw draws what names people.
func (d *sheetData) draw(x *store.RegisteredTask, s speaker) {
	d.Does, d.Route = s.Sum(d.steps), s.Route(&x.Gate, true)
	a, p := d.task, d.process
	if a == nil {
		return
	}
	if d.prompt != nil && d.prompt.ApprovedAt != nil && d.Policy != "" {
		d.Approved = &approved{d.prompt.Version, s.path(&d.prompt.Gate), *d.prompt.ApprovedAt}
		if d.Approved.By == "" && d.prompt.ApprovedBy != "" {
			d.Approved.By = s.Person(d.prompt.ApprovedBy)
		}
	}
	if x.Head.Ended == nil || x.Head.Ended.As != domain.TaskCompleted {
		d.Outcome = s.outcome(a)
	}
	if p == nil {
		return
	}
	d.Before = nil
	for i, of := range a.Processes[:slices.Index(a.Processes, p)+1] {
		if of != p {
			before := s.earlier(of)
			if a.Matter() != nil {
				before.Changes = s.Changes(of.Version, card.Differences(a, s.Locale, i+1))
			}
			d.Before = append(d.Before, before)
		}
	}
	d.Checks = nil
	for _, g := range a.Gates {
		if g.ProcessVersion == p.Version && g.Status == aggregate.Approved {
			is := check{Step: g.Order}
			for _, stage := range s.Stamped(&g.Gate) {
				is.By = append(is.By, stage.Stamps...)
			}
			if is.By == nil && g.ApprovedBy != "" {
				is.By = []subject.RouteAct{{By: s.Person(g.ApprovedBy), At: *g.ApprovedAt}}
			}
			d.Checks = append(d.Checks, is)
		}
	}
}

// outcome says how a request ended without being carried out, or that it was given back: nil for any other.
func (s *speaker) outcome(a *domain.Aggregate) *outcome {
	out, e := outcome{}, a.Head.Ended
	if e != nil {
		out.At, out.Why = e.At, explain.Happened(explain.Ended(s.Locale, e.Reason,
			explain.FitDetail(e.Reason, e.Detail, card.OneLine, s.Person), explain.NoRetry))
		if e.By != "" {
			out.By = s.Person(e.By)
		}
	}
	var g *aggregate.Gate
	if p := a.Prompt(); p != nil {
		g = &p.Gate
	}
	if p := a.Process(); p != nil {
		g = &p.Gate
	}
	if g != nil && g.RejectedAt != nil && (e == nil || e.Reason == domain.ReasonDenied ||
		e.Reason == domain.ReasonMaxVersions) {
		out = outcome{*g.RejectedAt, s.Person(g.RejectedBy), s.words.Say("quoted", "why", card.OneLine(g.RejectionReason))}
	}
	if out.At.IsZero() {
		return nil
	}
	return &out
}
